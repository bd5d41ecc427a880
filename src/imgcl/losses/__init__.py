"""Contrastive losses as pure functions of the selected rows."""

from imgcl.losses.barlow_twins import barlow_twins

__all__ = ["barlow_twins"]
