"""The sparse product against a dense reference: values, gradients, selected rows, threads, and the torch path."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from imgcl._core.sparse import CSR, Operator
from imgcl._core.sparse import operator as operator_module
from imgcl._core.sparse import threads as threads_module
from imgcl.graph import Graph
from imgcl.graph.block import Block


def random_csr(n: int, density: float, seed: int, weighted: bool = False) -> CSR:
    """A symmetric matrix with isolated nodes (the last two rows are empty)."""
    rng = np.random.default_rng(seed)
    dense = np.triu(rng.random((n, n)) < density, 1).astype(np.float32)
    dense[n - 2 :] = 0
    dense[:, n - 2 :] = 0
    if weighted:
        dense *= rng.random((n, n)).astype(np.float32) + 0.5
    return CSR.from_scipy(sp.csr_array(dense + dense.T))


def dense_operator(operator: Operator) -> torch.Tensor:
    """The operator as a matrix, by its definition."""
    matrix = torch.from_numpy(operator.matrix.to_scipy().toarray()).double()
    if operator.loop:
        own = torch.arange(len(matrix)) if operator.rows is None else operator.rows
        matrix[torch.arange(len(matrix)), own] += operator.loop
    if operator.left is not None:
        matrix = operator.left.double().unsqueeze(1) * matrix
    return matrix if operator.right is None else matrix * operator.right.double()


def operators(weighted: bool) -> dict[str, Operator]:
    adjacency = random_csr(14, 0.3, 1, weighted)
    features = torch.zeros(14, 1)
    block = Block(adjacency, features)  # type: ignore[arg-type]
    return {
        "normalised": block.normalised,
        "mean": block.mean,
        "total": block.total,
        "diffused": dataclasses.replace(block, diffused=True).normalised,
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["normalised", "mean", "total", "diffused"])
@pytest.mark.parametrize("selected", [False, True])
def test_product_and_its_gradient_equal_the_dense_ones(name: str, weighted: bool, selected: bool) -> None:
    operator = operators(weighted)[name]
    if selected:
        operator = operator.select(torch.tensor([9, 0, 13, 4]))
    source = torch.randn(14, 7, dtype=torch.float64, requires_grad=True)
    assert torch.allclose(operator @ source, dense_operator(operator) @ source, atol=1e-12)
    assert torch.autograd.gradcheck(lambda s: operator @ s, (source,))


@pytest.mark.parametrize("name", ["normalised", "mean", "total"])
def test_selected_rows_are_the_rows_of_the_full_product(name: str) -> None:
    operator, rows = operators(True)[name], torch.tensor([13, 2, 5])
    source = torch.randn(14, 5)
    assert torch.equal(operator.select(rows) @ source, (operator @ source)[rows])


def test_transpose_is_the_dense_transpose() -> None:
    operator = operators(True)["mean"]
    source = torch.randn(14, 3, dtype=torch.float64)
    assert torch.allclose(operator.transpose @ source, dense_operator(operator).T @ source, atol=1e-12)


def test_a_column_block_of_a_wider_matrix_is_read_in_place() -> None:
    operator, wide = operators(False)["normalised"], torch.randn(14, 10)
    assert torch.equal(operator @ wide[:, 3:7], operator @ wide[:, 3:7].contiguous())
    assert torch.equal(operator @ wide.T[:14, :].T[:, :4], operator @ wide[:, :4])


def test_a_transposed_source_is_copied_first() -> None:
    operator, source = operators(False)["normalised"], torch.randn(6, 14)
    assert torch.equal(operator @ source.T, operator @ source.T.contiguous())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("selected", [False, True])
@pytest.mark.parametrize("name", ["normalised", "mean", "total"])
def test_the_torch_path_equals_the_kernels(name: str, weighted: bool, selected: bool) -> None:
    operator = operators(weighted)[name]
    if selected:
        operator = operator.select(torch.tensor([1, 12, 7]))
    source, gradient = torch.randn(14, 4), torch.randn(operator.matrix.n_rows, 4)
    forward = (operator.matrix, source, operator.left, operator.right, operator.loop)
    backward = (operator.transposed, gradient, operator.right, operator.left, operator.loop)
    for arguments, own in (
        (forward, operator_module.own_column(operator)),
        (backward, operator_module.own_row(operator)),
    ):
        expected = operator_module._product_numba(*arguments, own)
        assert torch.allclose(operator_module._product_torch(*arguments, own), expected, atol=1e-5)


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    adjacency = random_csr(300, 0.1, 3, weighted=True)
    source, rows = torch.randn(300, 33), torch.randperm(300)[:40]
    results = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(threads_module, "SMALL_WORK", 0)
        monkeypatch.setattr(torch, "get_num_threads", lambda count=threads: count)
        dropped = adjacency.drop_edges(0.3, 11)
        operator = Block(dropped, source).normalised.select(rows)  # type: ignore[arg-type]
        results.append(
            (dropped.indptr, dropped.indices, dropped.weights, operator.transposed.indices, operator @ source)
        )
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_a_graph_without_edges() -> None:
    graph = Graph.from_edges(np.empty((2, 0), dtype=np.int64), x=np.eye(4))
    block, source = Block.from_graph(graph), torch.randn(4, 3)
    assert torch.equal(block.normalised @ source, source)  # S = I
    assert torch.equal(block.mean @ source, torch.zeros(4, 3))
    assert torch.equal(block.total.select(torch.tensor([2])) @ source, torch.zeros(1, 3))
    assert torch.equal(block.normalised.select(torch.tensor([2])) @ source, source[[2]])
    assert block.adjacency.drop_edges(0.5, 1).n_entries == 0


def test_normalised_by_hand() -> None:
    # path 0 - 1 - 2: degrees with loops 2, 3, 2
    block = Block.from_graph(Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3)))
    expected = torch.tensor([[1 / 2, 6**-0.5, 0], [6**-0.5, 1 / 3, 6**-0.5], [0, 6**-0.5, 1 / 2]])
    assert torch.allclose(block.normalised @ torch.eye(3), expected)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(3, 25), density=st.floats(0, 1), seed=st.integers(0, 1000), weighted=st.booleans())
def test_any_symmetric_matrix(n: int, density: float, seed: int, weighted: bool) -> None:
    operator = Block(random_csr(n, density, seed, weighted), None).normalised  # type: ignore[arg-type]
    source = torch.randn(n, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    assert torch.allclose(operator @ source, dense_operator(operator) @ source, atol=1e-10)
