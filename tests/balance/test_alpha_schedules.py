from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imgcl._core.errors import InputError
from imgcl.balance.schedules import SCHEDULES, schedule


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("linear", [1.0, 0.75, 0.5, 0.0]),
        ("linear:0.5", [1.0, 0.5, 0.0, 0.0]),
        ("cosine", [1.0, 0.8535534, 0.5, 0.0]),
        ("cosine:0.5", [1.0, 0.5, 0.0, 0.0]),
        ("step", [1.0, 1.0, 0.0, 0.0]),
        ("step:0.25", [1.0, 0.0, 0.0, 0.0]),
        ("constant", [0.0, 0.0, 0.0, 0.0]),
        ("constant:0.3", [0.3, 0.3, 0.3, 0.3]),
    ],
)
def test_values_at_the_quarters(name: str, values: list[float]) -> None:
    alpha = schedule(name)
    assert [alpha(progress) for progress in (0.0, 0.25, 0.5, 1.0)] == pytest.approx(values, abs=1e-7)


@given(name=st.sampled_from(sorted(SCHEDULES)), early=st.floats(0, 1), late=st.floats(0, 1))
def test_alpha_never_rises_and_stays_between_zero_and_one(name: str, early: float, late: float) -> None:
    early, late = sorted((early, late))
    alpha = schedule(name)
    assert 1 >= alpha(early) >= alpha(late) >= 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("slow", "unknown alpha schedule 'slow'"),
        ("step:soon", "'soon' is not a number"),
        ("constant:1.5", r"must be in \[0, 1\]"),
        ("linear:0", r"must be in \(0, 1\]"),
    ],
)
def test_bad_names_are_refused(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        schedule(name)
