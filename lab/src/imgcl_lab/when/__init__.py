"""Ours: when does ImGCL's pre-training help? A map over two hundred settings of the synthetic generator."""

from imgcl_lab.when.report import STUDY

__all__ = ["STUDY"]
