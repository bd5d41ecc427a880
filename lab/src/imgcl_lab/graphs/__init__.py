"""Ours: is an embedding ever worse than the features it was made from? Every method on thirteen graphs."""

from imgcl_lab.graphs.report import STUDY

__all__ = ["STUDY"]
