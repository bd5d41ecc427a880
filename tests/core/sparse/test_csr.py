"""CSR: dropping edges, taking rows and columns, the hash, and the torch path of each."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from imgcl._core.sparse import CSR, kernels
from imgcl._core.sparse.csr import edge_uniform


def symmetric(n: int, density: float, seed: int, weighted: bool) -> CSR:
    rng = np.random.default_rng(seed)
    dense = np.triu(rng.random((n, n)) < density, 1) * (rng.random((n, n)) if weighted else 1.0)
    return CSR.from_scipy(sp.csr_array((dense + dense.T).astype(np.float32)))


def same(a: CSR, b: CSR) -> bool:
    weights = a.weights is b.weights is None or torch.equal(a.weights, b.weights)  # type: ignore[arg-type]
    parts = torch.equal(a.indptr, b.indptr) and torch.equal(a.indices, b.indices)
    return weights and parts and a.n_columns == b.n_columns and a.indices.dtype == b.indices.dtype


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 40),
    density=st.floats(0, 1),
    p=st.floats(0, 1),
    seed=st.integers(0, 2**63 - 1),
    weighted=st.booleans(),
)
def test_edges_dropped_at_random_leave_a_symmetric_matrix(
    n: int, density: float, p: float, seed: int, weighted: bool
) -> None:
    before = symmetric(n, density, 0, weighted)
    after = before.drop_edges(p, seed)
    dense, original = after.to_scipy().toarray(), before.to_scipy().toarray()
    assert (dense == dense.T).all()
    assert ((dense == 0) | (dense == original)).all()
    assert same(before._drop_edges_torch(p, seed), after)


def test_probabilities_per_entry() -> None:
    before = symmetric(60, 0.5, 1, False)
    parity = (before.row_index + before.indices) % 2  # the same from both ends
    after = before.drop_edges(parity.float(), 5)
    kept = (after.row_index + after.indices) % 2
    assert (kept == 0).all()
    assert after.n_entries == int((parity == 0).sum())
    assert same(before._drop_edges_torch(parity.float(), 5), after)


def test_about_the_right_share_is_dropped() -> None:
    before = symmetric(400, 0.5, 2, False)  # about 40,000 edges: the share's standard deviation is 0.0023
    shares = [1 - before.drop_edges(0.3, seed).n_entries / before.n_entries for seed in range(5)]
    assert np.allclose(shares, 0.3, atol=0.012)
    assert len(set(shares)) == 5


@settings(max_examples=50, deadline=None)
@given(i=st.integers(0, 2**31 - 1), j=st.integers(0, 2**31 - 1), seed=st.integers(0, 2**63 - 1))
def test_the_hash_of_an_edge_is_the_same_everywhere(i: int, j: int, seed: int) -> None:
    low, high = torch.tensor([min(i, j)]), torch.tensor([max(i, j)])
    value = kernels.edge_uniform(i, j, np.uint64(seed))
    assert value == kernels.edge_uniform(j, i, np.uint64(seed)) == edge_uniform(low, high, seed).item()
    assert 0 <= value < 1


def test_the_hash_is_uniform_and_different_for_neighbouring_edges() -> None:
    grid = torch.arange(200)
    values = edge_uniform(grid.unsqueeze(1), grid + 200, 7).flatten()
    assert values.unique().numel() == 40_000
    shares = torch.histc(values, bins=20, min=0, max=1) / len(values)
    assert torch.allclose(shares, torch.tensor(0.05, dtype=values.dtype), atol=0.006)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_and_columns(weighted: bool) -> None:
    matrix = symmetric(12, 0.4, 3, weighted)
    dense = matrix.to_scipy().toarray()
    rows = torch.tensor([7, 0, 11])
    taken = matrix.take_rows(rows)
    assert (taken.to_scipy().toarray() == dense[rows]).all()
    assert same(matrix._take_rows_torch(rows), taken)
    position = torch.full((12,), -1, dtype=torch.int32)
    position[rows] = torch.arange(3, dtype=torch.int32)
    columns = matrix.take_columns(position, 3)
    assert (columns.to_scipy().toarray() == dense[:, rows]).all()
    assert same(matrix._take_columns_torch(position, 3), columns)


def test_sums_and_transpose_of_a_rectangular_matrix() -> None:
    matrix = CSR.from_scipy(sp.csr_array(np.array([[0, 2.0, 3.0], [0, 0, 0]])))
    assert matrix.row_sums.tolist() == [5.0, 0.0]
    assert matrix.transpose().to_scipy().toarray().tolist() == [[0, 0], [2, 0], [3, 0]]
    assert matrix.row_index.tolist() == [0, 0]


def test_derived_values_are_computed_once() -> None:
    matrix, calls = symmetric(5, 0.5, 4, False), []

    def count(given: CSR) -> int:
        calls.append(given)
        return given.n_entries

    assert matrix.derive("entries", count) == matrix.derive("entries", count) == matrix.n_entries
    assert calls == [matrix]
