"""Which features a loaded graph gets: its own, or structural ones."""

from __future__ import annotations

import logging
import re
from typing import Literal, get_args

from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean
from imgcl.graph import Graph

FeatureChoice = Literal["auto", "own", "structure"]
CHOICES = get_args(FeatureChoice)
IN_SOURCE = re.compile(r"[:,]features=(\w+)$")

logger = logging.getLogger("imgcl.data")


def split_features(source: str) -> tuple[str, str | None]:
    """A source without the choice of features that may stand at its end, and that choice.

    Example:
        >>> split_features("amazon-photo:features=structure"), split_features("synthetic:seed=1")
        (('amazon-photo', 'structure'), ('synthetic:seed=1', None))
    """
    found = IN_SOURCE.search(source)
    return (source, None) if found is None else (source[: found.start()], found[1])


def choose_features(graph: Graph, choice: str) -> Graph:
    """The graph with the features that were chosen; structural ones by default where it has none, said in one line."""
    if choice not in CHOICES:
        raise InputError(f"features is {choice!r}{did_you_mean(choice, CHOICES)}")
    if choice == "own" or (choice == "auto" and graph.n_features):
        return graph
    from imgcl.graph.structure import is_structural, with_structure  # loads torch and numba, which a file does without

    if is_structural(graph.feature_names):
        return graph
    made = with_structure(graph)
    if choice == "auto":
        logger.warning(
            "graph %r has no features: structural ones (%d of random walks, and the log degree) are used",
            graph.name,
            made.n_features - 1,
        )
    return made
