"""Linear-PReLU-Linear in blocks: against torch's own layers."""

import pytest
import torch
from torch import nn

from imgcl.fused.perceptron import BLOCK, perceptron


def parts(dtype: torch.dtype = torch.float32) -> tuple[nn.Linear, nn.PReLU, nn.Linear]:
    torch.manual_seed(0)
    return nn.Linear(3, 8, dtype=dtype), nn.PReLU(dtype=dtype), nn.Linear(8, 2, dtype=dtype)


@pytest.mark.parametrize("rows", [0, 1, 7, BLOCK, 2 * BLOCK + 5])
@pytest.mark.parametrize("slope", [0.25, 0.0, -0.5])
def test_equals_torch_with_all_gradients(rows: int, slope: float) -> None:
    first, activation, last = parts(torch.float64)
    nn.init.constant_(activation.weight, slope)
    x = torch.randn(rows, 3, dtype=torch.float64, requires_grad=True)
    out = perceptron(x, first.weight, first.bias, activation.weight, last.weight, last.bias)
    expected = last(activation(first(x)))
    assert torch.allclose(out, expected)
    arguments = [x, *first.parameters(), *activation.parameters(), *last.parameters()]
    gradient = torch.randn_like(out)
    ours, theirs = (torch.autograd.grad(each, arguments, gradient) for each in (out, expected))
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == b.shape
        assert torch.allclose(a, b)


def test_nothing_of_the_forward_is_changed_by_the_backward() -> None:
    first, activation, last = parts()
    x = torch.randn(5, 3, requires_grad=True)
    out = perceptron(x, first.weight, first.bias, activation.weight, last.weight, last.bias)
    one = torch.autograd.grad(out.sum(), [x], retain_graph=True)[0]
    two = torch.autograd.grad(out.sum(), [x])[0]
    assert torch.equal(one, two)
