"""A method that trains on several ranks: any method, unchanged.

Every rank encodes its own anchors. The encoders' output rows are gathered from all ranks before the method goes on,
so losses that couple rows (InfoNCE, Barlow Twins, summaries) see the whole batch; batch norms use the moments of all
rows; gradients of encoders are parts that add up, those of everything behind the gathering are whole on every rank.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from imgcl.encoders import Encoder, LayeredEncoder
from imgcl.graph.block import Block
from imgcl.methods import Method
from imgcl.training.distributed.collectives import gather_numbers, gather_rows
from imgcl.training.distributed.group import ProcessGroup
from imgcl.training.distributed.norm import SharedBatchNorm
from imgcl.training.sampling import SampledBlock


class Parallel:
    """Trains a method together with its copies on the other ranks.

    Args:
        method: changed in place; its parameters and their names stay.
        group: the process group.
    """

    def __init__(self, method: Method[Any], group: ProcessGroup) -> None:
        self.method, self.group = method, group
        self._weights: list[Tensor] = []  # of the rows within 0, 1, 2, … steps of an anchor
        encoders = [module for module in method.modules() if isinstance(module, Encoder)]
        self._partial = {id(parameter) for encoder in encoders for parameter in encoder.parameters()}
        self._removed: list[nn.Parameter] = []  # biases that a batch norm removes again
        for encoder in encoders:
            encoder.register_forward_hook(self._gather)
            if isinstance(encoder, LayeredEncoder):
                self._share_norms(encoder)

    def prepare(self, block: Block, rows: Tensor | None) -> None:
        """Find out which rows of the block other ranks have too."""
        if not isinstance(
            block, SampledBlock
        ):  # every rank has all rows of the graph; only the last layer is shared out
            anchors = torch.ones(block.n_nodes if rows is None else len(rows), dtype=torch.float32, device=block.device)
            self._weights = [
                anchors,
                torch.full((block.n_nodes,), 1 / self.group.world_size, dtype=torch.float32, device=block.device),
            ]
            return
        self._weights = [torch.ones(block.reach[0], dtype=torch.float32, device=block.device)]
        for reach in block.reach[1 : block.layers]:
            mine = torch.from_numpy(block.nodes[:reach])
            everybody = torch.cat(gather_numbers(mine, self.group))
            nodes, counts = torch.unique(everybody, return_counts=True)
            self._weights.append(
                counts[torch.searchsorted(nodes, mine)].to(torch.float32).reciprocal().to(block.device)
            )

    def reduce_gradients(self) -> None:
        """Give every rank the gradient of the whole batch."""
        for parameter in self._removed:
            parameter.grad = None  # rounding errors only, which Adam would blow up
        for parameter in self.method.parameters():
            if parameter.grad is not None:
                dist.all_reduce(parameter.grad)
                if id(parameter) not in self._partial:
                    parameter.grad /= self.group.world_size

    def _gather(self, encoder: nn.Module, arguments: Any, output: list[Tensor]) -> list[Tensor]:
        return [gather_rows(rows, self.group) for rows in output] if encoder.training else output

    def _share_norms(self, encoder: LayeredEncoder) -> None:
        following = len(encoder.finishes) - 1 + self.method.decoder_layers
        for index, finish in enumerate(encoder.finishes):
            if isinstance(finish.norm, nn.BatchNorm1d):
                finish.norm = SharedBatchNorm(finish.norm, self._weights_of(following - index))
                if finish.norm_first:
                    self._removed.append(finish.bias)  # type: ignore[arg-type]

    def _weights_of(self, steps: int) -> Any:
        """The weights of the rows of a layer with ``steps`` layers after it."""
        return lambda: self._weights[min(steps, len(self._weights) - 1)]
