import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import imgcl.evaluation.scorer as scorer_module
from imgcl import Graph
from imgcl._core.checksums import write_checked_json
from imgcl._core.errors import InputError, RunError
from imgcl.evaluation import CLASSIFIERS, FittedScorer, average_precision, explain, fit_scorer, predict

Problem = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]


@pytest.fixture(scope="module")
def fraud() -> Problem:
    """4000 nodes, 15 % of class 1, which overlaps with class 0; a random fifth is labelled."""
    rng = np.random.default_rng(5)
    y = (rng.random(4000) < 0.15).astype(np.int64)
    Z = rng.standard_normal((4000, 6)) + 1.2 * y[:, None] * np.array([1, 1, 0, 0, 0, 0])
    return Z, y, rng.random(4000) < 0.3


def some(y: NDArray[np.int64], given: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.where(given, y, -1)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_mean_probability_is_the_rate_whatever_the_classifier(name: str, fraud: Problem) -> None:
    Z, y, given = fraud
    frame = predict(Z, some(y, given), name)
    p, unlabelled = frame["p_1"].to_numpy(), ~given
    assert p[unlabelled].mean() == pytest.approx(y[unlabelled].mean(), abs=0.03)


def test_probabilities_hold_in_every_fifth_of_the_nodes(fraud: Problem) -> None:
    Z, y, given = fraud
    p, unlabelled = predict(Z, some(y, given))["p_1"].to_numpy(), ~given
    for group in np.array_split(np.flatnonzero(unlabelled)[np.argsort(p[unlabelled])], 5):
        assert p[group].mean() == pytest.approx(y[group].mean(), abs=0.05)


def test_ranks_do_not_change_by_prior_or_decision(fraud: Problem) -> None:
    Z, y, given = fraud
    frames = [
        predict(Z, some(y, given), prior=prior, decision=decision)
        for prior, decision in (("natural", "argmax"), ("balanced", "balanced"), ("1=1%", "flag-rate:5%"))
    ]
    assert all(frame["rank"].equals(frames[0]["rank"]) for frame in frames)
    means = [frame["p_1"].mean() for frame in frames]
    assert means[2] < means[0] < means[1]
    ranked = frames[0].sort_values("rank")
    assert ranked["p_1"].is_monotonic_decreasing
    assert sorted(ranked["rank"]) == list(range(1, len(y) + 1))


@pytest.mark.parametrize("rule", ["min-precision:0.5", "min-recall:0.6", "flag-rate:5%"])
def test_decisions_give_what_they_say(rule: str, fraud: Problem) -> None:
    Z, y, given = fraud
    scorer = fit_scorer(Z, some(y, given), decision=rule)
    flagged, new = scorer.predict(Z) == "1", ~given
    hits = (flagged & (y == 1))[new].sum()
    gives = {
        "precision": hits / flagged[new].sum(),
        "recall": hits / (y[new] == 1).sum(),
        "flag_rate": flagged[new].mean(),
    }
    for name, value in gives.items():
        low, high = scorer.decision.expected["1"][name]["ci95"]
        assert low - 0.05 < value < high + 0.05
    asked = rule.partition(":")[0].removeprefix("min-").replace("-", "_")
    assert gives[asked] == pytest.approx({"precision": 0.5, "recall": 0.6, "flag_rate": 0.05}[asked], abs=0.08)


def test_biased_labels_are_recognised() -> None:
    rng = np.random.default_rng(8)
    y = (rng.random(3000) < 0.1).astype(np.int64)
    Z = rng.standard_normal((3000, 4)) + 3.0 * y[:, None] * np.array([1, 1, 0, 0])
    given = np.zeros(3000, dtype=bool)
    for k in (0, 1):
        given[np.flatnonzero(y == k)[:100]] = True  # half and half, chosen by a person
    scorer = fit_scorer(Z, some(y, given))
    assert scorer.prior.source == "estimated"
    assert scorer.prior.shares[1] == pytest.approx(y[~given].mean(), abs=0.03)
    assert fit_scorer(Z, some(y, given), prior="labels").prior.shares == (0.5, 0.5)


@pytest.mark.parametrize("name", ["ensemble", "trees", "plain"])
def test_saved_scorer_scores_the_same(
    name: str, fraud: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Z, y, given = fraud
    blocks = {"learned": Z[:, :4], "own": Z[:, 4:]}
    options = {"prior": "banned=5%", "decision": "min-recall:0.8", "class_names": ["ok", "banned"]}
    scorer = fit_scorer(blocks, some(y, given), name, **options)
    assert scorer.scales["own"] == pytest.approx(1 / np.sqrt((Z[:, 4:] ** 2).sum(axis=1).mean()))
    scorer.save(tmp_path / "scorer")
    loaded = FittedScorer.load(tmp_path / "scorer")
    assert loaded.frame(blocks).equals(scorer.frame(blocks))
    assert loaded.decision == scorer.decision
    assert loaded.quality == scorer.quality == json.loads(json.dumps(scorer.quality))
    assert loaded.frame(blocks).columns.tolist() == ["node", "class", "p_ok", "p_banned", "rank", "given"]
    monkeypatch.setattr(scorer_module, "CHUNK", 999)  # by pieces
    assert loaded.predict_proba(blocks) == pytest.approx(scorer.predict_proba(blocks), abs=1e-6)
    with pytest.raises(InputError, match="the scorer knows"):
        loaded.frame(Z)
    with pytest.raises(InputError, match="the scorer knows"):
        loaded.frame({"learned": Z[:, :3], "own": Z[:, 4:]})


def test_damaged_scorers_are_refused(fraud: Problem, tmp_path: Path) -> None:
    Z, y, given = fraud
    with pytest.raises(RunError, match=r"is not a scorer: it has no scorer\.json"):
        FittedScorer.load(tmp_path)
    fit_scorer(Z, some(y, given)).save(tmp_path / "one")
    text = (tmp_path / "one" / "scorer.json").read_text(encoding="utf-8")
    (tmp_path / "one" / "scorer.json").write_text(text.replace('"labels"', '"given"'), encoding="utf-8")
    with pytest.raises(RunError, match=r"scorer\.json is damaged .*: fit the scorer again"):
        FittedScorer.load(tmp_path / "one")
    fit_scorer(Z[:, :3], some(y, given)).save(tmp_path / "two")
    (tmp_path / "one" / "scorer.json").write_text(text, encoding="utf-8")
    (tmp_path / "two" / "coefficients.npy").replace(tmp_path / "one" / "coefficients.npy")
    with pytest.raises(RunError, match="coefficients of shape"):
        FittedScorer.load(tmp_path / "one")
    (tmp_path / "two" / "trees.npy").unlink()
    with pytest.raises(RunError, match=r"is not a scorer: it has no coefficients\.npy"):
        FittedScorer.load(tmp_path / "two")


def test_foreign_classifiers(fraud: Problem, tmp_path: Path) -> None:
    Z, y, given = fraud
    assert fit_scorer(Z[:50], y[:50], LogisticRegression()).prior.source == "labels"  # nobody is unlabelled
    scorer = fit_scorer(Z, some(y, given), LogisticRegression(), decision="flag-rate:10%")
    assert (scorer.predict(Z)[~given] == "1").mean() == pytest.approx(0.1, abs=0.03)
    with pytest.raises(InputError, match="'LogisticRegression' cannot be saved without pickle"):
        scorer.save(tmp_path / "scorer")
    assert not (tmp_path / "scorer").exists()
    frame = predict(Z, some(y, given), LinearSVC())
    assert frame["p_1"].isna().all()
    assert set(frame["class"]) == {"0", "1"}
    assert frame["rank"].isna().all()
    with pytest.raises(InputError, match="'LinearSVC' gives no probabilities"):
        predict(Z, some(y, given), LinearSVC(), decision="flag-rate:10%")


def test_given_nodes_are_scored_by_models_that_did_not_see_their_label() -> None:
    """With noise alone a classifier that saw the labels would find them again."""
    rng = np.random.default_rng(0)
    Z, y = rng.standard_normal((120, 60)), rng.integers(0, 2, 120)
    frame = predict(Z, y)
    assert abs(average_precision(frame[["p_0", "p_1"]], y)[1] - 0.5) < 0.2
    seen = fit_scorer(Z, y).predict_proba(Z)
    assert average_precision(seen, y)[1] > 0.9


def test_quality_is_plain(fraud: Problem) -> None:
    Z, y, given = fraud
    quality = fit_scorer(Z, some(y, given)).quality
    rare = quality["classes"]["1"]
    assert quality["nodes"] == given.sum()
    assert rare["labels"] == (y[given] == 1).sum()
    assert 0.5 < rare["auroc"] < 1
    assert sum(b["nodes"] for b in rare["reliability"]) == given.sum()
    assert quality["ece"] < 0.05


def test_blocks_are_found_by_name_in_any_order(fraud: Problem) -> None:
    Z, y, given = fraud
    blocks = {"learned": Z[:500, :3], "text": Z[:500, 3:]}  # of one width: only the names tell them apart
    scorer = fit_scorer(blocks, some(y, given)[:500], "plain")
    turned = dict(reversed(blocks.items()))
    assert np.array_equal(scorer.predict_proba(turned), scorer.predict_proba(blocks))
    assert scorer.frame(turned).equals(scorer.frame(blocks))
    found, expected = (explain(scorer, each, some(y, given)[:500], [3])[0] for each in (turned, blocks))
    assert found == expected


def test_names_of_a_frame_are_kept(fraud: Problem) -> None:
    Z, y, given = fraud
    scorer = fit_scorer(Z[:500], some(y, given)[:500], "plain")
    table = pd.DataFrame(Z[:3], index=["a", "b", "c"])
    assert scorer.frame(table)["node"].tolist() == ["a", "b", "c"]
    assert scorer.frame(table, node_names=["x", "y", "z"])["node"].tolist() == ["x", "y", "z"]
    with pytest.raises(InputError, match=r"^Z\[0, 0\] is nan"):
        scorer.predict(np.full((2, 6), np.nan))
    with pytest.raises(InputError, match="the embedding is of type Graph: give an array"):
        predict(Graph.from_edges([[0], [1]], np.eye(2)), [0, 1])  # type: ignore[arg-type]


def test_classes_of_given_labels_are_out_of_fold_without_probabilities_too() -> None:
    """With labels that are noise, a model that saw them would find them."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    found = predict(rng.standard_normal((200, 100)), y, LinearSVC(C=100))["class"].astype(int)
    assert (found == y).mean() < 0.7


@pytest.mark.parametrize("file", ["coefficients.npy", "scorer.json"])
def test_files_of_two_scorers_are_refused(fraud: Problem, tmp_path: Path, file: str) -> None:
    Z, y, given = fraud
    fit_scorer(Z, some(y, given)).save(tmp_path / "one")
    fit_scorer(Z[::-1], some(y, given)[::-1]).save(tmp_path / "two")  # the same shapes
    (tmp_path / "two" / file).replace(tmp_path / "one" / file)
    with pytest.raises(RunError, match="is not the file that was saved here: fit the scorer again"):
        FittedScorer.load(tmp_path / "one")


def test_a_scorer_names_no_file_outside_its_directory(fraud: Problem, tmp_path: Path) -> None:
    Z, y, given = fraud
    fit_scorer(Z, some(y, given)).save(tmp_path / "one")
    file = tmp_path / "one" / "scorer.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    written = {key: value for key, value in content.items() if key not in ("format", "checksum")}
    for name in ("../other", "/etc/hostname", ""):
        write_checked_json(file, {**written, "files": {name: "0"}}, content["format"])
        with pytest.raises(RunError):
            FittedScorer.load(tmp_path / "one")
