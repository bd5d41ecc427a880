"""Reasons for scores: their parts add up, in blocks as in the features behind them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from imgcl._core.errors import InputError
from imgcl.evaluation import (
    CLASSIFIERS,
    Calibration,
    Decision,
    FeatureSource,
    FittedScorer,
    Prior,
    explain,
    fit_scorer,
    reasons_frame,
)
from imgcl.evaluation.scorer import log_odds
from imgcl.evaluation.tasks import LinearModel
from imgcl.graph import Graph, Reduction

NODES = [3, 0, 77]


def make_graph(width: int, *, sparse: bool = False) -> Graph:
    """120 nodes of two classes, one of them rare; feature 1 tells them apart."""
    rng = np.random.default_rng(width)
    y = (np.arange(120) % 5 == 0).astype(np.int64)
    x = (rng.random((120, width)) < 0.1) * rng.random((120, width))
    x[:, 1] += y
    x[9] = 0  # a row of zeros stays one, if it is projected
    edges = rng.integers(0, 120, (2, 200))
    return Graph.from_edges(edges, x=sp.csr_matrix(x) if sparse else x, y=y)


def make_blocks(graph: Graph) -> tuple[dict[str, NDArray[np.float32]], dict[str, FeatureSource]]:
    reductions = {"own": Reduction.fit(graph, width=40), "neighbours": Reduction.fit(graph, width=40, hops=2)}
    learned = np.random.default_rng(0).standard_normal((graph.n_nodes, 4)).astype(np.float32)
    blocks = {name: reduction.apply(graph) for name, reduction in reductions.items()}
    sources = {name: FeatureSource(reduction, graph=graph) for name, reduction in reductions.items()}
    return {"learned": learned, **blocks}, sources


def linear_scorer(
    widths: dict[str, int], coefficients: NDArray[np.float64], setting: dict[str, float] | None = None
) -> FittedScorer:
    """A scorer of two classes with a label each."""
    model = LinearModel(torch.from_numpy(coefficients.astype(np.float32)), setting or {})
    calibration, prior, decision = Calibration(1.0, (0.0, 0.0)), Prior((0.5, 0.5), "labels"), Decision("argmax", (1, 1))
    return FittedScorer(model, "plain", widths, ("0", "1"), (1, 1), calibration, prior, decision)


def all_used(scorer: FittedScorer) -> FittedScorer:
    """The same scorer with coefficients for every column of every block."""
    size = (len(scorer.class_names), sum(scorer.widths.values()) + 1)
    coefficients = np.random.default_rng(1).standard_normal(size).astype(np.float32)
    return replace(scorer, model=LinearModel(torch.from_numpy(coefficients), {}))


@pytest.mark.parametrize(("width", "sparse"), [(12, False), (12, True), (90, False), (90, True)])
def test_features_blocks_and_mean_add_up_to_the_score(width: int, sparse: bool) -> None:
    graph = make_graph(width, sparse=sparse)
    blocks, sources = make_blocks(graph)
    scorer = all_used(fit_scorer(blocks, graph.y))
    scores = log_odds(scorer.logits(blocks))[:, scorer.target]
    found = explain(scorer, blocks, graph.y, [*NODES, 9], sources=sources, n_features=2 * width)
    for node, reasons in zip([*NODES, 9], found, strict=True):
        assert reasons.score == pytest.approx(scores[node], abs=1e-5)
        assert reasons.mean == pytest.approx(scores.mean(), abs=1e-5)
        assert reasons.mean + sum(reasons.blocks.values()) == pytest.approx(reasons.score, abs=1e-9)
        for block in sources:
            amounts = [feature.amount for feature in reasons.features if feature.block == block]
            assert sum(amounts) == pytest.approx(reasons.blocks[block], abs=1e-5)


@pytest.mark.parametrize("width", [12, 90])
def test_parts_of_an_ensemble_add_up_to_the_score(width: int) -> None:
    graph = make_graph(width)
    blocks, sources = make_blocks(graph)
    scorer = fit_scorer(blocks, graph.y, "ensemble")
    assert scorer.model.setting["trees"] == 2
    scores = log_odds(scorer.logits(blocks))[:, scorer.target]
    found = explain(scorer, blocks, graph.y, NODES, sources=sources, n_features=99)
    for node, reasons in zip(NODES, found, strict=True):
        assert reasons.score == pytest.approx(scores[node], abs=1e-4)
        assert reasons.mean == pytest.approx(scores.mean(), abs=1e-4)
        assert reasons.mean + sum(reasons.blocks.values()) == pytest.approx(reasons.score, abs=1e-9)
        if width == 12:  # a column of a narrow block is a feature, for trees as well
            amounts = [feature.amount for feature in reasons.features if feature.block == "own"]
            assert sum(amounts) == pytest.approx(reasons.blocks["own"], abs=1e-5)


def test_parts_by_hand() -> None:
    Z = {"a": np.array([[3.0, 4.0], [0.0, 2.0]]), "b": np.array([[1.0], [-1.0]])}
    coefficients = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 10.0, 2.0, 0.5]])
    found = explain(linear_scorer({"a": 2, "b": 1}, coefficients), Z, [0, 1], [0], target="1")[0]
    # rows of length 1: (0.6, 0.8, 1) and (0, 1, -1); their mean is (0.3, 0.9, 0)
    assert found.mean == pytest.approx(0.3 + 9.0 + 0.5)
    assert found.blocks == pytest.approx({"a": 0.3 - 1.0, "b": 2.0})
    assert found.score == pytest.approx(0.6 + 8.0 + 2.0 + 0.5)
    assert found.labelled[0][:2] == (1, "1")
    assert found.labelled[0].similarity == pytest.approx((0.8 - 1.0) / 2)


def test_wide_features_by_hand() -> None:
    x = np.array([[3.0, 0.0, 4.0], [0.0, 2.0, 0.0]], dtype=np.float32)
    graph = Graph.from_edges([[0], [1]], x=x)
    identity = np.eye(3, dtype=np.float32)
    own = FeatureSource(Reduction(3, 0, components=identity), ["p", "q", "r"], graph)
    weights = np.array([1.0, 10.0, 5.0])
    # rows (0.6, 0, 0.8) and (0, 1, 0), mean (0.3, 0.5, 0.4)
    assert own.contributions(x, np.array([0]), weights)[0] == pytest.approx([0.3, -5.0, 2.0])
    both = Reduction(3, 2, components=identity)  # S is 1/2 everywhere, so both nodes are alike
    neighbours = FeatureSource(both, graph=graph)
    assert neighbours.contributions(both.apply(graph), np.array([0, 1]), weights) == pytest.approx(np.zeros((2, 3)))


def test_the_feature_that_decides_is_named_first() -> None:
    graph = make_graph(12)
    blocks, sources = make_blocks(graph)
    named = {"own": FeatureSource(sources["own"].reduction, [f"f{j}" for j in range(12)])}
    own = {"own": blocks["own"]}
    scorer = fit_scorer(own, graph.y)
    found = explain(scorer, own, graph.y, [0, 5], sources=named, n_features=3)
    assert {reasons.features[0].name for reasons in found} == {"f1"}
    assert all(len(reasons.features) == 3 for reasons in found)


def test_weights_of_blocks_decide_who_is_near() -> None:
    Z = {"a": np.array([[1.0, 0], [1, 0], [0, 1]]), "b": np.array([[1.0, 0], [0, 1], [1, 0]])}
    y, coefficients = np.array([-1, 0, 1]), np.ones((2, 5))
    for weights, nearest, similarity in (((1.0, 0.0), 1, 1.0), ((0.5, 1.0), 2, 0.8)):
        setting = {"weight a": weights[0], "weight b": weights[1]}
        weighted = linear_scorer({"a": 2, "b": 2}, coefficients, setting)
        near = explain(weighted, Z, y, [0])[0].labelled
        assert near[0].node == nearest
        assert near[0].similarity == pytest.approx(similarity)
        assert len(near) == 2


def test_the_node_itself_is_not_its_reason() -> None:
    graph = make_graph(12)
    found = explain(fit_scorer(graph.x, graph.y), graph.x, graph.y, NODES, n_labelled=200)
    for reasons in found:
        assert reasons.node not in [near.node for near in reasons.labelled]
        assert len(reasons.labelled) == graph.n_nodes - 1
        falling = [near.similarity for near in reasons.labelled]
        assert falling == sorted(falling, reverse=True)


@pytest.mark.parametrize("name", [*CLASSIFIERS, "ensemble"])
def test_several_classes_are_explained_against_the_mean_of_the_others(
    name: str, blobs: tuple[NDArray[np.float32], NDArray[np.int64]]
) -> None:
    Z, y = blobs
    given = np.where(np.arange(len(y)) % 4 == 0, y, -1)
    scorer = fit_scorer(Z, given, name, class_names=["a", "b", "c", "d"])
    found = explain(scorer, Z, given, [5], target="c")[0]
    logits = scorer.logits(Z)[5]
    assert found.score == pytest.approx(logits[2] - (logits.sum() - logits[2]) / 3, abs=1e-4)
    assert found.features == ()
    assert {near.class_name for near in found.labelled} <= {"a", "b", "c", "d"}


def test_the_table_adds_up_and_has_names() -> None:
    graph = make_graph(90)
    blocks, sources = make_blocks(graph)
    names = [f"n{i}" for i in range(graph.n_nodes)]
    scorer = all_used(fit_scorer(blocks, graph.y))
    frame = reasons_frame(explain(scorer, blocks, graph.y, NODES, sources=sources), names)
    assert frame["node"].unique().tolist() == ["n3", "n0", "n77"]
    of = frame[frame["node"] == "n0"].groupby("kind")["amount"].sum()
    assert of["mean"] + of["block"] == pytest.approx(of["score"])
    parts = frame[frame["kind"].isin(["feature", "other features"])].groupby(["node", "block"])["amount"].sum()
    whole = frame[frame["kind"] == "block"].set_index(["node", "block"])["amount"]
    assert parts.to_numpy() == pytest.approx(whole.loc[parts.index].to_numpy())
    assert frame[frame["kind"] == "labelled node"]["what"].isin(names).all()


def test_text_is_short() -> None:
    graph = make_graph(12)
    blocks, sources = make_blocks(graph)
    found = explain(all_used(fit_scorer(blocks, graph.y)), blocks, graph.y, [3], sources=sources)[0]
    first, second, third = found.text([f"n{i}" for i in range(120)]).splitlines()
    assert first.startswith("n3: score for 1 ")
    assert second.startswith("  features: ")
    assert third.startswith("  nearest labelled: n")


def test_what_cannot_be_explained_is_refused() -> None:
    graph = make_graph(12)
    Z, y = graph.x, graph.y
    scorer = fit_scorer(Z, y)
    with pytest.raises(InputError, match="'LogisticRegression' have no reasons: use ensemble, plain"):
        explain(fit_scorer(Z, y, LogisticRegression()), Z, y, [0])
    with pytest.raises(InputError, match="`target` is 'tea': the classes are 0, 1"):
        explain(scorer, Z, y, [0], target="tea")
    assert explain(scorer, Z, y, [0], target=1)[0].class_name == "1"  # type: ignore[arg-type]
    with pytest.raises(InputError, match="n_features is 5 and n_labelled -1: give 0 or more"):
        explain(scorer, Z, y, [0], n_labelled=-1)
    with pytest.raises(InputError, match=r"`nodes` has 120: nodes are 0\.\.119"):
        explain(scorer, Z, y, [120])
    with pytest.raises(InputError, match="give the labels that it was fitted to"):
        explain(scorer, Z, np.where(np.arange(120) > 5, y, -1), [0])
    with pytest.raises(InputError, match="the scorer knows"):
        explain(scorer, Z[:, :3], y, [0])
    with pytest.raises(InputError, match="`graph` is missing"):
        FeatureSource(Reduction.fit(graph, width=4))
