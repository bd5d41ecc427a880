"""Run a baseline by name, through the same splits, classifiers and metrics as everything else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from numbers import Integral, Real
from typing import Any

from imgcl._core.errors import InputError
from imgcl._core.seeding import RandomState, as_seed
from imgcl._core.torch_settings import usual_torch
from imgcl._core.words import did_you_mean
from imgcl.baselines.embeddings import (
    deepwalk,
    deepwalk_features,
    neighbour_features,
    node2vec,
    own_features,
    propagated_features,
    raw_features,
)
from imgcl.baselines.propagate_labels import label_propagation
from imgcl.baselines.supervised import LOSSES, RECIPES, gcn, sage, supervised
from imgcl.baselines.trees import WEIGHTS, trees, trees_neighbours
from imgcl.evaluation import EvaluationResult, class_groups, evaluate
from imgcl.evaluation.estimators import classifier_names
from imgcl.evaluation.labels import Labels, encode_labels
from imgcl.evaluation.protocol import law_name, missing_classes, protocol_splits, rarer_in_training, score_predictions
from imgcl.evaluation.results import Scores
from imgcl.graph import Graph
from imgcl.imbalance import Protocol, Split

GIVEN = {"graph", "labels", "splits", "classifier", "seed"}  # parameters of a baseline that the evaluation decides


@dataclass(frozen=True)
class Baseline:
    """A baseline: what it is called in tables, how it is made, and which classifiers it can be combined with.

    Attributes:
        title: for tables.
        make: a function of the graph that gives an embedding, or one that gives predictions for splits.
        classifiers: those it knows.
        embeds: whether ``make`` gives an embedding.
        reads_features: whether it uses the features of the nodes.
        inner: the function that gets the ``**options`` of ``make``.
    """

    title: str
    make: Callable[..., Any]
    classifiers: tuple[str, ...] = classifier_names()
    embeds: bool = True
    reads_features: bool = True
    inner: Callable[..., Any] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options that a user may set, with their defaults."""
        makers = [self.make] if self.inner is None else [self.make, self.inner]
        parameters = {name: each for maker in makers for name, each in signature(maker).parameters.items()}
        return {
            name: each.default
            for name, each in parameters.items()
            if name not in GIVEN and each.kind is not Parameter.VAR_KEYWORD
        }


BASELINES: dict[str, Baseline] = {
    "features": Baseline("raw features", raw_features),
    "propagated": Baseline("propagated features", propagated_features),
    "own": Baseline("own features", own_features),
    "neighbours": Baseline("propagated features, not centred", neighbour_features),
    "deepwalk": Baseline("DeepWalk", deepwalk, reads_features=False),
    "node2vec": Baseline("node2vec", node2vec, reads_features=False),
    "deepwalk-features": Baseline("DeepWalk + features", deepwalk_features, inner=deepwalk),
    "gcn": Baseline("supervised GCN", gcn, tuple(LOSSES), embeds=False),
    "sage": Baseline("supervised GraphSAGE", sage, tuple(LOSSES), embeds=False),
    **{
        name: Baseline(title, supervised(recipe), tuple(LOSSES), embeds=False, inner=recipe)
        for name, (title, recipe) in RECIPES.items()
    },
    "label-propagation": Baseline(
        "label propagation", label_propagation, ("plain", "reweight"), embeds=False, reads_features=False
    ),
    "trees": Baseline("trees on features", trees, tuple(WEIGHTS), embeds=False),
    "trees-neighbours": Baseline(
        "trees on features and neighbours' means", trees_neighbours, tuple(WEIGHTS), embeds=False
    ),
}


def resolve_baseline(name: str) -> Baseline:
    """The baseline of that name."""
    if name not in BASELINES:
        raise InputError(f"unknown baseline {name!r}{did_you_mean(name, BASELINES)}")
    return BASELINES[name]


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Refuse options that the baseline does not have, and values that are not numbers of the kind it wants.

    Example:
        >>> check_options("node2vec", {"dim": 64, "p": 2})
        >>> check_options("propagated", {"steps": 1.5})
        Traceback (most recent call last):
        imgcl.InputError: baseline 'propagated': steps is 1.5: it must be a whole number, for example 2
    """
    known = resolve_baseline(name).options
    for key, value in options.items():
        if key not in known:
            hint = did_you_mean(key, known, f"it has {', '.join(known) or 'none'}")
            raise InputError(f"baseline {name!r} has no option {key!r}{hint}")
        kind, wanted = _kind_of(known[key])
        if isinstance(value, bool) or not isinstance(value, kind):
            raise InputError(f"baseline {name!r}: {key} is {value}: it must be {wanted}, for example {known[key]}")


def _kind_of(default: Any) -> tuple[type, str]:
    """What a value must be where the default is this, and what to call it."""
    if isinstance(default, str):
        return str, "a name"
    return (Integral, "a whole number") if isinstance(default, int) else (Real, "a number")


@usual_torch()
def run_baseline(
    name: str,
    graph: Graph,
    imbalance: Any = "exp:100",
    classifier: str | Sequence[str] | None = None,
    splits: int | Sequence[Split] = 20,
    random_state: RandomState = 0,
    *,
    test: str = "balanced",
    protocol: str | Protocol | None = None,
    **options: Any,
) -> EvaluationResult:
    """Evaluate a baseline on a graph.

    Args:
        name: a name of ``imgcl.baselines.BASELINES``.
        graph: with labels.
        imbalance: as in :func:`imgcl.evaluation.evaluate`.
        classifier: one or several; by default ``plain``, ``pbs`` and ``reweight``, as far as the baseline knows them.
        splits: as in :func:`imgcl.evaluation.evaluate`.
        random_state: seed of the splits and of the baseline.
        test: ``balanced`` or ``natural`` test nodes, as in :func:`imgcl.evaluation.evaluate`.
        protocol: splits as in groups of papers, as in :func:`imgcl.evaluation.evaluate`.
        **options: of the baseline (for example ``p`` and ``q`` of node2vec).

    Example:
        >>> from imgcl.data import synthetic_graph
        >>> graph = synthetic_graph(class_sizes=[120, 60, 40], n_features=16, seed=0)
        >>> result = run_baseline("propagated", graph, imbalance="exp:5", splits=2, dim=8)
        >>> result.classifiers
        ('plain', 'pbs', 'reweight')
    """
    seed, baseline = as_seed(random_state), resolve_baseline(name)
    names = _classifiers(name, baseline, classifier)
    if graph.y is None:
        raise InputError(f"graph {graph.name!r} has no labels: a baseline cannot be evaluated without them")
    if baseline.reads_features and not graph.n_features:
        raise InputError(
            f"graph {graph.name!r} has no features: load_graph(graph) makes structural ones from its edges"
        )
    check_options(name, options)
    if baseline.embeds:
        Z = {name: baseline.make(graph, seed=seed, **options)}
        how: dict[str, Any] = {"test": test, "protocol": protocol, "class_names": graph.class_names, "graph": graph}
        result = evaluate(Z, graph.y, imbalance, names, splits, seed, **how)
    else:
        labels = encode_labels(graph.y, graph.class_names)
        drawn, entry, sizes = protocol_splits(labels, protocol, imbalance, splits, seed, test)
        result = EvaluationResult(
            {each: _scores(baseline, graph, labels, drawn, each, seed, options) for each in names},
            labels.names,
            class_groups(sizes),
            {"imbalance": law_name(drawn, imbalance, splits), **entry},
            notes=(*missing_classes(labels, drawn, labels.names), *rarer_in_training(labels, drawn)),
        )
    facts = {"baseline": name, **{key: str(value) for key, value in options.items()}, **result.protocol}
    return replace(result, protocol=facts)


def _scores(
    baseline: Baseline,
    graph: Graph,
    labels: Labels,
    drawn: Sequence[Split],
    classifier: str,
    seed: int,
    options: Mapping[str, Any],
) -> Scores:
    made = baseline.make(graph, labels, drawn, classifier, seed, **options)
    return score_predictions([each.probabilities for each in made], labels, drawn, [each.setting for each in made])


def _classifiers(name: str, baseline: Baseline, given: str | Sequence[str] | None) -> tuple[str, ...]:
    if given is None:
        return tuple(each for each in ("plain", "pbs", "reweight") if each in baseline.classifiers)
    listed = tuple(part.strip() for part in given.split(",")) if isinstance(given, str) else tuple(given)
    unknown = [each for each in listed if each not in baseline.classifiers]
    if unknown or not listed:
        what = f"no classifier {unknown[0]!r}" if unknown else "no classifier named"
        hint = did_you_mean(unknown[0] if unknown else "", baseline.classifiers)
        raise InputError(f"baseline {name!r} has {what}{hint}")
    return listed
