"""Norm and activation made with a sparse product: against the two one after the other."""

import numpy as np
import pytest
import torch

from imgcl.block import Block
from imgcl.data import synthetic_graph
from imgcl.fused import norm_activation, product_norm_activation
from imgcl.sparse import Operator, Product
from imgcl.sparse import threads as threads_module


@pytest.fixture(scope="module")
def operator() -> Operator:
    graph = synthetic_graph(class_sizes=[400, 200, 40], n_features=8, mean_degree=6, seed=1)
    return Block.from_graph(graph).normalised


def settings(width: int, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    torch.manual_seed(0)
    gain, shift = torch.rand(2, width, dtype=dtype)
    return [gain.requires_grad_(), shift.requires_grad_(), torch.tensor([0.25], dtype=dtype, requires_grad=True)]


@pytest.mark.parametrize("selected", [False, True])
def test_equals_product_then_norm(operator: Operator, selected: bool) -> None:
    if selected:
        operator = operator.select(torch.arange(0, 640, 3))
    source = torch.randn(640, 12, requires_grad=True)
    arguments = settings(12)
    fused = product_norm_activation(Product(operator, source), *arguments, 1e-5)
    apart = norm_activation(operator @ source, *arguments, 1e-5)
    gradient = torch.randn_like(fused[0])
    for one, two in zip(fused, apart, strict=True):
        assert torch.allclose(one, two, atol=1e-6)
    ours, theirs = (torch.autograd.grad(out[0], [source, *arguments], gradient) for out in (fused, apart))
    for one, two in zip(ours, theirs, strict=True):
        assert torch.allclose(one, two, atol=1e-5)


def test_without_gradients_the_result_is_the_same(operator: Operator) -> None:
    source, arguments = torch.randn(640, 5), settings(5)
    expected = product_norm_activation(Product(operator, source), *arguments, 1e-5)[0]
    with torch.no_grad():
        found = product_norm_activation(Product(operator, source), *arguments, 1e-5)[0]
    assert torch.equal(found, expected)


def test_a_column_block_of_a_wider_matrix_is_read_in_place(operator: Operator) -> None:
    wide, arguments = torch.randn(640, 9), settings(4)
    found = product_norm_activation(Product(operator, wide[:, 2:6]), *arguments, 1e-5)[0]
    expected = product_norm_activation(Product(operator, wide[:, 2:6].contiguous()), *arguments, 1e-5)[0]
    assert torch.equal(found, expected)


def test_threads_do_not_change_a_bit(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads_module, "SMALL_WORK", 0)
    source, arguments, results = torch.randn(640, 16), settings(16), []
    before = torch.get_num_threads()
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            results.append(product_norm_activation(Product(operator, source), *arguments, 1e-5)[0])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(each, results[0]) for each in results[1:])
    assert np.isfinite(results[0].detach().numpy()).all()
