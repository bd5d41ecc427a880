"""What the page is given is what the evaluation found."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl._core.progress import Told, listening
from imgcl.evaluation import attribution, combine, evaluate
from imgcl.imbalance import Split
from imgcl.report import build_content
from report_samples import make_content, make_nodes, make_runs


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    return make_content()


def decode(stored: dict[str, str]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(stored["data"]), dtype=np.dtype(stored["type"]).newbyteorder("<"))


def test_metrics_and_effects_are_those_of_the_evaluation(content: dict[str, Any]) -> None:
    nodes = make_nodes()
    results = [
        combine([evaluate(Z, nodes.labels, "exp:4", ("plain", "pbs"), splits=3, ceiling=0) for Z in run.embeddings])
        for run in make_runs()
    ]
    for entry, result in zip(content["runs"], results, strict=True):
        found = entry["results"]["pbs"]
        assert found["metrics"]["tail"]["mean"] == pytest.approx(result["pbs", "tail"].mean, abs=1e-5)
        assert found["confusion"] == result.of("pbs").confusion.sum(axis=0).tolist()
        assert len(found["recall"]) == 3
    effects = attribution(*results, metrics=("tail",))
    assert content["effects"]["rows"]["both"]["tail"]["mean"] == pytest.approx(effects["both", "tail"].mean, abs=1e-5)
    assert content["effects"]["runs"] == [0, 1]
    assert content["conclusion"].startswith("Recall of the rare classes")


def test_rows_to_beat_are_evaluated_on_the_same_splits() -> None:
    nodes, runs = make_nodes(), make_runs()
    perfect = np.eye(3, dtype=np.float32)[np.asarray(nodes.labels)]
    noise = np.random.default_rng(0).standard_normal((nodes.n_nodes, 3)).astype(np.float32)
    known = replace(nodes, features={"own": perfect, "neighbours": noise}, features_note="made up")
    content = build_content(runs, known, imbalance="exp:4", splits=3, projection="pca")["references"]
    expected = evaluate(perfect, nodes.labels, "exp:4", ("plain", "pbs"), splits=3, ceiling=0)
    found = content["rows"]["own features"]["pbs"]
    assert found["metrics"]["accuracy"]["mean"] == pytest.approx(expected["pbs", "accuracy"].mean, abs=1e-5)
    assert list(content["rows"]) == ["own features", "propagated features"]
    assert content["note"] == "made up"
    assert [verdict.split(" does not clearly beat ")[0] for verdict in content["verdicts"]] == [
        run.name for run in runs
    ]
    assert all("own features (plain" in verdict for verdict in content["verdicts"])


def test_all_blocks_of_a_run_are_evaluated() -> None:
    nodes, run = make_nodes(), make_runs()[0]
    blocks = [{"learned": Z, "own": np.eye(3, dtype=np.float32)[np.asarray(nodes.labels)]} for Z in run.embeddings]
    options: dict[str, Any] = {"imbalance": "exp:4", "splits": 3, "projection": "pca"}
    alone, both = (build_content([each], nodes, **options) for each in (run, replace(run, blocks=blocks, result=None)))
    alone_entry, both_entry = (content["runs"][0] for content in (alone, both))
    assert both_entry["x"] == alone_entry["x"]  # the map shows the learned block
    of_blocks, of_learned = (
        np.mean(
            [evaluate(Z, nodes.labels, "exp:4", "plain", splits=3, ceiling=0)["plain", "accuracy"].mean for Z in each]
        )
        for each in (blocks, run.embeddings)
    )
    found = both_entry["results"]["plain"]["metrics"]["accuracy"]["mean"]
    assert found == pytest.approx(of_blocks, abs=1e-5)
    assert found > of_learned
    predicted = [(decode(entry["predicted"]["plain"]) == nodes.labels).mean() for entry in (alone_entry, both_entry)]
    assert predicted[1] > predicted[0]


def test_arrays_survive_their_encoding(content: dict[str, Any]) -> None:
    nodes = make_nodes()
    assert decode(content["nodes"]["class"]).tolist() == nodes.labels.tolist()
    assert decode(content["nodes"]["degree"]).tolist() == list(range(110))
    rank = decode(content["nodes"]["centrality"])
    np.testing.assert_allclose(rank, np.arange(1, 111) / 110, rtol=1e-6)
    for entry in content["runs"]:
        x = decode(entry["x"]) / 32767
        assert x.shape == (110,)
        assert 0.5 < np.abs(x).max() <= 1
        predicted = decode(entry["predicted"]["pbs"])
        assert (predicted == nodes.labels).mean() > 0.6


def test_classes_have_their_sizes_training_labels_and_groups(content: dict[str, Any]) -> None:
    assert [(c["name"], c["size"], c["group"]) for c in content["classes"]] == [
        ("tea", 60, "head"),
        ("salt", 30, "middle"),
        ("pepper", 20, "tail"),
    ]
    assert sum(c["train"] for c in content["classes"]) == 11  # a tenth of 110
    roles = decode(content["nodes"]["role"])
    assert (roles == 1).sum() == 11


def test_it_is_json_and_the_same_twice(content: dict[str, Any]) -> None:
    assert json.dumps(content, allow_nan=False) == json.dumps(make_content(), allow_nan=False)


def test_without_labels_there_are_maps_but_no_scores() -> None:
    found = make_content(replace(make_nodes(), labels=None))
    assert found["classes"] == []
    assert found["effects"] is None
    assert all(entry["results"] == {} and entry["x"] for entry in found["runs"])


def test_without_the_graph_degree_and_centrality_are_missing() -> None:
    found = make_content(replace(make_nodes(), degree=None, centrality=None, n_edges=None))
    assert found["nodes"]["degree"] is None
    assert found["nodes"]["centrality"] is None


def test_many_nodes_are_sampled() -> None:
    names = [f"n{i}" for i in range(110)]
    found = make_content(make_nodes(node_names=names), points=40)
    ids = decode(found["nodes"]["id"])
    assert found["shown"] == len(ids) == len(set(ids.tolist())) == 40
    assert found["nodes"]["name"] == [f"n{i}" for i in ids]
    assert len(decode(found["runs"][1]["pseudo"])) == 40
    assert sum(c["size"] for c in found["classes"]) == 110  # sizes are of the whole graph


def test_one_run_has_a_verdict_from_its_classifiers() -> None:
    alone = build_content(make_runs()[:1], make_nodes(), imbalance="exp:4", splits=3, projection="pca")
    metrics = [alone["runs"][0]["results"][name]["metrics"] for name in ("plain", "pbs")]
    plain, pbs = (f"{100 * found['tail']['mean']:.1f} %" for found in metrics)
    assert alone["conclusion"].startswith(f"Recall of the rare class, plain: {plain} (of the common one ")
    assert f"; pbs: {pbs} (" in alone["conclusion"]
    assert ". The classifier pbs in place of plain " in alone["conclusion"]


def test_the_verdict_names_the_classifiers_that_were_chosen() -> None:
    found = make_content(classifiers=("reweight", "lda"))
    assert "the classifier lda in place of reweight " in found["conclusion"]


def test_two_classes_have_no_effects_on_the_middle() -> None:
    assert list(make_content()["effects"]["rows"]["both"]) == ["accuracy", "head", "middle", "tail"]
    y = np.repeat([0, 1], [70, 40])
    found = make_content(replace(make_nodes(), labels=y))
    assert list(found["effects"]["rows"]["both"]) == ["accuracy", "head", "tail"]


def test_test_nodes_may_be_as_common_as_in_the_graph() -> None:
    found = make_content(imbalance="natural", test="natural")
    assert (found["protocol"]["imbalance"], found["protocol"]["test"]) == ("natural", "natural")
    tested = np.sum(found["runs"][0]["results"]["plain"]["confusion"], axis=1)
    np.testing.assert_allclose(tested / tested.sum(), np.array([60, 30, 20]) / 110, atol=0.03)
    assert "test" not in make_content()["protocol"]


def test_every_step_is_announced() -> None:
    told: list[Told] = []
    with listening(told.append):
        make_content()
    said = list(dict.fromkeys(each.text.split(": ")[0] for each in told if each.text))
    assert said == [
        "evaluation of GBT (plain, pbs; 3 splits)",
        "evaluation of GBT + ImGCL (plain, pbs; 3 splits)",
        "predictions of GBT for every node",
        "predictions of GBT + ImGCL for every node",
        "evaluation of own and propagated features (3 splits)",
        "ranking of the nodes by GBT",
        "ranking of the nodes by GBT + ImGCL",
        "map of GBT, GBT + ImGCL (pca, 110 nodes)",
    ]


def test_one_run_or_one_classifier_has_no_attribution() -> None:
    alone = build_content(make_runs()[:1], make_nodes(), imbalance="exp:4", splits=2, projection="pca")
    assert alone["effects"] is None
    assert make_content(classifiers=("plain",))["effects"] is None


def test_an_unequal_number_of_seeds_has_no_attribution() -> None:
    first, second = make_runs()
    runs = [first, replace(second, embeddings=second.embeddings[:1])]
    assert build_content(runs, make_nodes(), imbalance="exp:4", splits=2, projection="pca")["effects"] is None


def test_a_fixed_split_is_the_one_that_is_evaluated_and_must_be_shared() -> None:
    train, val = np.arange(0, 110, 11), np.arange(1, 110, 11)
    split = Split(train, val, np.setdiff1d(np.arange(110), np.concatenate([train, val])))
    fixed = [replace(run, split=split, embeddings=run.embeddings[:1]) for run in make_runs()]
    found = build_content(fixed, make_nodes(), projection="pca")
    assert (decode(found["nodes"]["role"]) == 1).nonzero()[0].tolist() == train.tolist()
    assert found["protocol"]["splits"] == 1
    other = Split(val, train, split.test)
    with pytest.raises(InputError, match="different splits"):
        build_content([fixed[0], replace(fixed[1], split=other)], make_nodes(), projection="pca")


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match="at least one run"):
        build_content([], make_nodes())
    with pytest.raises(InputError, match="has 110 embeddings but the graph has 3 nodes"):
        build_content(make_runs(), replace(make_nodes(), n_nodes=3))
