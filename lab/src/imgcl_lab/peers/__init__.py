"""Ours: embeddings with balanced classifiers against supervised methods made for imbalance, three protocols."""

from imgcl_lab.peers.report import STUDY

__all__ = ["STUDY"]
