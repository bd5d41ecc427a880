import pytest
import torch

from imgcl.losses import vicreg

NO = {"invariance": 0.0, "variance": 0.0, "covariance": 0.0}
U = torch.tensor([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]], dtype=torch.float64)  # variances 1 and 4, covariance 2


def test_invariance_by_hand() -> None:
    v = U + torch.tensor([1.0, 3.0])
    assert float(vicreg(U, v, **{**NO, "invariance": 2.0})) == pytest.approx(2 * (1 + 9) / 2)


def test_variance_by_hand() -> None:
    tenth = U / 10  # standard deviations 0.1 and 0.2; those of U itself reach the margin
    expected = 3 * ((0.9 + 0.8) / 2) / 2
    assert float(vicreg(tenth, U, **{**NO, "variance": 3.0}, eps=0.0)) == pytest.approx(expected)


def test_covariance_by_hand() -> None:
    # each view: two off-diagonal covariances of 2, squared and summed, over d = 2
    assert float(vicreg(U, U, **{**NO, "covariance": 0.5})) == pytest.approx(0.5 * (4 + 4))


def test_a_collapsed_embedding_is_penalised_and_its_gradient_is_finite() -> None:
    u = torch.ones(5, 3, requires_grad=True)
    loss = vicreg(u, u.detach())
    loss.backward()
    assert loss.item() == pytest.approx(25 * 0.99)
    assert torch.isfinite(u.grad).all()


def test_gradcheck() -> None:
    u, v = (0.3 * torch.randn(6, 3, dtype=torch.float64) for _ in range(2))
    assert torch.autograd.gradcheck(vicreg, (u.requires_grad_(), v.requires_grad_()))
