"""The contrastive methods; a new one is a file here, a preset, and a line in the contract test's list."""

from __future__ import annotations

from typing import Any

from imgcl._core.errors import InputError
from imgcl.methods.base import Method, MethodSettings
from imgcl.methods.bgrl import BGRL
from imgcl.methods.cca_ssg import CCASSG
from imgcl.methods.dgi import DGI
from imgcl.methods.gbt import GBT
from imgcl.methods.grace import GRACE
from imgcl.methods.graphmae import GraphMAE
from imgcl.methods.infograph import InfoGraph
from imgcl.methods.mvgrl import MVGRL
from imgcl.methods.vicreg import VICReg

METHODS: dict[str, type[Method[Any]]] = {
    method.name: method for method in (GBT, GRACE, BGRL, DGI, MVGRL, InfoGraph, CCASSG, VICReg, GraphMAE)
}


def resolve_method(name: str) -> type[Method[Any]]:
    """The method of this name."""
    if name not in METHODS:
        raise InputError(f"unknown method {name!r}: choose one of {', '.join(METHODS)}")
    return METHODS[name]


__all__ = [
    "BGRL",
    "CCASSG",
    "DGI",
    "GBT",
    "GRACE",
    "METHODS",
    "MVGRL",
    "GraphMAE",
    "InfoGraph",
    "Method",
    "MethodSettings",
    "VICReg",
    "resolve_method",
]
