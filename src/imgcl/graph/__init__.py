"""A graph: validated arrays, their checks, and pieces of it on a device."""

from typing import TYPE_CHECKING, Any

from imgcl.graph.graph import Graph

if TYPE_CHECKING:
    from imgcl.graph.block import Block

__all__ = ["Block", "Graph"]


def __getattr__(name: str) -> Any:
    if name != "Block":
        raise AttributeError(f"module 'imgcl.graph' has no attribute {name!r}")
    from imgcl.graph.block import Block  # loads torch, which a graph does without

    return Block
