import json

import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl.evaluation import Decision, choose_decision, parse_rule
from imgcl.evaluation.decisions import expected_rates

NAMES = ("banned", "ok")
# ten nodes in falling order of their score for class 0; its nodes are at 1, 2, 4 and 7
SCORES = np.arange(10, 0, -1.0)
Y = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1, 1])
LOG_ODDS = np.stack([SCORES, -SCORES], axis=1)
P = np.stack([SCORES / 11, 1 - SCORES / 11], axis=1)
NATURAL = (0.4, 0.6)  # as in Y


def chosen(text: str, prior: tuple[float, float] = NATURAL) -> Decision:
    return choose_decision(parse_rule(text, NAMES), P, LOG_ODDS, Y, prior, NAMES, np.random.default_rng(0))


def flagged(decision: Decision) -> int:
    return int((decision.classes(P, LOG_ODDS) == 0).sum())


def test_thresholds_by_hand() -> None:
    assert flagged(chosen("flag-rate:30%")) == 3
    assert flagged(chosen("min-recall:0.75")) == 4  # the third of four is the fourth node
    assert flagged(chosen("min-recall:1")) == 7
    assert flagged(chosen("min-precision:0.5")) == 8  # 4 of 8, then 4 of 9
    assert flagged(chosen("min-precision:0.6")) == 5  # 3 of 5


def test_weights_by_hand() -> None:
    assert flagged(chosen("argmax")) == 5  # scores / 11 above one half
    # 9 p > 1 - p, so p > 1 / 10: nine of ten
    assert flagged(chosen("cost:banned=9,ok=1")) == 9
    assert flagged(chosen("cost:ok=20")) == 0  # p > 20 (1 - p) needs p > 20 / 21
    # balanced: p / 0.4 > (1 - p) / 0.6, so p > 0.4
    assert flagged(chosen("balanced")) == 6


def test_the_prior_counts() -> None:
    """Where the class is rarer, the same precision needs a higher threshold, and fewer nodes are above it."""
    rare = choose_decision(
        parse_rule("flag-rate:30%", NAMES), P, LOG_ODDS, Y, (0.1, 0.9), NAMES, np.random.default_rng(0)
    )
    # a node of class 0 counts 0.1 / 4, another 0.9 / 6: 0.025 + 0.025 + 0.15 + 0.025 + 0.15 first reach 0.3
    assert flagged(rare) == 5
    with pytest.raises(InputError, match=r"but the precision is at most 0\.2. with 5 or more labelled nodes"):
        chosen("min-precision:0.5", (0.1, 0.9))


def test_expected_rates_and_intervals() -> None:
    decision = chosen("min-precision:0.6")
    banned = decision.expected["banned"]
    assert banned["precision"]["value"] == pytest.approx(3 / 5)
    assert banned["recall"]["value"] == pytest.approx(3 / 4)
    assert banned["flag_rate"]["value"] == pytest.approx(1 / 2)
    for rate in banned.values():
        low, high = rate["ci95"]
        assert 0 <= low < rate["value"] < high <= 1
    # Jeffreys' interval of 3 in 4
    assert banned["recall"]["ci95"] == pytest.approx([0.28, 0.97], abs=0.03)
    assert Decision.from_dict(json.loads(json.dumps(decision.to_dict()))) == decision


def test_an_interval_contains_a_rate_that_was_never_observed() -> None:
    ok, banned = expected_rates(np.array([[40, 0], [2, 0]]), [0.9, 0.1], np.random.default_rng(0))
    assert banned["flag_rate"]["value"] == banned["flag_rate"]["ci95"][0] == 0
    assert ok["recall"]["value"] == ok["recall"]["ci95"][1] == 1
    assert banned["precision"]["value"] is None


def test_nothing_is_claimed_about_a_class_without_a_node_to_measure_on() -> None:
    ok, banned = expected_rates(np.array([[5, 0], [0, 0]]), [0.8, 0.2], np.random.default_rng(0))
    assert [rate["value"] for rate in banned.values()] == [None, None, None]
    assert ok["recall"]["value"] == 1
    assert ok["precision"]["value"] == pytest.approx(0.8 / 0.9)  # half of the banned nodes may be taken for ok


def test_nodes_with_one_score_are_flagged_together() -> None:
    flat = np.zeros((10, 2))
    for text in ("flag-rate:10%", "min-recall:0.5", "min-precision:0.4"):
        found = choose_decision(parse_rule(text, NAMES), P, flat, Y, NATURAL, NAMES, np.random.default_rng(0))
        assert (found.classes(P, flat) == 0).all()


def test_a_named_class_is_flagged_and_the_others_compete() -> None:
    names, p = ("a", "b", "c"), np.array([[0.1, 0.3, 0.6], [0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])
    odds = np.log(p / (1 - p))
    rule = parse_rule("flag-rate:c=33%", names)
    found = choose_decision(rule, p, odds, np.array([2, 1, 0]), [1 / 3] * 3, names, np.random.default_rng(0))
    assert found.target == 2
    assert found.classes(p, odds).tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("best", "`decision` is 'best': choose argmax, balanced, cost:CLASS=10,OTHER=1, flag-rate:2%"),
        ("argmax:2", "`decision` is 'argmax:2'"),
        ("cost:spam=3", "`decision` has class 'spam': the classes are banned, ok"),
        ("flag-rate:200%", "give one rate above 0 and at most 1"),
        ("min-recall:banned=0.5,ok=0.5", "give one rate"),
        ("cost:banned=0,ok=0", "at least one class must cost something"),
        ("cost:banned=1,banned=2", "a class twice"),
        ("min-precision:high", "expected a number"),
    ],
)
def test_wrong_rules(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_rule(text, NAMES)
