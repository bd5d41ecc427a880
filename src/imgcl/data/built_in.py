"""The graphs that need no file: one function each, and its row in the table of data sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from imgcl.data.digits import digits_graph
from imgcl.data.synthetic import synthetic_graph
from imgcl.graph import Graph


@dataclass(frozen=True)
class BuiltInGraph:
    """How to make the graph, what it is, and its sizes (``None`` where a parameter decides)."""

    make: Callable[..., Graph]
    about: str
    nodes: int | None = None
    edges: int | None = None
    features: int | None = None
    classes: int | None = None


BUILT_IN: dict[str, BuiltInGraph] = {
    "digits": BuiltInGraph(
        digits_graph,
        "scikit-learn's handwritten digits, each linked to those that look most like it; classes are 0 to 9",
        1797,
        12339,
        64,
        10,
    ),
    "synthetic": BuiltInGraph(synthetic_graph, "a random graph with planted classes (degree-corrected block model)"),
}
