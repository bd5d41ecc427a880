"""Graph neural networks on the fast kernels, and modules of users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from imgcl._core.errors import InputError
from imgcl._core.references import Registry
from imgcl.encoders.base import Encoder
from imgcl.encoders.gat import GAT
from imgcl.encoders.gcn import GCN
from imgcl.encoders.gin import GIN
from imgcl.encoders.layered import LayeredEncoder
from imgcl.encoders.module import ModuleEncoder
from imgcl.encoders.own import own_encoder
from imgcl.encoders.sage import GraphSAGE

__all__ = [
    "ENCODERS",
    "GAT",
    "GCN",
    "GIN",
    "Encoder",
    "GraphSAGE",
    "LayeredEncoder",
    "ModuleEncoder",
    "encoder_name",
    "make_encoder",
]

ENCODERS: dict[str, Callable[..., LayeredEncoder]] = {"gcn": GCN, "sage": GraphSAGE, "gin": GIN, "gat": GAT}

_REGISTRY: Registry[Any] = Registry(
    "encoder", ENCODERS, "imgcl.encoders", callable, "a module, or a function of (in_features, out_features) of one"
)


def encoder_name(encoder: Any) -> str:
    """What an encoder is called in settings and files: one of ours by its name, others by ``package.module:name``.

    Args:
        encoder: a name of :data:`ENCODERS` or of the entry point group ``imgcl.encoders``, a text
            ``package.module:factory``, a module, or a function of ``(in_features, out_features)`` that makes one.

    Example:
        >>> from torch_geometric.nn import SAGEConv
        >>> encoder_name(GCN), encoder_name(SAGEConv)
        ('gcn', 'torch_geometric.nn.conv.sage_conv:SAGEConv')
        >>> encoder_name("sgae")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        imgcl.InputError: unknown encoder 'sgae': did you mean 'sage'? (choose from ...)
    """
    name = _REGISTRY.name_of(encoder)
    _REGISTRY.resolve(name)
    return name


def make_encoder(
    name: str, in_features: int, widths: Sequence[int], *, fresh: bool = False, **settings: Any
) -> Encoder:
    """The encoder of this name.

    Args:
        name: see :func:`encoder_name`.
        in_features: width of the features.
        widths: output width of every layer; encoders of users know the last one only.
        fresh: with weights of its own, where the encoder is a copy of a user's module.
        **settings: of that encoder; those of users have none.

    Example:
        >>> make_encoder("gin", 10, [8, 8], jumping="cat").out_features
        16
    """
    found = _REGISTRY.resolve(name)
    if name not in ENCODERS:
        return own_encoder(found, in_features, widths[-1], name=name, fresh=fresh)
    try:
        return found(in_features, widths, **settings)  # type: ignore[no-any-return]
    except TypeError as error:
        raise InputError(f"encoder {name!r}: {error}") from None
