"""``Graph.from_frames``: tables of pandas as a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from imgcl._core.providers import provided

if TYPE_CHECKING:
    import pandas as pd

    from imgcl.graph.graph import Graph


class FromFrames:
    """The part of :class:`imgcl.Graph` that reads tables; how is up to :mod:`imgcl.data.importing`."""

    @classmethod
    def from_frames(
        cls,
        nodes: pd.DataFrame | None,
        edges: pd.DataFrame,
        *,
        id: str | None = "id",
        src: str = "src",
        dst: str = "dst",
        features: str | Sequence[str] | None = (),
        label: str | None = None,
        name: str = "graph",
        **rules: Any,
    ) -> Graph:
        """Build a graph from a table of nodes and a table of edges, by the rules of ``imgcl import``.

        Types decide as they do in a Parquet file: numbers are features as they are; text, categories and days become
        one feature per value, truth values 0 and 1. The nodes keep the order of their table, and their ids as names.

        Args:
            nodes: one row per node; ``None``: the nodes are those that edges name.
            edges: one row per edge.
            id: column of the nodes that edges refer to; ``None``: their index.
            src: column of an edge's source.
            dst: column of an edge's target.
            features: columns by name, or ``prefix*`` (``*``: all but ids and label); none: features are made from the
                edges (:func:`imgcl.graph.structure.structural_features`).
            label: column with the class: numbers, text, truth values or categories; missing values (``None``, NaN,
                ``pd.NA``, -1, empty text) are unlabelled. Classes are numbered in the order of their names.
            name: what to call the graph.
            **rules: other settings of :class:`imgcl.data.importing.ImportSettings`, such as ``missing="mean"``,
                ``standardise=True``, ``on_dangling="drop"`` or ``like``, the store of an earlier import.

        Raises:
            InputError: when a column is not there, ids are missing or not unique, or a value is refused.

        Example:
            >>> import pandas as pd
            >>> from imgcl import Graph
            >>> users = pd.DataFrame({"age": [30, 40, 50], "fraud": [True, None, False]}, index=["ann", "bob", "eve"])
            >>> calls = pd.DataFrame({"src": ["ann", "bob"], "dst": ["bob", "eve"]})
            >>> graph = Graph.from_frames(users, calls, id=None, features="age", label="fraud")
            >>> graph.node_names, graph.y.tolist(), graph.class_names
            (('ann', 'bob', 'eve'), [1, -1, 0], ('False', 'True'))
        """
        read = provided("Graph.from_frames")
        columns = {"id": id, "src": src, "dst": dst, "features": features, "label": label}
        return read(nodes, edges, **columns, name=name, **rules)  # type: ignore[no-any-return]
