"""Bias and activation without a norm: the fused operation against torch's own."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from imgcl._core.fused.bias_activation import PReLU, bias_activation
from imgcl._core.sparse import threads as threads_module
from imgcl.encoders.base import Activation, make_activation
from imgcl.encoders.finish import Finish


@pytest.mark.parametrize("activation", ["none", "relu", "prelu", "rrelu", "elu"])
@pytest.mark.parametrize("rows", [0, 1, 700])
def test_finish_without_norm_equals_torch(activation: Activation, rows: int) -> None:
    finish = Finish(5, "none", activation)
    nn.init.normal_(finish.bias)
    hidden = torch.randn(rows, 5, requires_grad=True)
    out, expected = finish(hidden), make_activation(activation)(hidden + finish.bias)
    assert torch.allclose(out, expected, atol=1e-6)
    gradient = torch.randn_like(out)
    ours = torch.autograd.grad(out, [hidden, finish.bias], gradient)
    theirs = torch.autograd.grad(expected, [hidden, finish.bias], gradient)
    for a, b in zip(ours, theirs, strict=True):
        assert torch.allclose(a, b, atol=1e-4)


@pytest.mark.parametrize("below", [0.25, 1.0])
def test_gradients_of_all_three_arguments(below: float) -> None:
    hidden = torch.randn(9, 3, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(3, dtype=torch.float64, requires_grad=True)
    slope = torch.tensor([below], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(bias_activation, (hidden, bias, slope))


def test_prelu_equals_torchs_with_its_slope_and_its_gradient() -> None:
    module, rows = PReLU(init=0.1), torch.randn(300, 4)
    out = module(rows)
    assert torch.allclose(out, functional.prelu(rows, torch.tensor([0.1])))
    out.sum().backward()
    assert module.weight.grad is not None
    assert module.weight.grad.item() == pytest.approx(rows.clamp(max=0).sum().item(), rel=1e-5)
    assert torch.allclose(module(rows[0]), functional.prelu(rows[0], torch.tensor([0.1])))  # one row: torch's own


def test_a_bias_alone_hands_its_gradient_on_without_a_copy() -> None:
    hidden, bias = torch.randn(600, 3, requires_grad=True), torch.zeros(3, requires_grad=True)
    gradient = torch.full((600, 3), 0.5)
    passed, summed = torch.autograd.grad(bias_activation(hidden, bias, torch.ones(1)), [hidden, bias], gradient)
    assert passed.data_ptr() == gradient.data_ptr()
    assert summed.tolist() == [300.0] * 3


@pytest.mark.parametrize("below", [1 / 3, 1.0])
def test_serial_and_parallel_forms_agree_bit_for_bit(below: float, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden, bias, slope = (
        torch.randn(1000, 6, requires_grad=True),
        torch.randn(6, requires_grad=True),
        torch.tensor([below]),
    )
    gradient, results = torch.randn(1000, 6), []
    threads = torch.get_num_threads()
    try:
        for small, count in ((1 << 60, 1), (0, 2)):
            monkeypatch.setattr(threads_module, "SMALL_WORK", small)
            torch.set_num_threads(count)
            out = bias_activation(hidden, bias, slope)
            results.append([out, *torch.autograd.grad(out, [hidden, bias], gradient)])
    finally:
        torch.set_num_threads(threads)
    for one, two in zip(*results, strict=True):
        assert torch.equal(one, two)
