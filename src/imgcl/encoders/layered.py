"""The loop all encoders share: layers of message passing, each followed by norm, activation and dropout."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, TypedDict

import torch
from torch import Tensor, nn

from imgcl._core.errors import InputError
from imgcl._core.sparse import Operator
from imgcl._core.sparse.masked import masked_weight
from imgcl.encoders.base import Activation, Dropout, Encoder, Norm, glorot
from imgcl.encoders.finish import Finish
from imgcl.graph.block import Block, projection


class LayerSettings(TypedDict, total=False):
    """The settings of :class:`LayeredEncoder`, for the signatures of its subclasses."""

    activation: Activation
    norm: Norm
    finish: bool
    momentum: float
    dropout: float
    residual: bool
    norm_first: bool
    jumping: Literal["last", "cat"]


class Convolution(nn.Module):
    """One layer of message passing, without what follows it.

    Its product with the input is separate from its propagation, so that the first layer can share the product of the
    features among the views of a block.
    """

    out_features: int
    reads_neighbours_only = True  # of its input rows ``propagate`` touches those of neighbours and the wanted rows
    any_order = False  # whether messages may be passed before the product

    @property
    def input_weight(self) -> Tensor:
        """What the input is multiplied by, (fan in, any width)."""
        raise NotImplementedError

    def propagate(self, block: Block, projected: Tensor, rows: Tensor | None) -> Tensor:
        """The layer's output rows (all, or the given ones) from ``input @ input_weight``."""
        raise NotImplementedError

    def forward(self, block: Block, hidden: Tensor, rows: Tensor | None, column_mask: Tensor | None = None) -> Tensor:
        """The output rows from the input, whose columns are multiplied by the mask."""
        return self.propagate(block, hidden @ masked_weight(self.input_weight, column_mask), rows)


class LayeredEncoder(Encoder):
    """Convolutions one after the other.

    Args:
        layers: the convolutions.
        activation: after every layer (after the last one only with ``finish``).
        norm: with every activation.
        finish: whether norm and activation also follow the last layer.
        momentum: of the batch norm.
        dropout: of the hidden rows, in training.
        residual: add the input of every layer but the first to its output, through a learnt matrix where their widths
            differ; needs two layers.
        norm_first: norm before activation; InfoGraph's GIN has it after.
        jumping: what to return: the ``last`` layer's rows, or those of all layers side by side (``cat``).
    """

    def __init__(
        self,
        layers: Sequence[Convolution],
        *,
        activation: Activation = "prelu",
        norm: Norm = "none",
        finish: bool = True,
        momentum: float = 0.1,
        dropout: float = 0.0,
        residual: bool = False,
        norm_first: bool = True,
        jumping: Literal["last", "cat"] = "last",
    ) -> None:
        super().__init__()
        if jumping not in ("last", "cat"):
            raise InputError(f"jumping = {jumping!r}: choose last or cat")
        self.layers = nn.ModuleList(layers)
        widths = [layer.out_features for layer in layers]
        self.out_features = sum(widths) if jumping == "cat" else widths[-1]
        finished = len(widths) - (0 if finish else 1)
        self.finishes = nn.ModuleList(
            Finish(width, norm, activation, momentum, norm_first) if layer < finished else Finish(width)
            for layer, width in enumerate(widths)
        )
        self.dropout = Dropout(dropout)
        self.residual, self.jumping = residual, jumping
        self.shortcuts = nn.ParameterDict(_shortcuts(widths) if residual else {})

    @property
    def input_weight(self) -> Tensor:
        """What the features are multiplied by."""
        return self.layers[0].input_weight  # type: ignore[return-value]

    def forward(
        self, blocks: Sequence[Block], rows: Tensor | None = None, products: Sequence[Tensor] | None = None
    ) -> list[Tensor]:
        """The rows of every block; ``products``: its features times the input weight, where they are known already."""
        if products is None:
            if not all(block.project_first for block in blocks):
                return [self._encode(block, rows, block.dense_features(masked=False), False) for block in blocks]
            products = projection(blocks)(self.input_weight)
        return [self._encode(block, rows, first, True) for block, first in zip(blocks, products, strict=True)]

    def shortcut(self, index: int, hidden: Tensor) -> Tensor:
        """What a residual connection adds to the output of a layer, from the rows of its input."""
        key = str(index)
        return hidden @ self.shortcuts[key] if key in self.shortcuts else hidden

    def _encode(self, block: Block, rows: Tensor | None, hidden: Tensor, projected: bool) -> Tensor:
        """The rows of one block, from its features or from their product with the first layer's weight."""
        mask = None if projected else block.column_mask
        return self.follow(block.steps(len(self.layers), rows), hidden, projected=projected, column_mask=mask)

    def follow(
        self,
        steps: Sequence[tuple[Block, Tensor | None]],
        hidden: Tensor,
        *,
        projected: bool = True,
        column_mask: Tensor | None = None,
    ) -> Tensor:
        """The rows that the last step asks for; see :meth:`imgcl.graph.block.Block.steps`.

        Args:
            steps: what every layer passes messages over, and the rows it computes.
            hidden: the features times the input weight, or the features.
            projected: it is the product.
            column_mask: factor of every feature column, if it is not.
        """
        last, rows = len(self.layers) - 1, steps[-1][1]
        outputs = []
        for index, (layer, finish, (piece, wanted)) in enumerate(zip(self.layers, self.finishes, steps, strict=True)):
            if index == 0 and projected:
                out = layer.propagate(piece, hidden, wanted)  # type: ignore[operator]
            elif index == 0:
                out = layer(piece, hidden, wanted, column_mask)
            else:
                out = layer(piece, hidden, wanted)
                if self.residual:
                    out = out + self.shortcut(index, at_rows(hidden, wanted))
            hidden = finish(out)
            outputs.append(hidden if index == last else at_rows(hidden, rows))
            if index < last:
                hidden = self.dropout(hidden)
        return torch.cat(outputs, dim=1) if self.jumping == "cat" else hidden


def _shortcuts(widths: Sequence[int]) -> dict[str, nn.Parameter]:
    """A matrix for every layer whose input and output differ in width."""
    if len(widths) < 2:
        raise InputError("residual=true has no effect on an encoder with one layer: use layers=2 or more")
    pairs = enumerate(pairwise(widths), start=1)
    return {str(index): glorot(wide, narrow) for index, (wide, narrow) in pairs if wide != narrow}


def encode_beside(
    encoder: Encoder, frozen: Encoder, blocks: Sequence[Block], rows: Tensor | None = None
) -> tuple[list[Tensor], list[Tensor]]:
    """What an encoder gives, and what another one gives that is not trained; they share the views of the features."""
    layered = isinstance(encoder, LayeredEncoder) and isinstance(frozen, LayeredEncoder)
    if not layered or not all(block.project_first for block in blocks):
        with torch.no_grad():
            others = frozen(blocks, rows)
        return encoder(blocks, rows), others
    project = projection(blocks)
    with torch.no_grad():
        others = frozen(blocks, rows, project(frozen.input_weight))  # type: ignore[arg-type]
    return encoder(blocks, rows, project(encoder.input_weight)), others  # type: ignore[arg-type]


def fans(in_features: int, widths: Sequence[int]) -> list[tuple[int, int]]:
    """Input and output width of every layer."""
    if not widths or min(widths) < 1 or in_features < 1:
        raise InputError(
            f"in_features = {in_features}, widths = {list(widths)}: give at least one layer, widths above 0"
        )
    return list(zip([in_features, *widths[:-1]], widths, strict=True))


def at_rows(hidden: Tensor, rows: Tensor | None) -> Tensor:
    """The given rows, or all."""
    return hidden if rows is None else hidden.index_select(0, rows)


def select(operator: Operator, rows: Tensor | None) -> Operator:
    """The operator for the given output rows, or all; one that was made for these rows is returned as it is."""
    return operator if rows is None or operator.rows is rows else operator.select(rows)


def multiply(operator: Operator, hidden: Tensor, weight: Tensor) -> Tensor:
    """``S H W`` as S (H W) or (S H) W, whichever multiplies less: with few selected rows the second."""
    wide, narrow = weight.shape
    late = operator.cost(wide) + operator.matrix.n_rows * wide * narrow
    early = operator.cost(narrow) + len(hidden) * wide * narrow
    return (operator @ hidden) @ weight if late < early else operator @ (hidden @ weight)
