import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from imgcl._core.errors import InputError
from imgcl.losses import class_info_nce, info_nce


def views(n: int, d: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    u = torch.randn(n, d, generator=generator, dtype=dtype)
    return u, u + torch.randn(n, d, generator=generator, dtype=dtype)


def naive(u: Tensor, v: Tensor, classes: Tensor, negatives: str, tau: float) -> Tensor:
    """The loss as it is written down, with the whole matrix."""
    n = len(u)
    both = functional.normalize(torch.cat([u, v]))
    e = torch.exp(both @ both.T / tau)
    node, of = torch.arange(n).repeat(2), classes.repeat(2)
    if negatives == "other":
        weights = (of[:, None] != of).to(e)
    else:
        counts = torch.bincount(classes)
        weights = (n / ((counts > 0).sum() * counts[of])).to(e).expand(2 * n, -1) * (node[:, None] != node)
    positive = e[torch.arange(2 * n), (torch.arange(2 * n) + n) % (2 * n)]
    return -torch.log(positive / (positive + (weights * e).sum(dim=1))).mean()


def test_other_classes_only_by_hand() -> None:
    """Rows e1, e1 of class 0 and e2 of class 1, tau 1: a row of class 0 has two negatives at cosine 0, e2 has four."""
    u = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    first, last = math.log(math.e + 2) - 1, math.log(math.e + 4) - 1
    loss = class_info_nce(u, u, torch.tensor([0, 0, 1]), "other", tau=1.0)
    assert float(loss) == pytest.approx((2 * first + last) / 3, rel=1e-6)


def test_normalised_denominators_by_hand() -> None:
    """The same rows: those of class 0 weigh 3 / (2 * 2), the one of class 1 weighs 3 / (2 * 1)."""
    u = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    e = math.e
    first = math.log(e + 2 * 0.75 * e + 2 * 1.5) - 1  # the twin in both views, then e2 in both
    last = math.log(e + 4 * 0.75) - 1
    loss = class_info_nce(u, u, torch.tensor([0, 0, 1]), "normalised", tau=1.0)
    assert float(loss) == pytest.approx((2 * first + last) / 3, rel=1e-6)


def test_classes_of_one_row_are_ordinary_info_nce() -> None:
    u, v = views(9, 4)
    expected = float(info_nce(u, v, 0.4))
    assert float(class_info_nce(u, v, torch.arange(9), "other", 0.4)) == pytest.approx(expected)
    assert float(class_info_nce(u, v, torch.arange(9), "normalised", 0.4)) == pytest.approx(expected)


@pytest.mark.parametrize("negatives", ["other", "normalised"])
def test_equals_the_naive_formula_across_block_borders(negatives) -> None:
    u, v = (z.float() for z in views(700, 8))
    classes = torch.arange(700) % 7 // 3  # sizes 3 : 3 : 1
    expected = float(naive(u.double(), v.double(), classes, negatives, 0.3))
    assert float(class_info_nce(u, v, classes, negatives, 0.3)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("negatives", ["other", "normalised"])
def test_gradcheck(negatives) -> None:
    u, v = (z.requires_grad_() for z in views(7, 3))
    classes = torch.tensor([0, 0, 0, 2, 2, 3, 0])
    assert torch.autograd.gradcheck(lambda a, b: class_info_nce(a, b, classes, negatives, 0.4), (u, v))


def test_a_smaller_temperature_is_refused() -> None:
    u, v = views(3, 2)
    with pytest.raises(InputError, match=r"tau is 0.001.*at least"):
        class_info_nce(u, v, torch.zeros(3, dtype=torch.long), "other", 0.001)
