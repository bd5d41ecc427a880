import math

import pytest
import torch

from imgcl.losses import scaled_cosine, scaled_cosine_of_linear


def test_by_hand() -> None:
    x = torch.tensor([[3.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    x_hat = torch.tensor([[1.0, 0.0], [0.0, 5.0], [0.0, -1.0]])
    # cosines 1, 1/sqrt 2, -1: errors 0, 1 - 1/sqrt 2, 2
    error = 1 - 1 / math.sqrt(2)
    for gamma in (1.0, 2.0, 3.0, 1.5):
        assert float(scaled_cosine(x_hat, x, gamma)) == pytest.approx((error**gamma + 2**gamma) / 3, rel=1e-6)


def test_lengths_do_not_matter() -> None:
    x, x_hat = torch.randn(5, 4), torch.randn(5, 4)
    assert float(scaled_cosine(7 * x_hat, 0.1 * x)) == pytest.approx(float(scaled_cosine(x_hat, x)), rel=1e-5)


@pytest.mark.parametrize("gamma", [1.0, 1.5, 2.0, 3.0])
def test_rounding_above_a_cosine_of_one_is_no_error(gamma: float) -> None:
    x = torch.rand(1000, 3)
    x_hat = (2 * x).requires_grad_()
    loss = scaled_cosine(x_hat, x, gamma)
    loss.backward()
    assert float(loss.detach()) == pytest.approx(0, abs=1e-6)
    assert x_hat.grad is not None
    assert torch.isfinite(x_hat.grad).all()


@pytest.mark.parametrize("loss", ["dense", "linear"])
def test_a_row_of_zeros_has_error_one_and_no_gradient(loss: str) -> None:
    codes, weight, x = torch.ones(1, 2, requires_grad=True), torch.rand(3, 2), torch.zeros(1, 3)
    if loss == "dense":
        error = scaled_cosine(codes @ weight.T, x)
    else:
        error = scaled_cosine_of_linear(codes, weight, x @ weight, x.norm(dim=1), 2.0).mean()
    error.backward()
    assert float(error.detach()) == 1
    assert codes.grad is not None
    assert (codes.grad == 0).all()


def test_codes_of_zeros_have_finite_gradients() -> None:
    for features in (2, 5):
        codes, weight, x = torch.zeros(1, 3, requires_grad=True), torch.rand(features, 3), torch.rand(1, features)
        scaled_cosine_of_linear(codes, weight, x @ weight, x.norm(dim=1), 2.0).sum().backward()
        assert codes.grad is not None
        assert torch.isfinite(codes.grad).all()


@pytest.mark.parametrize("features", [3, 4, 40])
def test_a_linear_reconstruction_need_not_be_formed(features: int) -> None:
    """The same value and the same gradients as from the reconstruction itself, narrow or wide."""
    x = torch.randn(6, features, dtype=torch.float64)
    start = torch.randn(6, 4, dtype=torch.float64), torch.randn(features, 4, dtype=torch.float64)
    found = []
    for formed in (True, False):
        codes, weight = (tensor.clone().requires_grad_() for tensor in start)
        loss = (
            scaled_cosine(codes @ weight.T, x, 3.0)
            if formed
            else scaled_cosine_of_linear(codes, weight, x @ weight, x.norm(dim=1), 3.0).mean()
        )
        loss.backward()
        found.append((loss.detach(), codes.grad, weight.grad))
    for formed_value, value in zip(*found, strict=True):
        torch.testing.assert_close(value, formed_value)


def test_gradcheck() -> None:
    x_hat = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    x = torch.randn(4, 3, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda a: scaled_cosine(a, x, 3.0), (x_hat,))
