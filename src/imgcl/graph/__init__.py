"""A graph: validated arrays, their checks, and pieces of it on a device."""

from imgcl.graph.graph import Graph

__all__ = ["Graph"]
