"""Laws by hand, and how they are written."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imgcl._core.errors import InputError
from imgcl.imbalance import Imbalance, parse_imbalance

BY_HAND = {
    "exp:100": [1, 100 ** (-1 / 3), 100 ** (-2 / 3), 0.01],
    "exp:1": [1, 1, 1, 1],
    "pareto:1": [7, 5 / 3, 3 / 5, 1 / 7],  # u = 1/8 3/8 5/8 7/8: 1/u - 1
    "pareto:1:lomax": [7, 5 / 3, 3 / 5, 1 / 7],
    "pareto:1:classic": [8, 8 / 3, 8 / 5, 8 / 7],
    "pareto:0.5:rank": [1, 1 / 4, 1 / 9, 1 / 16],
    "step:10": [10, 10, 1, 1],
    "5,3,1,1": [5, 3, 1, 1],
}


@pytest.mark.parametrize("text", BY_HAND)
def test_weights_by_hand(text: str) -> None:
    np.testing.assert_allclose(parse_imbalance(text).weights(4), BY_HAND[text], rtol=1e-12)


def test_step_gives_the_odd_class_to_the_larger_half() -> None:
    assert parse_imbalance("step:4").weights(5).tolist() == [4, 4, 4, 1, 1]


@pytest.mark.parametrize("law", ["pareto:{}", "pareto:{}:classic", "pareto:{}:rank"])
def test_a_smaller_shape_is_more_imbalanced(law: str) -> None:
    ratios = [w[0] / w[-1] for w in (parse_imbalance(law.format(a)).weights(10) for a in (0.5, 1, 2, 6))]
    assert ratios == sorted(ratios, reverse=True)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("natural", "natural"),
        (" Exp:100.0 ", "exp:100"),
        ("pareto:2:lomax", "pareto:2"),
        ("pareto:1.5:classic", "pareto:1.5:classic"),
        ((3, 2.5, 1), "3,2.5,1"),
        (np.array([3, 1]), "3,1"),
    ],
)
def test_names_are_stable_and_read_back(spec: object, name: str) -> None:
    law = parse_imbalance(spec)  # type: ignore[arg-type]
    assert str(law) == name
    assert parse_imbalance(name) == law
    assert parse_imbalance(law) is law
    again = pickle.loads(pickle.dumps(law))  # noqa: S301  (our own bytes: laws travel to worker processes)
    assert again == law
    assert hash(again) == hash(law)


def my_law(n_classes: int) -> list[float]:
    return [float(n_classes - k) for k in range(n_classes)]


def test_callables() -> None:
    law = parse_imbalance(my_law)
    assert law.name == "callable:my_law"
    assert law.weights(3).tolist() == [3, 2, 1]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("exp", "unknown imbalance 'exp': write natural, exp:100"),
        ("exp:", "'' is not a number"),
        ("exp:0.5", "imbalance 'exp' has ratio 0.5: it is largest over smallest class, so 1 or more"),
        ("exp:nan", "has ratio nan"),
        ("exp:inf", "has ratio inf"),
        ("exp:100:classic", "unknown imbalance"),
        ("step:0", "imbalance 'step' has ratio 0"),
        ("pareto:0", "'pareto' has shape 0"),
        ("pareto:1:other", "no form 'other': choose from lomax, classic, rank"),
        ("gauss:1", "unknown imbalance 'gauss:1'"),
        ("natural:1", "unknown imbalance"),
        ("5,x", "'x' is not a number"),
        ([5, 0], "sizes must be positive and finite"),
        ([5, "x"], "a list must hold one positive number per class"),
    ],
)
def test_bad_laws(spec: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_imbalance(spec)  # type: ignore[arg-type]


def test_weights_are_checked_when_the_classes_are_known() -> None:
    with pytest.raises(InputError, match="'3,2,1' has 3 sizes but there are 4 classes"):
        parse_imbalance([3, 2, 1]).weights(4)
    with pytest.raises(InputError, match="sizes must be positive and finite"):
        parse_imbalance("pareto:0.001").weights(10)
    with pytest.raises(InputError, match="natural imbalance has no weights"):
        Imbalance("natural").weights(3)


@given(st.sampled_from(["exp:{}", "step:{}"]), st.floats(1, 1e6), st.integers(2, 30))
@settings(deadline=None)
def test_ratio_is_largest_over_smallest(law: str, ratio: float, n_classes: int) -> None:
    weights = parse_imbalance(law.format(ratio)).weights(n_classes)
    assert weights[0] / weights[-1] == pytest.approx(ratio)
    assert (np.diff(weights) <= 0).all()


@pytest.mark.parametrize(
    ("text", "name", "total"),
    [
        ("exp:100", "exp:100", 100),
        ("Exp:100@1.0%", "exp:100@1%", 10),
        ("natural@0.5%", "natural@0.5%", 5),
        ("5,3,1@7/class", "5,3,1@7/class", 21),
    ],
)
def test_a_law_may_say_how_many_labels(text: str, name: str, total: int) -> None:
    law = parse_imbalance(text)
    assert str(law) == name
    assert parse_imbalance(name) == law
    assert law.total(1000, 3, fraction=0.1) == total
    assert law.is_natural == name.startswith("natural")


@pytest.mark.parametrize("budget", ["", "1", "0%", "100%", "0/class", "x/class"])
def test_a_number_of_labels_that_is_none(budget: str) -> None:
    with pytest.raises(InputError, match="write the number of labels as 1% or 5/class"):
        parse_imbalance(f"exp:100@{budget}")


@pytest.mark.parametrize("spec", [{1: 5, 2: 3}, {5, 3, 1}], ids=["mapping", "set"])
def test_what_has_no_order_is_no_list_of_sizes(spec):
    with pytest.raises(InputError, match="give a list of relative class sizes"):
        parse_imbalance(spec)


@pytest.mark.parametrize("given", [["a", "b", "c"], [3, 2, 1j], [[1], [2, 3], []]])
def test_a_callable_that_gives_no_numbers_is_refused(given):
    with pytest.raises(InputError, match="does not give a number per class"):
        parse_imbalance(lambda n_classes: given).weights(3)


def test_a_budget_of_thousands_of_digits_is_refused():
    with pytest.raises(InputError, match="write the number of labels as"):
        parse_imbalance(f"exp:100@{'9' * 5000}/class")
