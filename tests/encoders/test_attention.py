"""The attention kernel: gradients in double precision, selected rows, weights, the torch path, threads."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from imgcl._core.sparse import CSR, Operator
from imgcl._core.sparse import threads as threads_module
from imgcl.encoders.attention import attend, attend_torch

N, HEADS, WIDTH = 9, 2, 3


def operator(weighted: bool, loop: float = 1.0) -> Operator:
    rng = np.random.default_rng(0)
    dense = np.triu(rng.random((N, N)) < 0.4, 1) * (rng.random((N, N)) + 0.5 if weighted else 1.0)
    dense[-1], dense[:, -1] = 0, 0  # an isolated node
    matrix = CSR.from_scipy(sp.csr_array((dense + dense.T).astype(np.float32)))
    return Operator(matrix, matrix, loop=loop)


def inputs(rows: int, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    shapes = ((N, HEADS * WIDTH), (N, HEADS), (rows, HEADS))
    return tuple(torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loop", [0.0, 1.0])
@pytest.mark.parametrize("selected", [False, True])
def test_gradients_and_the_torch_path(weighted: bool, loop: float, selected: bool) -> None:
    chosen = operator(weighted, loop)
    if selected:
        chosen = chosen.select(torch.tensor([8, 2, 5]))
    values, sources, targets = inputs(chosen.matrix.n_rows)
    if loop:  # without a loop the isolated node has no neighbour at all, and gives 0
        assert torch.autograd.gradcheck(lambda *a: attend(chosen, *a, 0.2), (values, sources, targets))
    mine, theirs = attend(chosen, values, sources, targets, 0.2), attend_torch(chosen, values, sources, targets, 0.2)
    assert torch.allclose(mine, theirs, atol=1e-12)
    gradient = torch.randn_like(mine)
    for a, b in zip(
        torch.autograd.grad(mine, (values, sources, targets), gradient),
        torch.autograd.grad(theirs, (values, sources, targets), gradient),
        strict=True,
    ):
        assert torch.allclose(a, b, atol=1e-12)


def test_a_node_without_neighbours_and_without_a_loop_gets_zero() -> None:
    values, sources, targets = inputs(N)
    assert attend(operator(False, 0.0), values, sources, targets, 0.2)[-1].eq(0).all()


def test_equal_scores_give_the_weighted_mean() -> None:
    path = CSR.from_scipy(sp.csr_array(np.array([[0, 3, 0], [3, 0, 1], [0, 1, 0]], dtype=np.float32)))
    values, zero = torch.tensor([[1.0], [2.0], [5.0]]), torch.zeros(3, 1)
    out = attend(Operator(path, path, loop=1.0), values, zero, zero, 0.2)
    assert torch.allclose(out, torch.tensor([[7 / 4], [(3 + 2 + 5) / 5], [7 / 2]]))


def test_large_scores_do_not_overflow() -> None:
    values, sources, targets = (tensor.float() for tensor in inputs(N))
    out = attend(operator(False), values, sources * 1e4, targets * 1e4, 0.2)
    assert torch.isfinite(out).all()


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, arguments = operator(True).select(torch.tensor([1, 3, 8, 0])), inputs(4, torch.float32)
    results = []
    monkeypatch.setattr(threads_module, "SMALL_WORK", 0)
    for threads in (1, 3):
        monkeypatch.setattr(torch, "get_num_threads", lambda count=threads: count)
        out = attend(replace(chosen), *arguments, 0.2)
        results.append((out, *torch.autograd.grad(out.square().sum(), arguments)))
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))
