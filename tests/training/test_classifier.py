"""``ImGCLClassifier``: contract with scikit-learn, unlabelled nodes, saving, cross-validation on a graph."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

import imgcl
from imgcl import ImGCL, ImGCLClassifier, InputError, RunError
from imgcl.graph import Graph
from imgcl.training.classifier import _labels
from imgcl.training.folds import GraphNodes, LabelledFolds


@pytest.fixture(scope="module")
def graph() -> Graph:
    return imgcl.load_graph("synthetic", class_sizes=[120, 60, 20], seed=3)


@pytest.fixture(scope="module")
def run(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classifier") / "run"
    small().fit(graph).save(folder)
    return folder


def small() -> ImGCL:
    return ImGCL(n_clusters=3, epochs=5, settings={"dim": 8})


def some(graph: Graph) -> np.ndarray:
    return np.where(np.arange(graph.n_nodes) % 2 == 0, graph.y, -1)


def test_fit_predicts_every_node(graph: Graph) -> None:
    model = ImGCLClassifier(small()).fit(graph, some(graph))
    p = model.predict_proba(graph)
    assert p.shape == (200, 3)
    assert p.sum(axis=1) == pytest.approx(1)
    assert model.classes_.tolist() == [0, 1, 2]
    assert (model.predict(graph) == p.argmax(axis=1)).all()
    assert model.decision_function(graph).shape == (200, 3)
    assert model.score(graph, graph.y) > 0.6
    assert np.array_equal(model.predict(GraphNodes(graph, [5, 150])), model.predict(graph)[[5, 150]])
    other = imgcl.load_graph("synthetic", class_sizes=[60, 30, 10], seed=3)
    assert model.predict(other).shape == (100,)


def test_contract(graph: Graph) -> None:
    model = ImGCLClassifier(small(), decision="balanced")
    assert is_classifier(model)
    with pytest.raises(NotFittedError, match="call fit"):
        model.predict(graph)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    copy = clone(model).set_params(embedding__epochs=3, classifier="lda")
    assert copy.get_params()["embedding"].epochs == 3
    assert model.embedding.epochs == 5
    assert not hasattr(model.embedding, "embedding_")


def test_feature_names(graph: Graph, tmp_path: Path) -> None:
    """What a column is called decides, also in a graph whose arrays are those of the fitted one."""
    names = [f"f{i}" for i in range(graph.n_features)]
    model = ImGCLClassifier(small(), classifier="plain").fit(replace(graph, feature_names=tuple(names)))
    assert model.feature_names_in_.tolist() == names
    turned = replace(graph, feature_names=tuple(names[::-1]))
    moved = replace(graph, x=graph.x[:, ::-1], feature_names=tuple(names))
    assert model.predict_proba(turned) == pytest.approx(model.predict_proba(moved), abs=1e-5)
    with pytest.raises(InputError, match="other"):
        model.predict(replace(graph, feature_names=tuple(f"other {name}" for name in names)))
    model.save(tmp_path / "scorer")
    assert ImGCLClassifier.load(tmp_path / "scorer").feature_names_in_.tolist() == names
    assert not hasattr(ImGCLClassifier(small()).fit(graph), "feature_names_in_")


def test_labels_of_any_kind(graph: Graph, run: Path) -> None:
    names = np.array(["ok", "spam", "fraud"], dtype=object)[graph.y]
    named = ImGCLClassifier(run).fit(graph, np.where(some(graph) < 0, None, names))
    assert named.classes_.tolist() == ["fraud", "ok", "spam"]
    assert set(named.predict(graph)) <= {"ok", "spam", "fraud"}
    own = ImGCLClassifier(run).fit(graph)  # the labels of the graph
    assert own.classes_.tolist() == [0, 1, 2]
    two = ImGCLClassifier(run).fit(graph, np.where(graph.y == 2, 1, 0))
    odds, p = two.decision_function(graph), two.predict_proba(graph)[:, 1]
    assert odds.shape == (200,)
    assert (np.diff(p[np.argsort(odds)]) >= -1e-9).all()


def test_labels_by_name(graph: Graph, run: Path) -> None:
    named = replace(graph, node_names=tuple(f"n{i}" for i in range(200)))
    series = pd.Series(graph.y, index=named.node_names)[::-2]
    expected = ImGCLClassifier(run, classifier="plain").fit(graph, np.where(np.arange(200) % 2, graph.y, -1))
    model = ImGCLClassifier(run, classifier="plain").fit(named, series)
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.array_equal(model.predict_proba(graph), expected.predict_proba(graph))
    flags = ImGCLClassifier(run, classifier="plain").fit(named, (series == 2).astype("boolean"))
    assert flags.classes_.tolist() == [False, True]
    assert flags.predict(graph).dtype == bool
    assert 0.5 < flags.score(graph, graph.y == 2) <= 1


def test_labels_by_name_have_the_type_that_was_given(graph: Graph) -> None:
    named = replace(graph, node_names=tuple(f"n{i}" for i in range(200)))
    series = pd.Series(graph.y, index=named.node_names)[::-2]
    expected = np.where(np.arange(200) % 2, graph.y, -1)
    forms = (series, series.to_dict(), series.astype("Int64"), series.astype(float).reindex(named.node_names))
    for y in forms:
        labels, names = _labels(GraphNodes(named), y)
        assert labels.dtype.kind == "i"
        assert np.array_equal(labels, expected)
        assert names is None


@pytest.mark.parametrize("named", [False, True])
def test_a_series_that_cross_validation_has_cut(graph: Graph, named: bool) -> None:
    nodes = GraphNodes(replace(graph, node_names=tuple(f"n{i}" for i in range(200))))
    y = pd.Series(graph.y, index=nodes.names if named else None)
    train, _ = next(LabelledFolds(3).split(nodes, y))
    labels, _ = _labels(nodes[train], y.iloc[train])
    assert np.array_equal(np.flatnonzero(labels >= 0), train)
    assert np.array_equal(labels[train], graph.y[train])


def test_wrong_use(graph: Graph, run: Path) -> None:
    with pytest.raises(InputError, match=r"y has shape \(3,\) but there are 200 nodes"):
        ImGCLClassifier(run).fit(graph, [0, 1, 0])
    with pytest.raises(InputError, match=r"embedding is 3: give an imgcl\.ImGCL"):
        ImGCLClassifier(3).fit(graph)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the graph has no labels: give some as y"):
        ImGCLClassifier(run).fit(Graph.from_edges([[0], [1]], x=np.eye(2)))


@pytest.mark.parametrize(
    ("parameters", "labels", "message"),
    [
        ({"decision": "best"}, None, "`decision` is 'best'"),
        ({"decision": "cost:9=3"}, None, "`decision` has class '9'"),
        ({"decision": "min-recall:0.5"}, [0, 0, 1], "fewer than two labels to choose it on"),
        ({"prior": "nature"}, None, "`prior` is 'nature'"),
        ({"prior": ["a", "b", "c"]}, None, r"`prior` is \['a', 'b', 'c'\]: give one share for each"),
        ({"classifier": "forest"}, None, "unknown classifier 'forest'"),
        ({"random_state": "a"}, None, "random_state is 'a'"),
        ({}, [1, 1], "every label is '1': a classifier needs at least two classes"),
        ({}, [0, -2], r"labels\[1\] is -2"),
        ({}, [0, 1], "every class has a single label"),
    ],
)
def test_refused_before_the_pre_training(
    graph: Graph, parameters: dict, labels: list | None, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ImGCL, "fit", lambda *_: pytest.fail("it was trained"))
    y = None if labels is None else labels + [-1] * (graph.n_nodes - len(labels))
    with pytest.raises(InputError, match=message):
        ImGCLClassifier(small(), **parameters).fit(graph, y)


def test_nodes_are_numbers_or_a_mask(graph: Graph) -> None:
    assert GraphNodes(graph, np.arange(200) % 50 == 7).nodes.tolist() == [7, 57, 107, 157]
    for wrong in ([1.7], [-1], [200], [3, 3], [[1, 2]], ["a"], [True]):
        with pytest.raises(InputError, match="node"):
            GraphNodes(graph, wrong)


def test_the_score_counts_labelled_nodes_alone(graph: Graph, run: Path) -> None:
    half = some(graph)
    model = ImGCLClassifier(run, classifier="plain").fit(graph, half)
    known = half >= 0
    wanted = (model.predict(graph) == graph.y)[known].mean()
    assert model.score(graph, half) == pytest.approx(wanted)
    assert model.score(graph, dict(enumerate(half.tolist()))) == pytest.approx(wanted)
    assert model.score(graph, half, sample_weight=known) == pytest.approx(wanted)
    with pytest.raises(InputError, match="no node has a label: a score needs some"):
        model.score(graph, [-1] * graph.n_nodes)


def test_a_score_finds_the_names_of_classes(graph: Graph, run: Path) -> None:
    names = [f"kind {k}" for k in range(graph.n_classes)]
    named = replace(graph, class_names=tuple(names))
    model = ImGCLClassifier(run, classifier="plain").fit(named)
    assert model.score(named) == model.score(named, graph.y) == model.score(named, [names[k] for k in graph.y])
    with pytest.raises(InputError, match="y has numbers, and the classes are kind 0, kind 1"):
        model.score(replace(graph, class_names=None), graph.y)


@pytest.mark.parametrize(
    "kinds", [[1, 2], [9, 10], [False, True], ["yes", "no"], pd.to_datetime(["2024-01-01", "2025-01-01"])]
)
def test_a_score_is_the_same_however_labels_are_written(run: Path, tmp_path: Path, kinds: Any) -> None:
    graph = imgcl.load_graph("synthetic", class_sizes=[120, 60, 20], seed=3)
    label = pd.Series(kinds)[np.minimum(graph.y, 1)].reset_index(drop=True)
    table = graph.with_labels(np.minimum(graph.y, 1), class_names=[*map(str, kinds)])
    of_graph = ImGCLClassifier(run, classifier="plain").fit(table)
    given = ImGCLClassifier(run, classifier="plain").fit(graph, label)
    given.save(tmp_path / "given")
    of_graph.save(tmp_path / "graph")
    expected = of_graph.score(table)
    assert expected > 0.8
    for folder in ("given", "graph")[: 1 if isinstance(kinds, pd.DatetimeIndex) else 2]:
        loaded = ImGCLClassifier.load(tmp_path / folder)
        assert loaded.classes_.tolist() == sorted(loaded.classes_.tolist())
        assert loaded.score(graph, label) == pytest.approx(expected, abs=0.02)
    assert ImGCLClassifier(run, classifier="plain").fit(table, table.y).score(table) == pytest.approx(
        expected, abs=0.02
    )
    if not isinstance(kinds, pd.DatetimeIndex):  # whose names are another text in the graph
        assert given.score(table) == pytest.approx(expected, abs=0.02)
        assert ImGCLClassifier.load(tmp_path / "graph").score(table) == pytest.approx(expected, abs=0.02)


def test_tools_that_fit_take_the_labelled_nodes(graph: Graph, run: Path) -> None:
    labels = some(graph)
    tool = CalibratedClassifierCV(ImGCLClassifier(run, classifier="plain"), cv=2)
    tool.fit(GraphNodes(graph, labels >= 0), labels[labels >= 0])
    assert tool.classes_.tolist() == [0, 1, 2]  # no class -1
    assert tool.predict_proba(GraphNodes(graph)).shape == (200, 3)


def test_classes_of_which_a_number_may_be_name_or_place(graph: Graph, run: Path) -> None:
    from_one = replace(graph, class_names=("1", "2", "3"))
    model = ImGCLClassifier(run, classifier="plain").fit(from_one)
    assert model.score(from_one) == model.score(from_one, [str(k + 1) for k in graph.y])
    with pytest.raises(InputError, match="y has numbers, and the classes are 1, 2, 3: give labels by those names"):
        model.score(from_one, graph.y + 1)
    with pytest.raises(InputError, match="y has no label of the classes 1, 2, 3: the first is 'tea'"):
        model.score(from_one, ["tea"] * graph.n_nodes)


def test_classes_are_sorted_as_metrics_of_scikit_learn_expect(graph: Graph, run: Path) -> None:
    two = graph.with_labels(np.where(graph.y == 2, 1, 0), class_names=["ok", "bad"])
    model = ImGCLClassifier(run, classifier="plain").fit(two)
    assert model.classes_.tolist() == ["bad", "ok"]
    named = np.array(["ok", "bad"])[two.y]
    assert np.array_equal(
        model.predict_proba(two), ImGCLClassifier(run, classifier="plain").fit(two, named).predict_proba(two)
    )
    assert get_scorer("roc_auc")(model, GraphNodes(two), named) > 0.8
    assert model.score(two) == model.score(two, named) == model.score(two, two.y)


def test_wrong_scores(graph: Graph, run: Path) -> None:
    named = replace(graph, class_names=("a", "b", "c"))
    model = ImGCLClassifier(run, classifier="plain").fit(named)
    with pytest.raises(InputError, match="y has class 7, but the graph has 3 class names"):
        model.score(named, [7] * 200)
    with pytest.raises(InputError, match=r"sample_weight has shape \(2,\) but there are 200 nodes"):
        model.score(named, sample_weight=[1, 2])
    with pytest.raises(InputError, match=r"given has shape \(1,\) but there are 200 nodes"):
        model.scorer_.score(named, given=[True])


def test_a_classifier_without_probabilities_says_so(graph: Graph, run: Path) -> None:
    model = ImGCLClassifier(run, classifier=LinearSVC()).fit(graph)
    assert model.score(graph) > 0.6
    for method in (model.predict_proba, model.decision_function):
        with pytest.raises(InputError, match="classifier 'LinearSVC' gives no probabilities: use predict"):
            method(graph)
    assert model.scorer_.score(graph)["rank"].isna().all()  # it was the order of the nodes


def test_saved_and_loaded(graph: Graph, run: Path, tmp_path: Path) -> None:
    model = ImGCLClassifier(run, prior="2=30%", decision="min-recall:2=0.7").fit(graph, some(graph))
    model.save(tmp_path / "scorer")
    loaded = ImGCLClassifier.load(tmp_path / "scorer")
    assert loaded.predict_proba(graph) == pytest.approx(model.predict_proba(graph), abs=1e-5)
    assert loaded.classes_.tolist() == [0, 1, 2]
    assert loaded.decision == "min-recall:2=0.7"
    assert loaded.prior["2"] == pytest.approx(0.3)
    assert {file.name for file in (tmp_path / "scorer").iterdir()} >= {"MODEL_CARD.md", "scorer.json", "run"}
    with pytest.raises(RunError, match="is not a scorer"):
        ImGCLClassifier.load(run)
    with pytest.raises(InputError, match="cannot be saved without pickle"):
        ImGCLClassifier(run, classifier=LogisticRegression()).fit(graph).save(tmp_path / "other")


def test_grid_search_on_a_graph_with_unlabelled_nodes(graph: Graph, run: Path) -> None:
    grid = {"classifier": ["plain", "nearest-mean"], "decision": ["argmax", "balanced"]}
    search = GridSearchCV(ImGCLClassifier(run), grid, cv=LabelledFolds(3), scoring="balanced_accuracy")
    search.fit(GraphNodes(graph), some(graph))
    assert len(search.cv_results_["mean_test_score"]) == 4
    assert search.best_score_ > 0.4
    assert search.predict_proba(graph).shape == (200, 3)


def test_random_search_over_settings_of_the_embedding_and_the_classifier() -> None:
    graph = imgcl.load_graph("synthetic", class_sizes=[60, 30], seed=3)
    y = pd.Series(np.where(np.arange(90) % 2 == 0, np.where(graph.y == 1, "rare", "common"), None))
    model = ImGCLClassifier(ImGCL(n_clusters=2, epochs=2, blocks="learned"), classifier="plain")
    settings = {
        "embedding__method": ["gbt", "grace"],
        "embedding__settings": [{"dim": 4}, {"dim": 8, "encoder": "sage"}],
        "classifier": ["plain", "reweight"],
    }
    search = RandomizedSearchCV(
        model, settings, n_iter=2, cv=LabelledFolds(2), scoring="roc_auc", random_state=0, error_score="raise"
    )
    search.fit(GraphNodes(graph), y)
    assert search.best_score_ > 0.5
    best = search.best_estimator_
    assert best.embedding.settings == search.best_params_["embedding__settings"]
    assert best.scorer_.config.method == search.best_params_["embedding__method"]
    assert set(search.predict(graph)) <= {"rare", "common"}


def test_cross_validation_hides_the_labels_of_the_fold(graph: Graph, run: Path) -> None:
    """With labels that are noise, a model that saw those of the fold would find them."""
    noise = np.random.default_rng(0).integers(0, 2, 200)
    model = ImGCLClassifier(run, classifier="nearest-mean")
    found = cross_val_score(model, GraphNodes(graph), noise, cv=LabelledFolds(4), error_score="raise")
    assert abs(found.mean() - 0.5) < 0.15


def test_folds_have_labelled_nodes_once_and_spread_classes() -> None:
    y = np.array(["a"] * 9 + ["b"] * 3 + [None] * 5 + ["c"], dtype=object)
    parts = list(LabelledFolds(3, random_state=1).split(None, y))
    tested = np.concatenate([test for _, test in parts])
    assert sorted(tested) == list(range(12))  # the only c is never tested
    for train, test in parts:
        assert 17 in train
        assert not set(train) & set(test)
        assert sorted(y[test]) == ["a"] * 3 + ["b"]
    with pytest.raises(InputError, match="n_splits is 20, but no class has more than 9 labels"):
        list(LabelledFolds(20).split(None, y))
    for wrong in (0, 1, -2, 2.5, "a"):
        with pytest.raises(InputError, match="give a whole number of at least 2"):
            LabelledFolds(wrong)  # type: ignore[arg-type]


def test_a_scorer_with_the_encoder_of_another_is_refused(graph: Graph, tmp_path: Path) -> None:
    for seed in (0, 1):
        embedding = ImGCL(epochs=2, settings={"dim": 8}, random_state=seed)
        ImGCLClassifier(embedding, classifier="plain").fit(graph, some(graph)).save(tmp_path / str(seed))
    (tmp_path / "0" / "run").rename(tmp_path / "its own")
    (tmp_path / "1" / "run").rename(tmp_path / "0" / "run")
    with pytest.raises(RunError, match=r"checkpoint\.safetensors is not the file that was saved here"):
        ImGCLClassifier.load(tmp_path / "0")
