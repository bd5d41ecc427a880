"""The study of which nodes to label, on small sizes."""

from __future__ import annotations

import numpy as np
import pytest

from imgcl.graph import Graph
from imgcl.studies import Graphs, Results, Store, StudySpec, run_study
from imgcl_lab.labelling import design, report, rivals, rounds
from imgcl_lab.labelling.rounds import Case

SPEC = StudySpec(name="labelling", datasets=("digits",), settings={"epochs": 2, "dim": 8}, seeds=1)


@pytest.fixture(scope="module")
def case() -> Case:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], [60, 30, 10]))
    rows = (np.eye(3)[y] + 0.2 * rng.standard_normal((100, 3))).astype(np.float32)
    ring = np.stack([np.arange(100), (np.arange(100) + 1) % 100])
    hub = np.stack([np.full(20, 7), np.arange(20, 40)])
    graph = Graph.from_edges(np.concatenate([ring, hub], axis=1), x=rows, y=y)
    return Case(graph, rows / np.linalg.norm(rows, axis=1, keepdims=True), y, seed=0)


@pytest.mark.parametrize("strategy", [*rounds.ONE_BATCH, *rounds.IN_ROUNDS])
def test_every_strategy_spends_every_budget_on_different_nodes(case: Case, strategy: str) -> None:
    chosen = rounds.batches(case, strategy, [6, 12, 24])
    assert [len(np.unique(nodes)) for nodes in chosen] == [6, 12, 24]
    if strategy in rounds.IN_ROUNDS:
        assert np.array_equal(chosen[1], chosen[2][:12])


def test_rivals_choose_what_their_papers_say(case: Case) -> None:
    task = case.task(np.empty(0, dtype=np.int64), 4)
    assert rivals.degree(task)[0] == 7
    assert rivals.pagerank(task)[0] == 7
    first, second, *_ = rivals.core_set(task)
    distance = ((case.rows - case.rows[first]) ** 2).sum(axis=1)
    assert second == distance.argmax()
    labelled = case.task(np.arange(20), 3)
    assert rivals.margin(labelled)[0] == np.where(labelled.asked, 9.0, labelled.expected.margin).argmin()


def test_scores_are_recalls_of_the_other_nodes(case: Case) -> None:
    one = np.flatnonzero(case.y == 0)[:2]
    assert rounds.scores(case, one)["macro"] == pytest.approx(1 / 3)  # all are called class 0
    assert rounds.scores(case, one)["found"] == pytest.approx(1 / 3)
    every = np.concatenate([np.flatnonzero(case.y == k)[:5] for k in range(3)])
    assert rounds.scores(case, every)["tail"] > 0.8


def test_a_search_finds_more_than_chance() -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.1).astype(np.int64)
    rows = np.stack([np.where(y == 1, 1.0, -1.0), np.ones(600)], axis=1) + 0.3 * rng.standard_normal((600, 2))
    graph = Graph.from_edges([[0], [1]], x=rows, y=y)
    two = Case(graph, rows.astype(np.float32), y, 0)
    found, chance = (rounds.positives(two, name, (50, 100)) for name in ("search", "random"))
    assert found["100"] > 3 * chance["100"]


def test_labels_needed_is_read_off_the_rising_curve() -> None:
    budgets, reached = np.array([16.0, 32.0, 64.0]), np.array([0.4, 0.35, 0.6])
    assert report.labels_needed(budgets, reached, 0.4) == 16.0
    assert report.labels_needed(budgets, reached, 0.475) == pytest.approx(32 * 2**0.5, abs=0.01)
    assert report.labels_needed(budgets, reached, 0.61) is None


def test_own_features_are_left_out_where_there_are_none() -> None:
    assert len(design.combinations(SPEC, features=True)) == 12 + 8 + 3
    assert len(design.combinations(SPEC, features=False)) == 12 + 3


@pytest.fixture(scope="module")
def results(in_line: None, digits: Graphs, tmp_path_factory: pytest.TempPathFactory) -> Results:
    root = tmp_path_factory.mktemp("labelling")
    wanted = {("none", "embedding", "random"), ("none", "embedding", "cover"), ("none", "both", "cover")}
    chosen = []
    for point in design.points(SPEC, digits):
        if (point.labels["balance"], point.labels["rows"], point.labels["strategy"]) in wanted:
            small = point.cell.model_copy(update={"per_class": (2, 4), "selections": 2})
            chosen.append(type(point)(point.labels, small))
    run_study("labelling", chosen, Store(root), command="test")
    return Results("labelling", Store(root).journal("labelling"))


def test_the_page_has_curves_savings_and_losses(results: Results) -> None:
    page = report.report(results)
    saved, losses, table = page.tables
    assert [row[1] for row in saved.rows] == ["cover"]
    assert losses.header[-1] == "difference"
    assert [row[:2] for row in table.rows] == [["random", "embedding"], ["cover", "embedding"], ["cover", "both"]]
    figure = page.figures["labelling-digits"]()
    assert [axes.get_ylabel() for axes in figure.axes] == ["macro recall (%)", "tail recall (%)", "classes found (%)"]
    macro = {(row["strategy"], row["labels"]): row["mean"] for row in page.data if row["metric"] == "macro"}
    assert macro["cover", 40] > macro["random", 40]
