"""The contrastive methods; a new one of ours is a file here, a preset, and a line in the contract test's list."""

from __future__ import annotations

from typing import Any

from imgcl._core.references import Registry
from imgcl.methods.base import Method, MethodSettings
from imgcl.methods.bgrl import BGRL
from imgcl.methods.cca_ssg import CCASSG
from imgcl.methods.dgi import DGI
from imgcl.methods.gbt import GBT
from imgcl.methods.grace import GRACE
from imgcl.methods.graphmae import GraphMAE
from imgcl.methods.infograph import InfoGraph
from imgcl.methods.mvgrl import MVGRL
from imgcl.methods.parts import EncoderSettings
from imgcl.methods.two_views import TwoViews, TwoViewSettings
from imgcl.methods.vicreg import VICReg

METHODS: dict[str, type[Method[Any]]] = {
    method.name: method for method in (GBT, GRACE, BGRL, DGI, MVGRL, InfoGraph, CCASSG, VICReg, GraphMAE)
}

_REGISTRY: Registry[type[Method[Any]]] = Registry(
    "method",
    METHODS,
    "imgcl.methods",
    lambda found: isinstance(found, type) and issubclass(found, Method),
    "a subclass of imgcl.methods.Method",
)


def resolve_method(method: str | type[Method[Any]]) -> type[Method[Any]]:
    """The class of a method.

    Args:
        method: a name of :data:`METHODS` or of the entry point group ``imgcl.methods``, a text
            ``package.module:Class``, or the class itself.

    Example:
        >>> resolve_method("gbt") is resolve_method("imgcl.methods.gbt:GBT")
        True
        >>> resolve_method("gbtt")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        imgcl.InputError: unknown method 'gbtt': did you mean 'gbt'? (choose from ...)
    """
    return _REGISTRY.resolve(_REGISTRY.name_of(method))


def method_name(method: str | type[Method[Any]]) -> str:
    """What a method is called in settings and files: one of ours by its name, others by ``package.module:Class``.

    Example:
        >>> method_name(GBT), method_name("my_package.methods:Mine")
        ('gbt', 'my_package.methods:Mine')
    """
    if not isinstance(method, str):
        resolve_method(method)
    return _REGISTRY.name_of(method)


__all__ = [
    "BGRL",
    "CCASSG",
    "DGI",
    "GBT",
    "GRACE",
    "METHODS",
    "MVGRL",
    "EncoderSettings",
    "GraphMAE",
    "InfoGraph",
    "Method",
    "MethodSettings",
    "TwoViewSettings",
    "TwoViews",
    "VICReg",
    "method_name",
    "resolve_method",
]
