import pytest
import torch

from imgcl.losses import bootstrap_cosine


def test_by_hand() -> None:
    q = torch.tensor([[3.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    z = torch.tensor([[1.0, 0.0], [0.0, 5.0], [0.0, -1.0]])
    # cosines 1, 1/sqrt 2, -1: their mean is what comes off 1
    assert float(bootstrap_cosine(q, z)) == pytest.approx(1 - 0.5**0.5 / 3, rel=1e-6)


def test_it_is_minimal_where_the_directions_agree() -> None:
    """The sign trap: minimising the loss must align the rows, not oppose them."""
    z = torch.tensor([[1.0, 2.0]])
    assert float(bootstrap_cosine(2 * z, z)) == pytest.approx(0, abs=1e-6)
    assert float(bootstrap_cosine(-z, z)) == pytest.approx(2)


def test_the_target_receives_no_gradient() -> None:
    q, z = torch.randn(4, 3, requires_grad=True), torch.randn(4, 3, requires_grad=True)
    bootstrap_cosine(q, z).backward()
    assert q.grad is not None
    assert z.grad is None


def test_gradcheck() -> None:
    q = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    z = torch.randn(4, 3, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda a: bootstrap_cosine(a, z), (q,))
