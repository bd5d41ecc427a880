"""The study of one rare class: which class, which nodes, and the page, on small sizes."""

from __future__ import annotations

import numpy as np
import pytest

from imgcl.graph import Graph
from imgcl.studies import Graphs, Results, Store, StudySpec, run_study
from imgcl_lab import rare

SPEC = StudySpec(
    name="rare", datasets=("digits",), balances={"none": "none"}, settings={"epochs": 2, "dim": 8}, seeds=1, splits=2
)


def test_the_rarest_class_with_enough_nodes_is_sought() -> None:
    def graph(*sizes: int) -> Graph:
        y = np.repeat(np.arange(len(sizes)), sizes)
        return Graph.from_edges([[0], [1]], x=np.ones((len(y), 1)), y=y)

    assert rare.rare_class(graph(300, 100, 99)) == 1
    assert rare.rare_class(graph(100, 200, 150)) == 0
    assert rare.rare_class(graph(90, 300, 20)) == 0  # no rarer class has a hundred


def test_splits_have_the_labels_of_their_regime() -> None:
    y = np.repeat([0, 1], [400, 100])
    few, most = (rare.draw_split(y, regime, 0) for regime in rare.REGIMES)
    assert [np.bincount(y[part]).tolist() for part in (few.train, few.val, few.test)] == [[80, 20], [80, 20], [240, 60]]
    sizes = [np.bincount(y[part]).tolist() for part in (most.train, most.val, most.test)]
    assert sizes == [[160, 40], [80, 20], [160, 40]]
    assert not np.array_equal(rare.draw_split(y, "40/20/40", 1).train, most.train)
    np.testing.assert_array_equal(rare.draw_split(y, "40/20/40", 0).train, most.train)


def test_rows_without_an_embedding_need_no_pre_training(digits: Graphs) -> None:
    cells = {(p.labels["rows"], p.labels["classifier"]): p.cell for p in rare.points(SPEC, digits)}
    assert cells["own", "trees"].needs is None
    assert cells["embedding", "linear"].needs is not None
    assert len({cell.key for cell in cells.values()}) == len(rare.ROWS) * len(rare.CLASSIFIERS)


@pytest.fixture(scope="module")
def results(in_line: None, digits: Graphs, tmp_path_factory: pytest.TempPathFactory) -> Results:
    root = tmp_path_factory.mktemp("rare")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("imgcl.evaluation.trees.FOREST", 10)
        patch.setattr("imgcl.evaluation.trees.ROUNDS", 10)
        chosen = [point for point in rare.points(SPEC, digits) if point.labels["regime"] == "100 labels"]
        run_study("rare", chosen, Store(root), command="test")
    return Results("rare", Store(root).journal("rare"))


def test_the_page_has_every_row_and_compares_the_default_with_trees(results: Results) -> None:
    page = rare.report(results)
    summary, table = page.tables
    assert [line[0] for line in table.rows] == list(rare.ROWS)
    assert "open" not in {cell for line in table.rows for cell in line}
    (line,) = summary.rows
    assert line[1] == "100 labels"
    assert line[4] in rare.BASELINES
    assert line[6] in ("yes", "no")
    figures = {
        row["metric"]: row["value"] for row in page.data if row["rows"] == "own" and row["classifier"] == "trees"
    }
    assert all(0 < value <= 1 for value in figures.values())


def test_within_a_point_of_the_better_trees() -> None:
    found = {
        (rare.DEFAULT, "ensemble"): {"auprc": [0.605, 0.625]},
        ("own", "trees"): {"auprc": [0.4, 0.4]},
        ("own, means", "trees"): {"auprc": [0.61, 0.63]},
    }
    assert rare._against_trees(found)[2] == "own, means"
    assert rare._against_trees(found)[-1] == "yes"
    found[rare.DEFAULT, "ensemble"] = {"auprc": [0.58, 0.60]}
    assert rare._against_trees(found)[-1] == "no"
