import math

import pytest
import torch
from torch import Tensor

from imgcl.losses import prototype_contrast
from imgcl.losses.prototypes import sinkhorn


def views(n: int, d: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    u = torch.randn(n, d, generator=generator, dtype=torch.float64)
    return u, u + torch.randn(n, d, generator=generator, dtype=torch.float64)


def test_one_round_of_sinkhorn_by_hand() -> None:
    """exp(scores) = [[1, 1], [3, 1]]: columns give [[1/4, 1/2], [3/4, 1/2]], rows then [[1/3, 2/3], [3/5, 2/5]]."""
    found = sinkhorn(torch.tensor([[0.0, 0.0], [math.log(3.0), 0.0]]), rounds=1)
    assert found.flatten().tolist() == pytest.approx([1 / 3, 2 / 3, 3 / 5, 2 / 5])


def test_assignments_are_balanced() -> None:
    """Nine rows lean to the first column and one to the second; each column still gets half of the rows."""
    scores = torch.tensor([[1.0, 0.0]] * 9 + [[0.0, 1.0]])
    found = sinkhorn(scores, rounds=50)
    assert found.sum(dim=1).tolist() == pytest.approx([1.0] * 10, rel=1e-5)
    assert found.sum(dim=0).tolist() == pytest.approx([5.0, 5.0], rel=1e-3)
    assert float(found[9, 1]) > float(found[0, 1])


def test_two_opposite_rows_by_hand() -> None:
    """Prototypes are the rows themselves: assignments are sharp, softmax at tau = 1 over cosines 1 and -1."""
    u = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    expected = math.log(math.e + 1 / math.e) - 1
    assert float(prototype_contrast(u, u, torch.tensor([0, 4]), tau=1.0)) == pytest.approx(expected, rel=1e-4)


def test_the_gradient_reaches_the_rows_only_through_the_softmax() -> None:
    u, v = (z.requires_grad_() for z in views(6, 3))
    loss = prototype_contrast(u, v, torch.tensor([0, 0, 0, 1, 1, 2]))
    loss.backward()
    assert u.grad is not None
    assert (u.grad.abs().sum(dim=1) > 0).all()
    assert torch.isfinite(u.grad).all()
