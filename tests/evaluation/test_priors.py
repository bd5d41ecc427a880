from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imgcl._core.errors import InputError
from imgcl.evaluation import Prior, estimate_prior, natural_prior, parse_prior, shift_prior

NAMES = ("banned", "ok")


def gaussians(n: int, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors at equal priors, and classes, of two unit Gaussians at -1 and +1."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    x = rng.standard_normal(n) + 2 * y - 1
    one = 1 / (1 + np.exp(-2 * x))
    return np.stack([1 - one, one], axis=1), y


def test_bayes_by_hand() -> None:
    # odds 0.8 : 0.2 at equal priors are 4 * (0.1 / 0.9) at priors 0.1 and 0.9
    moved = shift_prior([[0.8, 0.2]], [0.5, 0.5], [0.1, 0.9])
    assert moved[0].tolist() == pytest.approx([0.08 / 0.26, 0.18 / 0.26])
    assert shift_prior([[1.0, 0.0]], [0.5, 0.5], [0.0, 1.0]).tolist() == [[0.0, 1.0]]  # nothing is left of the row


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.lists(st.floats(0.001, 0.999), min_size=2, max_size=9))
def test_a_shift_keeps_the_order_and_can_be_undone(old: float, new: float, values: list[float]) -> None:
    p = np.stack([1 - np.array(values), values], axis=1)
    moved = shift_prior(p, [1 - old, old], [1 - new, new])
    assert (np.diff(moved[np.argsort(p[:, 1]), 1]) >= -1e-12).all()
    assert shift_prior(moved, [1 - new, new], [1 - old, old]) == pytest.approx(p, abs=1e-9)


def test_em_finds_the_prior_of_the_unlabelled() -> None:
    p, y = gaussians(20_000, share=0.1, seed=0)
    found = estimate_prior(p, [0.5, 0.5])
    assert found[1] == pytest.approx(y.mean(), abs=0.01)
    assert shift_prior(p, [0.5, 0.5], found)[:, 1].mean() == pytest.approx(found[1], abs=1e-5)  # a fixed point


def test_em_in_which_the_labels_have_a_weight_by_hand() -> None:
    p = [[0.75, 0.25]] * 10  # a little too low for a class with 30 % of the labels: EM alone lets it vanish
    assert estimate_prior(p, [0.7, 0.3])[1] < 1e-4
    share = estimate_prior(p, [0.7, 0.3], weight=0.1)[1]
    odds = share * (0.25 / 0.3) / ((1 - share) * (0.75 / 0.7))
    assert share == pytest.approx(0.9 * odds / (1 + odds) + 0.1 * 0.3, abs=1e-5)  # a fixed point
    assert estimate_prior(p, [0.7, 0.3], weight=1.0).tolist() == [0.7, 0.3]


@pytest.mark.parametrize("too_low", [1.0, 2.0, 4.0])
def test_a_rare_class_does_not_vanish_where_probabilities_are_too_low(too_low: float) -> None:
    p, y = gaussians(3_000, share=0.1, seed=2)
    odds = p[:, 1] / p[:, 0] / too_low  # as after a calibration on few labels
    off = np.stack([1 / (1 + odds), odds / (1 + odds)], axis=1)
    found = natural_prior(off, [50, 50])
    assert found.source == "estimated"
    assert found.shares[1] > y.mean() / 5
    assert found.shares[1] >= estimate_prior(off, [0.5, 0.5])[1]


def test_natural_keeps_the_shares_of_a_random_draw_and_corrects_a_biased_one() -> None:
    p, _ = gaussians(5_000, share=0.1, seed=1)
    biased = natural_prior(p, [50, 50])  # labels chosen half and half
    assert biased.source == "estimated"
    assert biased.shares[1] == pytest.approx(0.1, abs=0.02)
    drawn = natural_prior(shift_prior(p, [0.5, 0.5], [0.88, 0.12]), [88, 12])
    assert drawn == Prior((0.88, 0.12), "labels")
    assert natural_prior(np.empty((0, 2)), [88, 12]).source == "labels"  # nobody is left to be scored


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("balanced", (0.5, 0.5)),
        ("banned=0.02,ok=0.98", (0.02, 0.98)),
        ("ok=98%", (0.02, 0.98)),
        ({"banned": 0.3}, (0.3, 0.7)),
        ([0.2, 0.8], (0.2, 0.8)),
    ],
)
def test_priors_as_they_are_written(text: Any, shares: tuple[float, float]) -> None:
    found = parse_prior(text, NAMES)
    assert isinstance(found, Prior)
    assert found.shares == pytest.approx(shares)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("real", r"`prior` is 'real': choose from natural, balanced, labels, estimated, or write class=share"),
        ("spam=0.1", "`prior` has class 'spam': the classes are banned, ok"),
        ("banned=0", "each must be above 0 and below 1"),
        ("banned=100%", "each must be above 0 and below 1"),
        ("banned=0.4,ok=0.4", "each must be above 0 and below 1, and all sum to 1"),
        ("banned=much", "`prior` has 'much': expected a number"),
        ("banned=0.1,=0.2", "write class=number"),
        ([0.2, 0.3, 0.5], r"`prior` is \[0.2, 0.3, 0.5\]: give one share for each of the 2 classes"),
        (["a", "b"], r"`prior` is \['a', 'b'\]: give one share for each of the 2 classes"),
        (Prior((0.2, 0.3, 0.5), "given"), r"`prior` is Prior\(.*: give one share for each of the 2 classes"),
        ("banned=10%,banned=30%", "`prior` has 'banned=10%,banned=30%', a class twice"),
        (None, "`prior` is None: give one share for each of the 2 classes"),
    ],
)
def test_wrong_priors(wrong: str | Mapping[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_prior(wrong, NAMES)


@pytest.mark.parametrize(
    ("p", "shares", "message"),
    [
        ([0.5, 0.5], [0.5, 0.5], r"probabilities have shape \(2,\)"),
        ([[0.5, 0.5]], [3.0], "give probabilities"),
        ([[0.5, 0.5]], [1.0, 0.0], "for each of the K classes a share above 0"),
        ([[np.nan, 0.5]], [0.5, 0.5], "probabilities must be finite"),
    ],
)
def test_nothing_is_estimated_from_what_is_no_probability(p: Any, shares: list[float], message: str) -> None:
    for estimate in (estimate_prior, natural_prior):
        with pytest.raises(InputError, match=message):
            estimate(p, shares)
    with pytest.raises(InputError, match="of at least one node"):
        estimate_prior(np.empty((0, 2)), [0.5, 0.5])
