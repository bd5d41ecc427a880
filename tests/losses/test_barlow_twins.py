import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from imgcl.losses import barlow_twins
from imgcl.losses.barlow_twins import standardise

SQUARE = torch.tensor([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])  # two uncorrelated columns


def test_exchanged_columns_by_hand() -> None:
    # C = [[0, 1], [1, 0]]: both diagonal terms 1, both off-diagonal terms 1 with lambda = 1/2
    assert float(barlow_twins(SQUARE, SQUARE.flip(1))) == pytest.approx(3.0)
    assert float(barlow_twins(SQUARE, SQUARE.flip(1), off_diagonal=0.1)) == pytest.approx(2.2)


def test_opposite_views_by_hand() -> None:
    assert float(barlow_twins(SQUARE, -SQUARE)) == pytest.approx(8.0)  # (1 + 1)^2 twice


def test_against_numpy_correlations() -> None:
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(30, 4)), rng.normal(size=(30, 4))
    c = np.corrcoef(u, v, rowvar=False)[:4, 4:]
    expected = ((1 - np.diag(c)) ** 2).sum() + 0.25 * ((c**2).sum() - (np.diag(c) ** 2).sum())
    assert float(barlow_twins(torch.from_numpy(u), torch.from_numpy(v))) == pytest.approx(expected, rel=1e-9)


def test_a_constant_column_stays_finite() -> None:
    u = torch.cat([SQUARE, torch.ones(4, 1)], dim=1).requires_grad_()
    loss = barlow_twins(u, u.detach())
    loss.backward()
    assert loss.item() == pytest.approx(1.0)  # its correlation is 0, not 1
    assert torch.isfinite(u.grad).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.floats(0.1, 10), st.floats(-5, 5))
def test_shift_and_scale_of_columns_do_not_matter(seed: int, scale: float, shift: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    u, v = torch.randn(2, 12, 3, generator=generator, dtype=torch.float64)
    assert float(barlow_twins(scale * u + shift, v)) == pytest.approx(float(barlow_twins(u, v)), rel=1e-6)


def test_standardised_columns() -> None:
    z = standardise(torch.tensor([[1.0], [3.0], [5.0]], dtype=torch.float64))
    assert z[:, 0].tolist() == pytest.approx([-(1.5**0.5), 0, 1.5**0.5])
