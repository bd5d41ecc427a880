"""The first layer's product on Amazon-Computers, whose features are zeros and ones: look-ups against matrix products.

One side is ``X W`` and the gradient of W for two masked views, as in an epoch of GBT; both share between the views what
they can.

IMGCL_DATA=<directory with the raw files> python benchmarks/binary.py [--json]
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from common import arguments, interleaved, show
from imgcl._core.sparse.columns import Columns, DenseColumns, binary_columns
from imgcl._core.sparse.masked import MaskedProducts
from imgcl.data import load_graph
from imgcl.training.hardware import reuse_freed_memory
from methods import GRAPH

WIDTH, MASKED = 256, 0.1


def make_step(x: Columns) -> Callable[[], torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(x.shape[1], WIDTH, generator=generator, requires_grad=True)
    masks = [(torch.rand(x.shape[1], generator=generator) >= MASKED).float() for _ in range(2)]
    seeds = [torch.randn(x.shape[0], WIDTH, generator=generator) for _ in masks]

    def step() -> torch.Tensor:
        multiply = MaskedProducts(x, masks)  # views are drawn anew in every epoch
        products = multiply(weight)
        return torch.autograd.grad(products, weight, seeds)[0]

    return step


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    matrix = torch.from_numpy(load_graph(GRAPH).x.copy())
    binary = binary_columns(matrix)
    if binary is None:
        raise SystemExit(f"the features of {GRAPH} are not zeros and ones")
    dense = DenseColumns(matrix.T.contiguous().T)
    sides = {"ours": make_step(binary), "reference": make_step(dense)}
    difference = (sides["ours"]() - sides["reference"]()).abs().max() / sides["reference"]().abs().max()
    with reuse_freed_memory():  # as in training
        seconds = interleaved(sides, options.repeats)
    show(
        "binary",
        {
            "ours_s": seconds["ours"],
            "reference_s": seconds["reference"],
            "ratio": seconds["reference"] / seconds["ours"],
            "feature_mb": binary.bits.nbytes / 2**20,
            "dense_feature_mb": matrix.nbytes / 2**20,
            "largest_difference": float(difference),
        },
        options.json,
    )


if __name__ == "__main__":
    main()
