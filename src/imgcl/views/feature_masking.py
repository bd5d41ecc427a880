"""Feature masking: whole columns are set to zero, for all nodes at once."""

from __future__ import annotations

from dataclasses import replace

import torch

from imgcl.block import Block


class FeatureMasking:
    """Zero each feature column with probability p.

    Args:
        p: probability that a column is zeroed.
    """

    def __init__(self, p: float) -> None:
        self.p = p

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        if self.p == 0:
            return block
        keep = (torch.rand(block.features.shape[1], generator=generator) >= self.p).float().to(block.device)
        return replace(block, column_mask=keep if block.column_mask is None else keep * block.column_mask)
