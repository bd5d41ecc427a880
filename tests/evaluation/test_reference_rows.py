"""Rows that cost no training, and the sentence that follows from them."""

from __future__ import annotations

import numpy as np
import pytest

from imgcl.evaluation import EvaluationResult, References, combine, evaluate, evaluate_references
from imgcl.evaluation.intervals import Estimate
from imgcl.evaluation.references import is_better

Y = np.repeat([0, 1, 2], [90, 60, 60])
OPTIONS = {"imbalance": "exp:5", "classifier": ("plain", "reweight"), "splits": 10}


def noisy(noise: float, seed: int) -> np.ndarray:
    return np.eye(3)[Y] + noise * np.random.default_rng(seed).standard_normal((len(Y), 3))


@pytest.fixture(scope="module")
def references() -> References:
    return evaluate_references({"learned": noisy(0, 0), "own": noisy(0.6, 1), "neighbours": noisy(5, 2)}, Y, **OPTIONS)


def evaluated(noise: float, seed: int = 3) -> EvaluationResult:
    return evaluate(noisy(noise, seed), Y, **OPTIONS)


def test_rows_are_the_evaluations_of_the_blocks(references: References) -> None:
    assert list(references.results) == ["own features", "propagated features"]
    expected = evaluate({"own": noisy(0.6, 1)}, Y, **OPTIONS, ceiling=0).to_json()
    assert references.results["own features"].to_json() == expected
    assert references.to_dict()["rows"]["propagated features"]["plain"]["accuracy"]["mean"] < 0.6
    lines = str(references).splitlines()
    assert lines[0].startswith("to beat, without training")
    assert [line.split("  ")[0] for line in lines[2:]] == [
        f"{title}, {name}" for title in references.results for name in ("plain", "reweight")
    ]


def test_the_sentence_names_what_is_not_beaten(references: References) -> None:
    assert references.verdict(evaluated(0)) is None
    middle = references.verdict(evaluated(0.8), "GBT")
    assert middle is not None
    assert middle.startswith("GBT does not clearly beat own features (plain -")
    assert "propagated" not in middle
    worst = references.verdict(evaluated(50))
    assert worst is not None
    assert "own features (plain -" in worst
    assert "and propagated features (" in worst


def test_seeds_of_a_pretraining_are_paired_with_the_one_reference(references: References) -> None:
    both = combine([evaluated(1.2, seed) for seed in (3, 4)])
    said = references.verdict(both)
    difference = both.values("plain", "accuracy") - np.tile(
        references.results["own features"].values("plain", "accuracy"), 2
    )
    assert said is not None
    assert f"(plain {100 * difference.mean():+.1f} [" in said


def test_a_sentence_says_when_trees_without_the_graph_win() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 4))
    y = (X[:, 0] * X[:, 1] > 0.3).astype(int)  # no linear classifier finds it
    options = {"imbalance": "natural", "classifier": ("plain", "reweight"), "splits": 4, "test": "natural"}
    found = evaluate_references({"own": X}, y, **options)
    assert found.trees is not None
    assert found.trees.of("trees").splits.tolist() == [0, 1, 2]
    result = evaluate(rng.standard_normal((600, 3)), y, **options)
    theirs = 100 * np.mean(found.trees.values("trees", "auprc"))
    ours = max(100 * np.mean(result.values(name, "auprc")[:3]) for name in ("plain", "reweight"))
    said = found.verdict(result)
    assert said is not None
    assert f"Trees on own features, without the graph, do better than the embedding: AUPRC {theirs:.1f}" in said
    assert f"against {ours:.1f} (" in said
    assert "Trees" not in (found.verdict(evaluate(np.eye(2)[y], y, **options)) or "")
    assert found.to_dict()["trees"]["auprc"]["mean"] == pytest.approx(theirs / 100)


def test_where_test_nodes_are_not_balanced_the_sentence_compares_auprc() -> None:
    options = {**OPTIONS, "test": "natural"}
    natural = evaluate_references({"own": noisy(0.6, 1)}, Y, **options)
    worse = evaluate(noisy(2, 3), Y, **options)
    said = natural.verdict(worse)
    difference = (worse.values("plain", "auprc") - natural.results["own features"].values("plain", "auprc")).mean()
    assert said is not None
    assert f"(plain {100 * difference:+.1f} [" in said
    assert "difference in AUPRC [95 % interval]." in said


def test_without_rows_there_is_a_note_and_no_sentence() -> None:
    nothing = evaluate_references({}, Y, note="the graph has no features", **OPTIONS)
    assert str(nothing) == "the graph has no features"
    assert nothing.verdict(evaluated(50)) is None


@pytest.mark.parametrize(
    ("difference", "better"),
    [
        (Estimate(0.1, 0.1, (0.01, 0.2)), True),
        (Estimate(0.1, 0.1, (0.0, 0.2)), False),
        (Estimate(0.1, None, None), True),
        (Estimate(0.0, None, None), False),
        (Estimate(None, None, None), False),
    ],
)
def test_better_is_an_interval_above_zero(difference: Estimate, better: bool) -> None:
    assert is_better(difference) is better
