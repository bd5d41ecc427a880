"""What a run directory, or a fitted estimator, keeps of the graph it was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import GraphError
from imgcl.graph import Graph
from imgcl.imbalance import ScopedGraph, Split


@dataclass(frozen=True, eq=False)
class GraphRecord:
    """Name, labels and names of a graph, without its edges and features.

    Attributes:
        name: of the graph.
        source: what the user called it, so that it can be loaded again.
        fingerprint: of its content.
        n_features: its number of features; ``None`` in runs from before it was kept.
        labels: of the embedded nodes, if there are some.
        node_names: of the embedded nodes.
        class_names: of classes 0, 1, ...
        feature_names: in the order of the columns.
        split: rows of train, val and test, when the scope fixes the split.
        direction: in which edges pass features; ``None`` in runs from before it was kept.
        rules: checksum of the rules by which tables became the graph; ``None``: not known.

    Example:
        >>> from imgcl.graph import Graph
        >>> GraphRecord.of(Graph.from_edges([[0], [1]], x=np.eye(2), feature_names=["a", "b"])).n_features
        2
    """

    name: str
    source: str
    fingerprint: str
    n_features: int | None
    labels: NDArray[np.int64] | None = None
    node_names: Sequence[str] | None = None
    class_names: Sequence[str] | None = None
    feature_names: Sequence[str] | None = None
    split: Split | None = None
    direction: str | None = None
    rules: str | None = None

    @classmethod
    def of(cls, graph: Graph, source: str | None = None, embedded: ScopedGraph | None = None) -> GraphRecord:
        """The record of a graph.

        Args:
            graph: the graph as it was given.
            source: what the user called it; by default its name.
            embedded: what is embedded and evaluated, when the scope makes that another graph or fixes the split.
        """
        seen = graph if embedded is None else embedded.embed
        return cls(
            graph.name,
            graph.name if source is None else source,
            graph.fingerprint,
            graph.n_features,
            seen.y,
            seen.node_names,
            seen.class_names,
            seen.feature_names,
            None if embedded is None else embedded.embed_split,
            graph.direction,
            None if source is None else _rules(source),
        )

    def facts(self) -> dict[str, Any]:
        """The part that ``config.json`` holds."""
        return {
            "name": self.name,
            "source": self.source,
            "fingerprint": self.fingerprint,
            "n_features": self.n_features,
            "direction": self.direction,
            "rules": self.rules,
        }

    def names(self) -> dict[str, list[str] | None]:
        """The part that ``names.json`` holds."""
        names = {"nodes": self.node_names, "classes": self.class_names, "features": self.feature_names}
        return {key: None if each is None else list(each) for key, each in names.items()}


def _rules(source: str) -> str | None:
    from imgcl.data.importing.recipe import rules_of  # loads DuckDB

    try:
        return rules_of(source)
    except GraphError:  # a damaged recipe hinders no training
        return None
