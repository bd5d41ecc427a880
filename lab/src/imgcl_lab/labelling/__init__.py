"""Ours: which nodes to label. Strategies of the literature and of imgcl, from 2 to 32 labels per class."""

from imgcl_lab.labelling.design import STUDY

__all__ = ["STUDY"]
