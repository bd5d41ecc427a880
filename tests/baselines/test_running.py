import json
from inspect import signature
from typing import Any

import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl.baselines import BASELINES, run_baseline
from imgcl.baselines.running import check_options
from imgcl.evaluation import EvaluationResult
from imgcl.graph import Graph

QUICK: dict[str, dict[str, Any]] = {
    "propagated": {"dim": 8},
    "deepwalk": {"dim": 8, "walks_per_node": 4, "length": 20},
    "node2vec": {"dim": 8, "walks_per_node": 4, "length": 20, "p": 0.5, "q": 2.0},
    "deepwalk-features": {"dim": 8, "walks_per_node": 4, "length": 20},
}


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_beats_chance_through_the_same_evaluation(
    name: str, small_graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("imgcl.baselines.supervised_gcn.EPOCHS", 40)
    monkeypatch.setattr("imgcl.evaluation.trees.FOREST", 20)
    monkeypatch.setattr("imgcl.evaluation.trees.ROUNDS", 20)
    result = run_baseline(name, small_graph, imbalance="exp:5", splits=2, **QUICK.get(name, {}))
    assert result.protocol["baseline"] == name
    assert result.protocol["imbalance"] == "exp:5"
    assert set(result.classifiers) <= {"plain", "pbs", "reweight"}
    assert result["reweight", "accuracy"].mean > 0.4
    assert EvaluationResult.from_dict(json.loads(result.to_json())).to_json() == result.to_json()
    assert (result.ceiling is not None) == BASELINES[name].embeds
    sizes = {cells.confusion.sum() for cells in result.scores.values()}
    assert len(sizes) == 1


@pytest.mark.parametrize("name", ["features", "label-propagation"])
def test_test_nodes_may_be_as_common_as_in_the_graph(name: str, small_graph: Graph) -> None:
    natural, balanced = (run_baseline(name, small_graph, "natural", splits=2, test=t) for t in ("natural", "balanced"))
    assert natural.protocol["test"] == "natural"
    assert "test" not in balanced.protocol
    sizes = [result.of("plain").test_nodes[0] for result in (natural, balanced)]
    assert len(set(sizes[1].tolist())) == 1
    shares = small_graph.class_sizes / small_graph.class_sizes.sum()
    np.testing.assert_allclose(sizes[0] / sizes[0].sum(), shares, atol=0.02)


def test_options_reach_the_baseline(small_graph: Graph) -> None:
    one, two = (run_baseline("propagated", small_graph, splits=1, dim=4, steps=steps) for steps in (0, 2))
    assert one.protocol["steps"] == "0"
    assert one.to_json() != two.to_json()
    with pytest.raises(InputError, match="has no option 'stepps': did you mean 'steps'"):
        run_baseline("propagated", small_graph, stepps=2)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("deepwalk", {"dim": "abc"}, "'deepwalk': dim is abc: it must be a whole number, for example 128"),
        ("propagated", {"steps": 1.5}, "steps is 1.5: it must be a whole number"),
        ("propagated", {"steps": True}, "steps is True: it must be a whole number"),
        ("node2vec", {"p": "far"}, "p is far: it must be a number, for example 1.0"),
        ("deepwalk-features", {"length": 2.5}, "length is 2.5"),
        ("deepwalk-features", {"lenght": 2}, "no option 'lenght': did you mean 'length'"),
        ("gcn", {"labels": 1}, "'gcn' has no option 'labels': it has none"),
    ],
)
def test_a_wrong_option_is_explained(name: str, options: dict[str, Any], message: str, small_graph: Graph) -> None:
    with pytest.raises(InputError, match=message):
        run_baseline(name, small_graph, splits=1, **options)


@pytest.mark.parametrize("name", BASELINES)
def test_what_the_evaluation_decides_is_no_option(name: str) -> None:
    for taken in ("seed", *signature(run_baseline).parameters):
        with pytest.raises(InputError, match=f"has no option '{taken}'"):
            check_options(name, {taken: 1})


def test_whole_numbers_of_any_kind_are_numbers() -> None:
    check_options("node2vec", {"dim": np.int64(8), "p": 2, "q": np.float32(0.5)})


def test_wrong_use(small_graph: Graph) -> None:
    with pytest.raises(InputError, match="unknown baseline 'word2vec': did you mean 'node2vec'"):
        run_baseline("word2vec", small_graph)
    with pytest.raises(InputError, match="no classifier 'lda': choose from plain, reweight, pbs"):
        run_baseline("gcn", small_graph, classifier="lda")
    with pytest.raises(InputError, match="no classifier named"):
        run_baseline("gcn", small_graph, classifier=())
    with pytest.raises(InputError, match="has no labels"):
        run_baseline("features", small_graph.with_labels(None))


@pytest.mark.realdata
@pytest.mark.slow
@pytest.mark.parametrize(("name", "figure"), [("deepwalk", 69.00), ("node2vec", 69.44)])
def test_walks_are_not_below_the_papers_figure_on_photo(name: str, figure: float) -> None:
    from imgcl import load_graph

    graph = load_graph("amazon-photo")
    result = run_baseline(name, graph, classifier="reweight", splits=5, walks_per_node=5, length=40)
    assert 100 * result["reweight", "accuracy"].mean >= figure
    assert np.isfinite(result.values("reweight", "ece")).all()
