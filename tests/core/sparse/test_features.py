"""Features as an operand: dense and sparse storage, masks folded into the weight, shared products."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from imgcl._core.sparse import DenseFeatures, SparseFeatures, features_of
from imgcl._core.sparse.features import Products
from imgcl._core.sparse.order import permute_rows
from imgcl.graph import Graph
from imgcl.graph.block import Block, projection

X = np.array([[1, 0, 2], [0, 0, 0], [0, 3, 0], [4, 0, 0]], dtype=np.float32)


def block_of(x: object) -> Block:
    return Block.from_graph(Graph.from_edges([[0, 1], [1, 2]], x=x))


@pytest.mark.parametrize("normalise", ["none", "row", "column"])
def test_sparse_features_equal_dense_ones(normalise: str) -> None:
    dense, sparse = features_of(X, normalise), features_of(sp.csr_array(X), normalise)
    assert isinstance(sparse, DenseFeatures if normalise == "column" else SparseFeatures)
    assert torch.allclose(dense.to_dense(), sparse.to_dense())
    assert dense.shape == sparse.shape == (4, 3)
    if normalise == "row":
        assert torch.allclose(dense.to_dense().sum(1), torch.tensor([1.0, 0, 1, 1]))


def every_view(block: Block) -> list[Block]:
    mask, rows = torch.tensor([1.0, 0, 1]), torch.tensor([1.0, 1, 0, 1])
    order = torch.tensor([2, 3, 1, 0])
    return [
        block,
        replace(block, column_mask=mask),
        block.with_row_mask(rows),
        block.with_row_order(order),
        replace(block, column_mask=mask).with_row_mask(rows).with_row_order(order).with_row_order(order),
    ]


@pytest.mark.parametrize("x", [X, sp.csr_array(X)], ids=["dense", "sparse"])
def test_masks_and_orders_of_the_product_are_those_of_the_features(x: object) -> None:
    blocks, weight = every_view(block_of(x)), torch.randn(3, 5)
    for block, product in zip(blocks, projection(blocks)(weight), strict=True):
        assert torch.allclose(product, block.dense_features() @ weight, atol=1e-6)
        assert torch.allclose(block.project(weight), product, atol=1e-6)


@pytest.mark.parametrize("x", [X, sp.csr_array(X)], ids=["dense", "sparse"])
def test_gradient_of_the_weight_through_all_views(x: object) -> None:
    blocks = every_view(block_of(x))
    if isinstance(x, np.ndarray):
        features = DenseFeatures(torch.from_numpy(X).double())
        blocks = [replace(block, features=features) for block in blocks]
    weight = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w: tuple(projection(blocks)(w)), (weight,))


def test_a_composed_order_and_mask_by_hand() -> None:
    block = block_of(X).with_row_mask(torch.tensor([0.0, 1, 1, 1])).with_row_order(torch.tensor([3, 0, 1, 2]))
    assert block.dense_features().tolist() == [[4, 0, 0], [0, 0, 0], [0, 0, 0], [0, 3, 0]]


def test_a_graph_and_its_corruption_share_one_product() -> None:
    block, weight = block_of(X), torch.randn(3, 2)
    calls = []

    class Counted(DenseFeatures):
        def products(self, masks: Sequence[torch.Tensor | None]) -> Products:
            calls.append(len(masks))
            return super().products(masks)

    block = replace(block, features=Counted(block.features.to_dense()))
    projection([block, block.with_row_order(torch.tensor([1, 0, 3, 2]))])(weight)
    assert calls == [1]


def test_permuted_rows_and_their_gradient() -> None:
    rows, order = torch.randn(5, 3, dtype=torch.float64, requires_grad=True), torch.tensor([4, 2, 0, 1, 3])
    assert torch.equal(permute_rows(rows, order), rows[order])
    assert torch.autograd.gradcheck(lambda r: permute_rows(r, order), (rows,))
