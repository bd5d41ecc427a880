"""An encoder of the user's: a module, or a factory of one."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from imgcl._core.draws import lent_source
from imgcl._core.errors import InputError
from imgcl.encoders.base import Encoder
from imgcl.encoders.module import ModuleEncoder
from imgcl.graph import Graph
from imgcl.graph.block import Block

Factory = Callable[[int, int], nn.Module]  # of (in_features, out_features)


def own_encoder(
    given: nn.Module | Factory, in_features: int, out_features: int, *, name: str = "", fresh: bool = False
) -> Encoder:
    """The encoder that a module or a factory stands for; what is not an :class:`Encoder` is wrapped into one.

    A module is copied: training leaves the given one as it is, and starts from its weights. Its output may have any
    width. It is called once on a graph of three nodes, which also gives lazy modules their shapes.

    Args:
        given: a module, or a function of ``(in_features, out_features)`` that makes one.
        in_features: number of features of the graph.
        out_features: the output width passed to a factory.
        name: of the encoder, for messages.
        fresh: draw the weights of a copy anew, for methods with two encoders; parts of the module that have no
            ``reset_parameters`` keep theirs.

    Example:
        >>> from torch_geometric.nn import SAGEConv
        >>> own_encoder(SAGEConv, in_features=3, out_features=4).out_features
        4
        >>> own_encoder(nn.Linear(3, 2), in_features=5, out_features=4, name="mine")
        Traceback (most recent call last):
        imgcl.InputError: encoder 'mine' cannot read a graph with 5 features (RuntimeError: ...
    """
    with lent_source():
        module = (
            _copied(given, fresh) if isinstance(given, nn.Module) else _made(given, in_features, out_features, name)
        )
        encoder = module if isinstance(module, Encoder) else ModuleEncoder(module, out_features)
        encoder.out_features = _width(encoder, in_features, name)
    return encoder


def _copied(module: nn.Module, fresh: bool) -> nn.Module:
    module = copy.deepcopy(module)
    if fresh:
        _reset(module)
    return module


def _reset(module: nn.Module) -> None:
    reset = getattr(module, "reset_parameters", None)
    if callable(reset):
        reset()
        return
    for child in module.children():
        _reset(child)


def _made(factory: Factory, in_features: int, out_features: int, name: str) -> nn.Module:
    try:
        made = factory(in_features, out_features)
    except Exception as error:
        raise InputError(f"encoder {name!r} cannot be made by a call with ({in_features}, {out_features}), the numbers "
                         f"of features and of embedding columns ({_short(error)})") from error  # fmt: skip
    if not isinstance(made, nn.Module):
        raise InputError(f"encoder {name!r} made {made!r}: expected a torch.nn.Module")
    return made


def _width(encoder: Encoder, in_features: int, name: str) -> int:
    """Width of the output, from a call on a path of three nodes."""
    graph = Graph.from_edges([[0, 1], [1, 2]], x=np.ones((3, in_features), dtype=np.float32))
    encoder.eval()
    try:
        with torch.no_grad():
            (rows,) = encoder([Block.from_graph(graph)])
    except Exception as error:
        raise InputError(
            f"encoder {name!r} cannot read a graph with {in_features} features ({_short(error)}): it is called as "
            "module(x, edge_index), and its input width must be the number of features"
        ) from error
    encoder.train()
    if not isinstance(rows, Tensor) or rows.ndim != 2 or len(rows) != graph.n_nodes:
        shape = tuple(rows.shape) if isinstance(rows, Tensor) else type(rows).__name__
        raise InputError(f"encoder {name!r} gave {shape} for 3 nodes: expected one row per node")
    if rows.dtype != torch.float32:
        raise InputError(f"encoder {name!r} gave numbers of {rows.dtype}: training is in float32; convert its output")
    return rows.shape[1]


def _short(error: Any) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
