"""Contrastive losses as pure functions of the selected rows."""

from imgcl.losses.barlow_twins import barlow_twins
from imgcl.losses.bootstrap_cosine import bootstrap_cosine
from imgcl.losses.cca_ssg import cca_ssg
from imgcl.losses.class_info_nce import class_info_nce
from imgcl.losses.discrimination import bce_discrimination, jsd_discrimination
from imgcl.losses.hints import RowHints
from imgcl.losses.info_nce import info_nce
from imgcl.losses.prototypes import prototype_contrast
from imgcl.losses.statistics import Statistics
from imgcl.losses.vicreg import vicreg

__all__ = [
    "RowHints",
    "Statistics",
    "barlow_twins",
    "bce_discrimination",
    "bootstrap_cosine",
    "cca_ssg",
    "class_info_nce",
    "info_nce",
    "jsd_discrimination",
    "prototype_contrast",
    "vicreg",
]
