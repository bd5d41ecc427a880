"""Graph neural networks on the fast kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from imgcl._core.errors import InputError
from imgcl.encoders.base import Encoder
from imgcl.encoders.gat import GAT
from imgcl.encoders.gcn import GCN
from imgcl.encoders.gin import GIN
from imgcl.encoders.layered import LayeredEncoder
from imgcl.encoders.pyg import PyGEncoder
from imgcl.encoders.sage import GraphSAGE

__all__ = ["ENCODERS", "GAT", "GCN", "GIN", "Encoder", "GraphSAGE", "LayeredEncoder", "PyGEncoder", "make_encoder"]

ENCODERS: dict[str, Callable[..., LayeredEncoder]] = {"gcn": GCN, "sage": GraphSAGE, "gin": GIN, "gat": GAT}


def make_encoder(name: str, in_features: int, widths: Sequence[int], **settings: Any) -> Encoder:
    """The encoder of this name.

    Args:
        name: a name of :data:`ENCODERS`.
        in_features: width of the features.
        widths: output width of every layer.
        **settings: of that encoder.

    Example:
        >>> make_encoder("gin", 10, [8, 8], jumping="cat").out_features
        16
    """
    if name not in ENCODERS:
        raise InputError(f"unknown encoder {name!r}: choose one of {', '.join(ENCODERS)}")
    try:
        return ENCODERS[name](in_features, widths, **settings)
    except TypeError as error:
        raise InputError(f"encoder {name!r}: {error}") from None
