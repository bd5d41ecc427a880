import numpy as np
import pytest
from scipy.special import softmax

from imgcl._core.errors import InputError
from imgcl.evaluation import Calibration, fit_calibration, reliability


def drawn(n: int, slope: float, bias: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Logits (n, 2) and classes whose true log odds are slope * z + bias."""
    rng = np.random.default_rng(seed)
    z = 2 * rng.standard_normal(n)
    y = rng.random(n) < 1 / (1 + np.exp(-(slope * z + bias)))
    return np.stack([np.zeros(n), z], axis=1), y.astype(int)


def test_temperature_and_bias_are_found() -> None:
    logits, y = drawn(900, slope=0.5, bias=-1.0)
    found = fit_calibration(logits, y, [0, 0])
    assert found.kind == "temperature"
    assert found.slope == pytest.approx(0.5, abs=0.1)
    assert found.bias[1] - found.bias[0] == pytest.approx(-1.0, abs=0.2)


def test_many_labels_give_a_rising_curve() -> None:
    rng = np.random.default_rng(1)
    z = rng.standard_normal(6000)
    rate = 0.1 + 0.4 * (z > 0)  # a step, which no slope follows
    y = (rng.random(6000) < rate).astype(int)
    found = fit_calibration(np.stack([-z / 2, z / 2], axis=1), y, [0, 0])
    assert found.kind == "isotonic"
    assert (np.diff([p for _, p in found.curve]) >= 0).all()
    low, high = found.probabilities(np.array([[1.0, -1.0], [-1.0, 1.0]]))[:, 1]
    assert [low, high] == pytest.approx([0.1, 0.5], abs=0.04)
    assert Calibration.from_dict(found.to_dict()) == found


def test_no_two_scores_become_one_probability() -> None:
    logits, y = drawn(3000, slope=1, bias=-2)
    found = fit_calibration(logits, y, [0, 0])
    assert found.kind == "isotonic"
    far = np.linspace(-30, 30, 601)
    p = found.probabilities(np.stack([0 * far, far], axis=1))[:, 1]
    assert (np.diff(p[200:400]) > 0).all()
    assert (np.diff(p) >= 0).all()


def test_few_labels_change_nothing_but_what_is_known() -> None:
    logits, y = drawn(9, slope=1, bias=0)
    found = fit_calibration(logits, y, [0.0, -2.0])
    assert found == Calibration(1.0, (0.0, -2.0), floor=found.floor)
    np.testing.assert_allclose(found.floor, np.bincount(y, minlength=2) / 90)
    assert fit_calibration(np.zeros((0, 2)), [], [0.0, 0.0]).slope == 1
    assert fit_calibration(np.zeros((50, 2)), np.zeros(50, dtype=int), [0.0, 0.0]).bias == (0, 0)  # a single class


def test_no_class_is_certain_from_a_few_labels() -> None:
    """By hand: 99 labels, a third of them of class 1; one label more could be of any class: 1 in 100."""
    y = np.arange(99) % 3 == 0
    found = fit_calibration(np.stack([np.zeros(99), np.where(y, 4.0, -4.0)], axis=1), y.astype(int), [0, 0])
    assert found.floor == pytest.approx((2 / 300, 1 / 300))
    p = found.probabilities([[0, 500.0], [500.0, 0], [0, 1.0], [0, 2.0]])
    assert p[:2, 1] == pytest.approx([1 - 2 / 300, 1 / 300])
    assert p.sum(axis=1) == pytest.approx(np.ones(4))
    assert p[1, 1] < p[2, 1] < p[3, 1] < p[0, 1]
    bare = Calibration(found.slope, found.bias)
    mean = bare.probabilities([[0, 4.0], [0, -4.0], [0, -4.0]]).mean(axis=0)
    wanted = found.floor + 0.99 * mean  # a mean that is the labels' shares stays so
    assert found.probabilities([[0, 4.0], [0, -4.0], [0, -4.0]]).mean(axis=0) == pytest.approx(wanted)
    assert Calibration.from_dict(found.to_dict()) == found
    old = {name: value for name, value in found.to_dict().items() if name != "floor"}
    assert Calibration.from_dict(old) == bare


def test_several_classes_and_one_without_labels_outside() -> None:
    rng = np.random.default_rng(2)
    logits = 3 * rng.standard_normal((600, 3))
    truth = softmax(logits / 3 + np.array([0, 0, -50]), axis=1)
    y = np.array([rng.choice(3, p=p) for p in truth])
    found = fit_calibration(logits, y, [0.0, 0.0, -1.0])
    p = found.probabilities(logits)
    assert p[:, 0].mean() == pytest.approx((y == 0).mean(), abs=0.02)
    assert p[:, 2].mean() < 0.02


def test_reliability_by_hand() -> None:
    bins = reliability([0.9, 0.1, 0.3, 0.5], [1, 0, 1, 0], bins=2)
    assert bins == [
        {"nodes": 2, "probability": 0.2, "rate": 0.5},
        {"nodes": 2, "probability": 0.7, "rate": 0.5},
    ]
    assert reliability([], [], bins=5) == []
    assert len(reliability([0.1, 0.2], [0, 1], bins=5)) == 2


def test_what_cannot_be_calibrated() -> None:
    with pytest.raises(InputError, match=r"scores have shape \(5, 2\) and classes \(2,\)"):
        fit_calibration(np.zeros((5, 2)), [0, 1], [0, 0])
    with pytest.raises(InputError, match="NaN in row 0"):
        fit_calibration(np.full((20, 2), np.nan), [0, 1] * 10, [0, 0])
    with pytest.raises(InputError, match="give one for each of the 2 classes"):
        fit_calibration(np.zeros((20, 2)), [0, 1] * 10, [0])
    with pytest.raises(InputError, match="give one of each per node"):
        reliability([0.5], [1, 0])


@pytest.mark.parametrize("scale", [1e-3, 1e-9, 1e-30])
def test_the_order_of_tiny_logits_is_not_lost(scale: float) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [20, 10, 8])
    logits = 0.5 * rng.standard_normal((38, 3)) + np.eye(3)[y]
    prior = np.log(np.bincount(y) / 38)
    tiny, small = fit_calibration(scale * logits, y, prior), fit_calibration(0.05 * logits, y, prior)
    np.testing.assert_allclose(tiny.probabilities(scale * logits), small.probabilities(0.05 * logits), atol=1e-4)
    assert (tiny.probabilities(scale * logits).argmax(axis=1) == y).mean() > 0.8


def test_equal_logits_give_the_shares() -> None:
    found = fit_calibration(np.zeros((20, 2)), np.repeat([0, 1], [15, 5]), np.log([0.75, 0.25]))
    np.testing.assert_allclose(found.probabilities(np.zeros((1, 2))), [[0.75, 0.25]], atol=0.01)


def test_tiny_logits_without_order_are_not_stretched() -> None:
    rng = np.random.default_rng(0)
    logits, y = 1e-3 * rng.standard_normal((40, 2)), np.repeat([0, 1], [30, 10])
    p = fit_calibration(logits, y, np.log([0.75, 0.25])).probabilities(logits)
    np.testing.assert_allclose(p[:, 1], 0.25, atol=0.01)
