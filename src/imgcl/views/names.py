"""Views by name: what a user writes as ``edge-drop:0.4,feature-mask:0.1``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch

from imgcl._core.errors import InputError
from imgcl._core.references import ObjectName, describe_object, is_object_name
from imgcl._core.words import did_you_mean, number_or_text
from imgcl.graph.block import Block
from imgcl.views.adaptive import AdaptiveEdgeRemoving, AdaptiveFeatureMasking
from imgcl.views.base import Compose, Identity, View
from imgcl.views.diffusion import HeatDiffusion, PPRDiffusion
from imgcl.views.edge_adding import EdgeAdding, EdgePerturbation
from imgcl.views.edge_removing import EdgeRemoving
from imgcl.views.feature_dropout import FeatureDropout
from imgcl.views.feature_masking import FeatureMasking
from imgcl.views.feature_shuffling import FeatureShuffling
from imgcl.views.node_dropping import NodeDropping
from imgcl.views.random_walk_subgraph import RandomWalkSubgraph

VIEWS: dict[str, type[View]] = {
    "identity": Identity,
    "edge-drop": EdgeRemoving,
    "adaptive-edge-drop": AdaptiveEdgeRemoving,
    "edge-add": EdgeAdding,
    "edge-perturb": EdgePerturbation,
    "feature-mask": FeatureMasking,
    "adaptive-feature-mask": AdaptiveFeatureMasking,
    "feature-dropout": FeatureDropout,
    "feature-shuffle": FeatureShuffling,
    "node-drop": NodeDropping,
    "subgraph": RandomWalkSubgraph,
    "ppr": PPRDiffusion,
    "heat": HeatDiffusion,
}

Views = str | View | Sequence[View]  # what users may give


def make_view(name: str, *values: Any, **settings: Any) -> View:
    """The view of this name with its settings.

    Example:
        >>> make_view("edge-drop", 0.4).p
        0.4
    """
    if name not in VIEWS:
        raise InputError(f"unknown view {name!r}{did_you_mean(name, VIEWS)}")
    try:
        return VIEWS[name](*values, **settings)
    except TypeError as error:
        raise InputError(f"view {name!r}: {error}") from None


def parse_view(text: str) -> View:
    """The view that a text describes: names with their settings, applied from left to right.

    A setting follows its name after a colon; several in the order of the class's arguments. Edges or features that
    are weighted by a centrality of the whole graph come before views that change the graph.

    Args:
        text: for example ``edge-drop:0.4,feature-mask:0.1`` or ``adaptive-edge-drop:0.3:pagerank``.

    Example:
        >>> view = parse_view("edge-drop:0.4, feature-mask:0.1")
        >>> [type(part).__name__ for part in view.views]
        ['EdgeRemoving', 'FeatureMasking']
    """
    parts = []
    for item in text.split(","):
        name, *values = (word.strip() for word in item.split(":"))
        if not name:
            raise InputError(f"views = {text!r}: an empty name; write for example 'edge-drop:0.4,feature-mask:0.1'")
        parts.append(make_view(name, *map(number_or_text, values)))
    return parts[0] if len(parts) == 1 else Compose(parts)


def make_views(views: Views) -> tuple[View, View]:
    """The two views of a training step, from what a user gave.

    Args:
        views: a text (``|`` separates the first view from the second where they differ), a view for both, or two.

    Example:
        >>> first, second = make_views("edge-drop:0.3|edge-drop:0.4,feature-mask:0.1")
        >>> first.p
        0.3
    """
    if isinstance(views, ObjectName):
        views = views.thing
    if isinstance(views, str) and is_object_name(views):
        found: list[View] = [_Unknown(views)]
    elif isinstance(views, str):
        found = [parse_view(text) for text in views.split("|")]
    else:
        found = [*views] if isinstance(views, list | tuple) else [views]  # type: ignore[list-item]
    if len(found) not in (1, 2) or not all(callable(view) for view in found):
        raise InputError(f"views = {views!r}: give one view for both branches, or two")
    return found[0], found[-1]


def views_name(views: Views) -> str:
    """What views are called in settings and files: a text that :func:`make_views` reads.

    Views of other classes than ours have no such text. Their name holds them, for use in this process.

    Example:
        >>> views_name([EdgeRemoving(0.3), Compose([EdgeRemoving(0.4), FeatureMasking(0.1)])])
        'edge-drop:0.3|edge-drop:0.4,feature-mask:0.1'
    """
    pair = make_views(views)
    if isinstance(views, str):
        return views
    given = pair[:1] if pair[0] is pair[1] else pair
    texts = [_text(view) for view in given]
    name = "|".join(text or describe_object(view) for text, view in zip(texts, given, strict=True))
    return name if all(texts) else ObjectName(name, pair)


def _text(view: View) -> str | None:
    """How a view of ours is written; ``None``: it is the user's, or has a setting that cannot be written as text."""
    if type(view) is Compose:
        texts = [_text(part) for part in view.views]
        return ",".join(map(str, texts)) if texts and all(texts) else None
    name = next((name for name, kind in VIEWS.items() if kind is type(view)), None)
    if name is None:
        return None
    values = {key: getattr(view, key) for key in inspect.signature(type(view)).parameters}
    return None if None in values.values() else ":".join([name, *map(str, values.values())])


class _Unknown:
    """Stands for views of a program that is gone: what it trained can be used, but not be trained any further."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        raise InputError(f"views {self.name!r} are known only to the program that made them: pass the objects, views=…")
