"""Figures for papers: functions from plain arrays to a matplotlib figure, and ``save``; needs ``imgcl[plots]``."""

from imgcl.plots.class_distribution import class_distribution
from imgcl.plots.effects import effects
from imgcl.plots.embedding_map import embedding_map
from imgcl.plots.files import save
from imgcl.plots.per_class import per_class

__all__ = [
    "class_distribution",
    "effects",
    "embedding_map",
    "per_class",
    "save",
]
