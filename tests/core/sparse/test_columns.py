"""Columns as an operand: look-ups of zeros and ones against products, values by hand, and what counts as binary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from imgcl._core.sparse import BinaryFeatures, DenseFeatures
from imgcl._core.sparse.columns import FEWEST_ROWS, BinaryColumns, DenseColumns, binary_columns
from imgcl._core.sparse.masked import MaskedProducts
from imgcl._core.sparse.tables import ROWS, WIDTH, codes_of, table_gradient, table_product
from imgcl.graph import Graph
from imgcl.graph.block import Block


def random_columns(n: int, columns: int, seed: int = 0, *, scaled: bool = False) -> tuple[BinaryColumns, torch.Tensor]:
    """Columns of zeros and ones (times factors), and the same as a matrix of doubles."""
    generator = np.random.default_rng(seed)
    ones = generator.random((n, columns)) < 0.4
    factors = torch.from_numpy(generator.random(n)) if scaled else None
    packed = BinaryColumns(np.packbits(ones.T, axis=1, bitorder="little"), n, factors)
    matrix = torch.from_numpy(ones.astype(np.float64))
    return packed, matrix if factors is None else matrix * factors.unsqueeze(1)


def test_codes_by_hand() -> None:
    # Nodes 0 to 9 have the columns: 0 -> {0}, 1 -> {1, 8}, 9 -> {0, 2, 9}, all others none.
    ones = np.zeros((10, 10), dtype=bool)
    ones[0, 0] = ones[1, 1] = ones[1, 8] = ones[9, 0] = ones[9, 2] = ones[9, 9] = True
    codes = codes_of(np.packbits(ones.T, axis=1, bitorder="little"), 10, 1)
    assert codes.tolist() == [[1, 2, 0, 0, 0, 0, 0, 0, 0, 5], [0, 1, 0, 0, 0, 0, 0, 0, 0, 2]]


def test_product_and_gradient_by_hand() -> None:
    columns = BinaryColumns(np.array([[0b011], [0b110]], dtype=np.uint8), 3, torch.tensor([1.0, 2.0, 4.0]))
    assert columns.to_dense().tolist() == [[1, 0], [2, 2], [0, 4]]
    weight = torch.tensor([[1.0, 10.0], [5.0, 50.0]])
    assert columns.product(weight).tolist() == [[1, 10], [12, 120], [20, 200]]
    assert columns.product(weight, torch.ones(3, 2), sign=-1.0).tolist() == [[0, -9], [-11, -119], [-19, -199]]
    assert columns.gradient(torch.tensor([[1.0], [10.0], [100.0]])).tolist() == [[21.0], [420.0]]
    assert columns.take(torch.tensor([1])).product(weight[1:]).tolist() == [[0, 0], [10, 100], [20, 200]]


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 40),
    columns=st.integers(1, 150),
    width=st.integers(1, 2 * WIDTH + 3),
    scaled=st.booleans(),
    sign=st.sampled_from([1.0, -1.0]),
    seed=st.integers(0, 99),
)
def test_look_ups_equal_products(n: int, columns: int, width: int, scaled: bool, sign: float, seed: int) -> None:
    packed, matrix = random_columns(n, columns, seed, scaled=scaled)
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(columns, width, dtype=torch.float64, generator=generator)
    rows, base = torch.randn(2, n, width, dtype=torch.float64, generator=generator)
    expected = base + sign * (matrix @ weight)
    torch.testing.assert_close(packed.product(weight, base, sign), expected)
    torch.testing.assert_close(packed.gradient(rows), matrix.T @ rows)
    torch.testing.assert_close(packed.product(weight.T.contiguous().T), matrix @ weight)
    over = base.clone()
    assert packed.product(weight, over, sign, over=True) is over
    torch.testing.assert_close(over, expected)
    torch.testing.assert_close(packed.to_dense().double(), matrix, rtol=1e-6, atol=0)


@pytest.mark.parametrize("scaled", [False, True])
def test_several_chunks_of_nodes_and_threads_give_the_same_bits(scaled: bool) -> None:
    n, width = 2 * ROWS + 5, 2 * WIDTH + 1
    packed, matrix = random_columns(n, 70, scaled=scaled)
    weight, rows = torch.randn(70, width), torch.randn(n, width)
    factors = np.empty(0, np.float32) if packed.factors is None else packed.factors.float().numpy()

    def compute(parts: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        codes, out = codes_of(packed.bits, n, parts), np.full((n, width), np.nan, dtype=np.float32)
        table_product(codes, weight.numpy(), factors, np.float32(1), weight.numpy()[:0], False, out, parts)
        return codes, out, table_gradient(codes, rows.numpy(), factors, 70, parts)

    alone = compute(1)
    for parts in (2, 3):
        for one, several in zip(alone, compute(parts), strict=True):
            assert np.array_equal(one, several)
    np.testing.assert_allclose(alone[1], matrix.float() @ weight, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(alone[2].sum(axis=0), matrix.float().T @ rows, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize(
    "dropped", [[(0, 3), (3, 6)], [(1,)], [(), ()], [(1,), (2,), (2, 4)], [range(7), ()], [range(7), range(7)]]
)
def test_masked_views_of_binary_features_with_their_gradient(dropped: list[Sequence[int]]) -> None:
    packed, matrix = random_columns(11, 7, scaled=True)
    masks = [torch.ones(7, dtype=torch.float64) for _ in dropped]
    for mask, columns in zip(masks, dropped, strict=True):
        mask[list(columns)] = 0
    weight = torch.randn(7, 3, dtype=torch.float64, requires_grad=True)
    multiply = MaskedProducts(packed, masks)
    for found, mask in zip(multiply(weight), masks, strict=True):
        torch.testing.assert_close(found, (matrix * mask) @ weight)
    assert torch.autograd.gradcheck(lambda w: tuple(multiply(w)), (weight,))


def test_a_mask_of_other_numbers() -> None:
    packed, matrix = random_columns(11, 7)
    mask, weight = torch.linspace(0, 1, 7, dtype=torch.float64), torch.randn(7, 3, dtype=torch.float64)
    (found,) = MaskedProducts(packed, [mask])(weight)
    torch.testing.assert_close(found, (matrix * mask) @ weight)


def zeros_and_ones(n: int = FEWEST_ROWS) -> torch.Tensor:
    return (torch.rand(n, 9, generator=torch.Generator().manual_seed(0)) < 0.3).float()


@pytest.mark.parametrize("normalise", ["none", "row"])
def test_a_graph_with_binary_features_uses_look_ups(normalise: str) -> None:
    x = zeros_and_ones()
    graph = Graph.from_edges([[0, 1], [1, 2]], x=x.numpy())
    features = Block.from_graph(graph, normalise=normalise).features
    assert isinstance(features, BinaryFeatures)
    assert (features.columns.factors is None) == (normalise == "none")
    expected = x / x.sum(1, keepdim=True).clamp(min=1) if normalise == "row" else x
    torch.testing.assert_close(features.to_dense(), expected)
    assert features.to_dense() is features.to_dense()  # asked for in every epoch by modules that know no bits
    weight = torch.randn(9, 4)
    torch.testing.assert_close(features.products([None])(weight)[0], expected @ weight)


@pytest.mark.parametrize(
    "x",
    [
        zeros_and_ones(FEWEST_ROWS - 1),
        zeros_and_ones() - 1,
        torch.cat([zeros_and_ones(), torch.rand(1, 9)]),
        torch.zeros(FEWEST_ROWS, 0),
    ],
    ids=["few rows", "zeros and minus ones", "one other row", "no columns"],
)
def test_other_features_are_not_binary(x: torch.Tensor) -> None:
    assert binary_columns(x) is None
    assert isinstance(DenseFeatures(x).for_many_products(), DenseFeatures)


def test_rows_without_any_column_count_as_binary() -> None:
    x = zeros_and_ones()
    x[:100] = 0
    packed = binary_columns(x)
    assert packed is not None
    assert packed.factors is None
    assert torch.equal(packed.to_dense(), x)


def test_dense_columns_taken_from_either_storage() -> None:
    x, index = torch.arange(12.0).reshape(3, 4), torch.tensor([3, 0])
    for columns in (DenseColumns(x), DenseColumns(x.T.contiguous().T)):
        assert torch.equal(columns.take(index).matrix, x[:, [3, 0]])
    assert DenseColumns(x).product(torch.ones(4, 1), sign=-1.0).flatten().tolist() == [-6, -22, -38]
