"""Norm and activation after a layer: the fused operation against torch's modules."""

import pytest
import torch
from torch import nn

from imgcl._core.fused.norm_activation import norm_activation
from imgcl._core.sparse import threads as threads_module
from imgcl.encoders.base import Activation
from imgcl.encoders.finish import Finish


def twins(activation: Activation, norm_first: bool, width: int = 5) -> tuple[Finish, nn.Sequential]:
    finish = Finish(width, "batch", activation, momentum=0.3, norm_first=norm_first)
    for weight in finish.parameters():
        nn.init.normal_(weight)
    norm = nn.BatchNorm1d(width, momentum=0.3)
    norm.load_state_dict(finish.norm.state_dict())
    parts = [norm, finish.activation] if norm_first else [finish.activation, norm]
    return finish, nn.Sequential(*parts)


@pytest.mark.parametrize("activation", ["none", "relu", "prelu", "rrelu", "elu", "selu"])
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("rows", [2, 700])
def test_equals_torch_in_training_and_evaluation(activation: Activation, norm_first: bool, rows: int) -> None:
    finish, reference = twins(activation, norm_first)
    hidden = (3 * torch.randn(rows, 5) + 10).requires_grad_()
    out = finish(hidden)
    expected = reference(hidden + finish.bias)
    assert torch.allclose(out, expected, atol=2e-5)
    gradient = torch.randn_like(out)
    parameters = [hidden, finish.norm.weight, finish.norm.bias]
    ours = torch.autograd.grad(out, parameters, gradient, retain_graph=True)
    norm = next(part for part in reference if isinstance(part, nn.BatchNorm1d))
    theirs = torch.autograd.grad(expected, [hidden, norm.weight, norm.bias], gradient)
    for a, b in zip(ours, theirs, strict=True):
        assert torch.allclose(a, b, atol=1e-3, rtol=1e-3)
    assert torch.allclose(finish.norm.running_mean, norm.running_mean, atol=1e-5)
    assert torch.allclose(finish.norm.running_var, norm.running_var, rtol=1e-4)
    finish.eval()
    reference.eval()
    assert torch.allclose(finish(hidden), reference(hidden + finish.bias), atol=1e-5)


def test_gradients_of_the_fused_operation() -> None:
    torch.manual_seed(0)
    hidden = torch.randn(9, 3, dtype=torch.float64, requires_grad=True)
    gain, shift = (torch.randn(3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    slope = torch.tensor([0.25], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *a: norm_activation(*a, 1e-5)[0], (hidden, gain, shift, slope))


def test_columns_far_from_zero_keep_their_variance() -> None:
    hidden = torch.randn(5000, 4) + 3000
    _, mean, variance = norm_activation(hidden, torch.ones(4), torch.zeros(4), torch.ones(1), 0.0)
    exact = hidden.double()
    assert torch.allclose(mean.double(), exact.mean(0), rtol=1e-6)
    assert torch.allclose(variance.double(), exact.var(0, unbiased=False), rtol=1e-3)


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads_module, "SMALL_WORK", 0)
    hidden, gradient = torch.randn(1000, 6, requires_grad=True), torch.randn(1000, 6)
    constants = [torch.ones(6, requires_grad=True), torch.zeros(6, requires_grad=True)]
    results = []
    for threads in (1, 3):
        monkeypatch.setattr(torch, "get_num_threads", lambda count=threads: count)
        out, *moments = norm_activation(hidden, *constants, torch.tensor([0.2]), 1e-5)
        results.append([out, *moments, *torch.autograd.grad(out, [hidden, *constants], gradient)])
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


@pytest.mark.parametrize("width", [1, 6, 40])
def test_in_place_gives_the_same_bits(width: int) -> None:
    hidden, gain, shift = torch.randn(300, width), torch.randn(width), torch.randn(width)
    expected = norm_activation(hidden, gain, shift, torch.tensor([0.2]), 1e-5)
    found = norm_activation(hidden, gain, shift, torch.tensor([0.2]), 1e-5, in_place=True)
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))
    assert found[0].data_ptr() == hidden.data_ptr()


def test_only_rows_without_a_gradient_are_overwritten() -> None:
    finish, hidden = Finish(3, "batch", "prelu"), torch.randn(8, 3)
    before = hidden.clone()
    out = finish(hidden)
    assert torch.equal(hidden, before)
    with torch.no_grad():
        assert torch.equal(finish(hidden), out)


def test_one_row_in_training_is_an_error_of_torch() -> None:
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        Finish(3, "batch", "prelu")(torch.randn(1, 3))
