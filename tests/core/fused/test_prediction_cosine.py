"""BGRL's predictor with its loss, in blocks: against torch's own layers and cosine."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from imgcl._core.fused.prediction import BLOCK, prediction_cosine


def parts(slope: float = 0.25) -> tuple[nn.Linear, nn.PReLU, nn.Linear]:
    torch.manual_seed(0)
    activation = nn.PReLU(dtype=torch.float64)
    nn.init.constant_(activation.weight, slope)
    return nn.Linear(3, 8, dtype=torch.float64), activation, nn.Linear(8, 2, dtype=torch.float64)


def fused(rows: Tensor, target: Tensor, first: nn.Linear, activation: nn.PReLU, last: nn.Linear) -> Tensor:
    return prediction_cosine(rows, target, first.weight, first.bias, activation.weight, last.weight, last.bias)


def plain(rows: Tensor, target: Tensor, first: nn.Linear, activation: nn.PReLU, last: nn.Linear) -> Tensor:
    return 1 - functional.cosine_similarity(last(activation(first(rows))), target).mean()


@pytest.mark.parametrize("n", [1, 7, BLOCK, 2 * BLOCK + 5])
@pytest.mark.parametrize("slope", [0.25, 0.0, -0.5])
@pytest.mark.parametrize("factor", [1.0, -2.5])
def test_equals_torch_with_all_gradients(n: int, slope: float, factor: float) -> None:
    layers = parts(slope)
    rows = torch.randn(n, 3, dtype=torch.float64, requires_grad=True)
    target = torch.randn(n, 2, dtype=torch.float64)
    arguments = [rows, *(parameter for layer in layers for parameter in layer.parameters())]
    values = [factor * compute(rows, target, *layers) for compute in (fused, plain)]
    assert torch.allclose(*values)
    ours, theirs = (torch.autograd.grad(value, arguments) for value in values)
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == b.shape
        assert torch.allclose(a, b)


def test_the_target_receives_no_gradient() -> None:
    rows, target = (torch.randn(4, width, dtype=torch.float64, requires_grad=True) for width in (3, 2))
    fused(rows, target, *parts()).backward()
    assert target.grad is None


def test_a_second_backward_gives_the_same() -> None:
    rows, layers = torch.randn(5, 3, dtype=torch.float64, requires_grad=True), parts()
    loss = 3 * fused(rows, torch.ones(5, 2, dtype=torch.float64), *layers)
    one = torch.autograd.grad(loss, [rows], retain_graph=True)[0]
    two = torch.autograd.grad(loss, [rows])[0]
    assert torch.equal(one, two)


def test_without_gradient_the_value_is_the_same() -> None:
    rows, target, layers = torch.randn(9, 3, dtype=torch.float64), torch.randn(9, 2, dtype=torch.float64), parts()
    with torch.no_grad():
        assert torch.allclose(fused(rows, target, *layers), plain(rows, target, *layers))
