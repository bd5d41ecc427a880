import pytest
import torch

from imgcl.losses import cca_ssg

SQUARE = torch.tensor([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])


def test_invariance_by_hand() -> None:
    # columns of length 1: each of the 8 entries is +-1/2 and changes its sign, (1)^2 each
    assert float(cca_ssg(SQUARE, -SQUARE, decorrelation=0.0)) == pytest.approx(8.0)


def test_decorrelation_by_hand() -> None:
    same = SQUARE[:, :1].expand(4, 2)  # two equal columns: two off-diagonal ones per view
    assert float(cca_ssg(same, same, decorrelation=0.5)) == pytest.approx(0.5 * (2 + 2))


def test_distance_is_twice_the_missing_correlation() -> None:
    u, v = torch.randn(2, 40, 3, dtype=torch.float64)
    c = torch.corrcoef(torch.cat([u, v], dim=1).T)[:3, 3:]
    assert float(cca_ssg(u, v, decorrelation=0.0)) == pytest.approx(float(2 * (1 - c.diagonal()).sum()))


def test_gradcheck() -> None:
    u, v = (torch.randn(6, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(lambda a, b: cca_ssg(a, b, 0.1), (u, v))
