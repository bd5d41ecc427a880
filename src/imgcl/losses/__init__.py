"""Contrastive losses as pure functions of the selected rows."""

from imgcl.losses.barlow_twins import barlow_twins
from imgcl.losses.bootstrap_cosine import bootstrap_cosine
from imgcl.losses.cca_ssg import cca_ssg
from imgcl.losses.discrimination import bce_discrimination, jsd_discrimination
from imgcl.losses.info_nce import info_nce
from imgcl.losses.scaled_cosine import scaled_cosine, scaled_cosine_of_linear
from imgcl.losses.vicreg import vicreg

__all__ = [
    "barlow_twins",
    "bce_discrimination",
    "bootstrap_cosine",
    "cca_ssg",
    "info_nce",
    "jsd_discrimination",
    "scaled_cosine",
    "scaled_cosine_of_linear",
    "vicreg",
]
