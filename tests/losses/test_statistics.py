import pytest
import torch
from torch import Tensor

from imgcl.losses import Statistics, barlow_twins, cca_ssg, vicreg
from imgcl.losses.statistics import class_balanced

LOSSES = [barlow_twins, cca_ssg, vicreg]


def views(n: int, d: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    u = torch.randn(n, d, generator=generator, dtype=torch.float64)
    return u, u + torch.randn(n, d, generator=generator, dtype=torch.float64)


def test_weighted_moments_by_hand() -> None:
    """Weights 1/4, 1/4, 1/2 on 0, 4, 6: mean 4, variance 4 + 0 + 2 = 6."""
    z = torch.tensor([[0.0], [4.0], [6.0]])
    statistics = Statistics(torch.tensor([0.25, 0.25, 0.5]))
    assert statistics.centre(z).flatten().tolist() == pytest.approx([-2.0, 0.0, 2 * 0.5**0.5])
    assert statistics.centre(z).square().sum().item() == pytest.approx(6.0)
    assert statistics.standardise(z).square().sum().item() == pytest.approx(1.0)


def test_every_class_counts_alike_by_hand() -> None:
    """Three rows at -1 and one at 3: with classes alike the mean is 1, not 0, and the variance 4, not 3."""
    z, classes = torch.tensor([[-1.0], [-1.0], [-1.0], [3.0]]), torch.tensor([0, 0, 0, 1])
    weights = class_balanced(classes)
    assert weights.tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])
    assert (weights @ z).item() == pytest.approx(1.0)
    assert Statistics(weights).centre(z).square().sum().item() == pytest.approx(4.0)
    inside = class_balanced(torch.tensor([0, 0, 1]), torch.tensor([1.0, 3.0, 5.0]))
    assert inside.tolist() == pytest.approx([0.125, 0.375, 0.5])


def test_statistics_within_classes_by_hand() -> None:
    """Classes {0, 2} and {10, 14}: every row lies one standard deviation from the mean of its own class."""
    z, classes = torch.tensor([[0.0], [2.0], [10.0], [14.0]], dtype=torch.float64), torch.tensor([0, 0, 1, 1])
    standardised = Statistics(torch.full((4,), 0.25, dtype=torch.float64), classes).standardise(z)
    assert standardised.flatten().tolist() == pytest.approx([-0.5, 0.5, -0.5, 0.5], rel=1e-4)


def test_barlow_twins_does_not_see_what_lies_between_classes() -> None:
    """Two columns that only the class means correlate: uncorrelated within the classes, so the loss is 0."""
    base = torch.tensor([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]], dtype=torch.float64)
    u, classes = torch.cat([base, base + 9.0]), torch.tensor([0] * 4 + [1] * 4)
    within = Statistics(class_balanced(classes).double(), classes)
    assert float(barlow_twins(u, u, statistics=within)) == pytest.approx(0.0, abs=1e-8)
    assert float(barlow_twins(u, u)) > 0.5


@pytest.mark.parametrize("loss", LOSSES)
def test_equal_weights_change_nothing(loss) -> None:
    u, v = views(400, 5)
    alike = Statistics(torch.full((400,), 1 / 400, dtype=torch.float64))
    rel = 1e-2 if loss is vicreg else 1e-6  # VICReg's own variances are over n - 1
    assert float(loss(u, v, statistics=alike)) == pytest.approx(float(loss(u, v)), rel=rel)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_weight_counts_like_copies_of_the_row(loss) -> None:
    u, v = views(6, 3)
    times = torch.tensor([1, 2, 1, 4, 1, 1])
    copies = [z.repeat_interleave(times, dim=0) for z in (u, v)]
    weighted = loss(u, v, statistics=Statistics(times.double() / times.sum()))
    alike = Statistics(torch.full((10,), 0.1, dtype=torch.float64))
    assert float(weighted) == pytest.approx(float(loss(*copies, statistics=alike)), rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("within", [False, True])
def test_gradcheck(loss, within: bool) -> None:
    u, v = (z.requires_grad_() for z in views(8, 2))
    classes = torch.tensor([0, 0, 0, 0, 0, 2, 2, 2])
    statistics = Statistics(class_balanced(classes).double(), classes if within else None)
    assert torch.autograd.gradcheck(lambda a, b: loss(a, b, statistics=statistics), (u, v))


def test_a_class_of_one_row_is_harmless() -> None:
    u, v = (z.float().requires_grad_() for z in views(5, 2))
    classes = torch.tensor([0, 0, 0, 0, 1])
    loss = barlow_twins(u, v, statistics=Statistics(class_balanced(classes), classes))
    loss.backward()
    assert torch.isfinite(loss)
    assert u.grad is not None
    assert torch.isfinite(u.grad).all()
