import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from imgcl._core.errors import InputError
from imgcl.losses import info_nce


def naive(u: Tensor, v: Tensor, tau: float) -> Tensor:
    """GRACE's loss as it is written down, with four N x N matrices."""
    a, b = functional.normalize(u), functional.normalize(v)

    def direction(x: Tensor, y: Tensor) -> Tensor:
        own, other = torch.exp(x @ x.T / tau), torch.exp(x @ y.T / tau)
        return -torch.log(other.diag() / (own.sum(1) + other.sum(1) - own.diag()))

    return ((direction(a, b) + direction(b, a)) / 2).mean()


def views(n: int, d: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    u = torch.randn(n, d, generator=generator, dtype=dtype)
    return u, u + torch.randn(n, d, generator=generator, dtype=dtype)


def test_two_rows_by_hand() -> None:
    """u = e1, e2 and v = e1, -e2 at tau = 1; every row's own view, two others, worked out with a pencil."""
    u = torch.tensor([[3.0, 0.0], [0.0, 0.5]])
    v = torch.tensor([[1.0, 0.0], [0.0, -2.0]])
    e = math.e
    first = -math.log(e / (e + 1 + 1))  # row 0: inter e (itself) and 1, intra 1; the same from both sides
    second = -math.log(1 / e / (1 / e + 1 + 1))  # row 1: its views are opposite
    assert float(info_nce(u, v, tau=1.0)) == pytest.approx((first + second) / 2, rel=1e-6)


def test_temperature_divides_the_cosine() -> None:
    u = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    expected = math.log(math.exp(2) + 2) - 2
    assert float(info_nce(u, u, tau=0.5)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("n", [1, 2, 5, 1023, 1024, 1500])
def test_equals_the_naive_formula_across_block_borders(n: int) -> None:
    u, v = (z.float() for z in views(n, 16))
    expected = naive(u.double(), v.double(), 0.3)
    assert float(info_nce(u, v, 0.3)) == pytest.approx(float(expected), rel=1e-5, abs=1e-6)


def test_gradients_equal_those_of_the_naive_formula() -> None:
    u, v = (z.float().requires_grad_() for z in views(1100, 24))
    ours = torch.autograd.grad(info_nce(u, v, 0.2), (u, v))
    theirs = torch.autograd.grad(naive(u, v, 0.2), (u, v))
    for mine, other in zip(ours, theirs, strict=True):
        assert float((mine - other).norm() / other.norm()) < 1e-5


def test_gradcheck() -> None:
    u, v = (z.requires_grad_() for z in views(7, 3))
    assert torch.autograd.gradcheck(lambda a, b: info_nce(a, b, 0.4), (u, v))


def test_the_smallest_temperature_stays_finite() -> None:
    u, v = (z.float().requires_grad_() for z in views(300, 4))
    loss = info_nce(u, -v, 1 / 64)
    loss.backward()
    assert loss.item() == pytest.approx(float(naive(u.detach().double(), -v.detach().double(), 1 / 64)), rel=1e-5)
    assert u.grad is not None
    assert torch.isfinite(u.grad).all()


def test_a_smaller_temperature_is_refused() -> None:
    u, v = views(3, 2)
    with pytest.raises(InputError, match=r"tau is 0.001.*at least"):
        info_nce(u, v, 0.001)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 40), st.integers(0, 10_000), st.sampled_from([0.1, 0.5, 1.0]))
def test_exchange_scale_and_order_do_not_matter(n: int, seed: int, tau: float) -> None:
    u, v = views(n, 5, seed)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    expected = float(info_nce(u, v, tau))
    assert float(info_nce(v, u, tau)) == pytest.approx(expected)
    assert float(info_nce(3 * u, 0.2 * v, tau)) == pytest.approx(expected)
    assert float(info_nce(u[order], v[order], tau)) == pytest.approx(expected)


def test_memory_stays_far_below_the_full_matrix() -> None:
    from torch.profiler import ProfilerActivity, profile

    u, v = (z.float().requires_grad_() for z in views(3000, 8))
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        info_nce(u, v).backward()
    largest = max(event.self_cpu_memory_usage for event in record.key_averages())
    assert largest < 3000 * 3000 * 4  # one of the four matrices of the naive formula
