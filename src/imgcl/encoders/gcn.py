"""The graph convolutional network (Kipf and Welling) on the fast kernels."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from imgcl.block import Block, project
from imgcl.encoders.base import Activation, Encoder, Norm, glorot
from imgcl.encoders.finish import Finish


class GCN(Encoder):
    """Layers ``S (H W) + b`` with ``S = D^-1/2 (A + I) D^-1/2``, each followed by norm, activation and dropout.

    Args:
        in_features: width of the features.
        widths: output width of every layer.
        activation: after every layer (after the last one only with ``finish``).
        norm: after every layer (after the last one only with ``finish``).
        finish: whether norm and activation also follow the last layer.
        momentum: of the batch norm.
        dropout: of the hidden rows, in training.
        residual: add a layer's input to its output where the widths agree.
    """

    def __init__(
        self,
        in_features: int,
        widths: Sequence[int],
        *,
        activation: Activation = "prelu",
        norm: Norm = "none",
        finish: bool = True,
        momentum: float = 0.1,
        dropout: float = 0.0,
        residual: bool = False,
    ) -> None:
        super().__init__()
        fan_ins = [in_features, *widths[:-1]]
        self.out_features = widths[-1]
        self.weights = nn.ParameterList(glorot(a, b) for a, b in zip(fan_ins, widths, strict=True))
        finished = len(widths) - (0 if finish else 1)
        self.finishes = nn.ModuleList(
            Finish(width, norm, activation, momentum) if layer < finished else Finish(width)
            for layer, width in enumerate(widths)
        )
        self.dropout = nn.Dropout(dropout)
        self.residual = residual

    def forward(self, blocks: Sequence[Block], rows: Tensor | None = None) -> list[Tensor]:
        last = len(self.weights) - 1
        projected = project(list(blocks), self.weights[0])
        outputs = []
        for block, first in zip(blocks, projected, strict=True):
            hidden = first
            for layer in range(last + 1):
                operator = block.normalised
                if layer == last and rows is not None:
                    operator = operator.select(rows)
                before = hidden
                if layer == 0:
                    hidden = operator @ hidden
                else:
                    weight = self.weights[layer]
                    wide, narrow = weight.shape
                    # S (H W) or (S H) W, whichever multiplies less: with few selected rows the second.
                    late = operator.cost(wide) + operator.matrix.n_rows * wide * narrow
                    early = operator.cost(narrow) + len(hidden) * wide * narrow
                    hidden = (operator @ hidden) @ weight if late < early else operator @ (hidden @ weight)
                    if self.residual and before.shape[1] == hidden.shape[1]:
                        hidden = hidden + (before if operator.rows is None else before[operator.rows])
                hidden = self.finishes[layer](hidden)
                if layer < last:
                    hidden = self.dropout(hidden)
            outputs.append(hidden)
        return outputs
