"""Figures for papers: functions from plain arrays to a matplotlib figure, and ``save``; needs ``imgcl[plots]``."""

from imgcl.plots.class_distribution import class_distribution
from imgcl.plots.contraction import contraction
from imgcl.plots.effect_map import effect_map
from imgcl.plots.effects import effects
from imgcl.plots.embedding_map import embedding_map
from imgcl.plots.files import save
from imgcl.plots.knob_effects import knob_effects
from imgcl.plots.per_class import per_class
from imgcl.plots.sensitivity import sensitivity

__all__ = [
    "class_distribution",
    "contraction",
    "effect_map",
    "effects",
    "embedding_map",
    "knob_effects",
    "per_class",
    "save",
    "sensitivity",
]
