"""A graph: validated arrays, their checks, pieces of it on a device, and its features in a few columns."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from imgcl.graph.graph import Graph
from imgcl.graph.likeness import Likeness, linked_likeness

if TYPE_CHECKING:
    from imgcl.graph.block import Block
    from imgcl.graph.reduction import Reduction

__all__ = ["Block", "Graph", "Likeness", "Reduction", "linked_likeness"]

_HOMES = {"Block": "imgcl.graph.block", "Reduction": "imgcl.graph.reduction"}  # they load torch, a graph does without


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'imgcl.graph' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
