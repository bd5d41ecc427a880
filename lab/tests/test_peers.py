"""The study of peers: what is computed first, the page, and ranks by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from imgcl.studies import Graphs, Results, Store, StudySpec, run_study
from imgcl_lab import peers
from imgcl_lab.peers import report as page
from imgcl_lab.peers import rows
from imgcl_lab.peers.answer import answers
from imgcl_lab.peers.ranks import cliques, critical_difference, critical_difference_diagram, mean_ranks

SPEC = StudySpec(
    name="peers", datasets=("digits",), balances={"none": "none"}, settings={"epochs": 2, "dim": 8}, seeds=1, splits=2
)
CHOSEN = ("embedding+best", "embedding+pooled", "gcn+plain", "gcn+balanced-softmax+tam=1")


def test_labels_are_distinct_and_the_published_protocol_comes_first() -> None:
    assert len(rows.BY_LABEL) == len(rows.ROWS)
    assert next(rows.stages())[0] == "step:10"
    assert {row.family for row in rows.ROWS} - {""} == set(page.PUBLISHED)
    pairs = [(protocol, name) for protocol, names in rows.stages() for name in names]
    assert len(set(pairs)) == len(pairs)
    assert {name for protocol, name in pairs if protocol == "step:10"} == set(rows.CITATION)
    assert {name for protocol, name in pairs if protocol == "imgcl"} == set(rows.GRAPHS)
    assert peers.STUDY.spec.checked().datasets == rows.GRAPHS


@pytest.fixture(scope="module")
def results(in_line: None, digits: Graphs, tmp_path_factory: pytest.TempPathFactory) -> Results:
    root = tmp_path_factory.mktemp("peers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("imgcl.baselines.supervised.trainer.EPOCHS", 10)
        patch.setattr(rows, "stages", lambda: iter([("imgcl", ("digits",)), ("step:10", ("digits",))]))
        patch.setattr(page, "GRAPHS", ("digits",))
        patch.setattr(page, "ROWS", [row for row in rows.ROWS if row.label in CHOSEN])
        points = [point for point in rows.points(SPEC, digits) if point.labels["method"] in CHOSEN]
        assert [point.stage for point in points] == [0] * 4 + [1] * 4
        run_study("peers", points, Store(root), command="test")
        yield Results("peers", Store(root).journal("peers"))


def test_the_page_has_every_row_ranks_and_costs(results: Results) -> None:
    made = page.report(results)
    tables = {table.title: table for table in made.tables}
    assert len(tables["Ranks"].rows) == 4
    ranks = [float(line[1]) for line in tables["Ranks"].rows]
    assert ranks == sorted(ranks)
    assert sum(ranks) == pytest.approx(10)
    assert "2 pairs of graph and protocol" in tables["Ranks"].note
    for metric in page.HEADED.values():
        assert page.OPEN not in {cell for line in tables[f"`step:10`: {metric}"].rows for cell in line}
    costs = {line[0]: line[1] for line in tables["Costs, `imgcl`"].rows}
    assert " + " in costs["embedding, `best`"]
    assert " + " not in costs["GCN"]
    published = tables["Beside published figures: balanced accuracy, `step:10`"]
    assert {cell for line in published.rows for cell in line[1:4]} == {page.OPEN}  # no citation graph was run
    assert made.figures["peers-ranks"]().axes
    assert all(0 <= line["value"] <= 1 for line in made.data)
    assert [text[:15] for text in made.text] == ["With many label", "With two labels", "Self-supervised"]


def test_the_answer_names_the_best_of_either_kind_where_all_are_finished() -> None:
    cells = {  # balanced accuracy of two splits
        ("cora", "embedding+best"): [0.7, 0.8],
        ("cora", "embedding+pooled"): [0.6, 0.6],
        ("cora", "gcn+plain"): [0.5, 0.7],
        ("cora", "gcn+balanced-softmax+tam=1"): [0.9, 0.9],
        ("pubmed", "gcn+plain"): [1.0, 1.0],  # the others are open
    }
    values = {key: {"values": dict.fromkeys(rows.METRICS, each), "seconds": 3.0} for key, each in cells.items()}
    chosen = [row for row in rows.ROWS if row.label in CHOSEN]
    (sentence,) = answers(ByHand(values), chosen, ("cora", "pubmed"))
    assert sentence == (
        "With two labels in each rare class (`step:10`), mean over one graph: embedding, `best` 75.0 (tail 75.0, "
        "1.5 s a split). The supervised network that is best by these figures themselves: TAM, balanced softmax 90.0 "
        "(tail 90.0, 1.5 s a split)."
    )


class ByHand(Results):
    """Results of `step:10` by data set and method."""

    def __init__(self, values: dict[tuple[str, str], dict[str, Any]]) -> None:
        self.values_by_hand = values

    def find(self, **labels: Any) -> list[dict[str, Any]]:
        return [labels] if labels["imbalance"] == "step:10" else []

    def result(self, point: Mapping[str, Any]) -> Any:
        return self.values_by_hand.get((point["dataset"], point["method"]))


def test_a_figure_below_the_published_one_says_so() -> None:
    known = {"values": {"balanced_accuracy": [0.60, 0.62]}}
    assert page._difference(known, 60.0) == "61.0 ± 1.4 (+1.0)"
    assert page._difference(known, 64.5) == "61.0 ± 1.4 (-3.5, missed)"


def test_ranks_by_hand() -> None:
    values = np.array([[0.9, 0.5, 0.7], [0.8, 0.6, 0.6]])
    assert mean_ranks(values).tolist() == [1.0, 2.75, 2.25]
    assert critical_difference(4, 14) == pytest.approx(2.569 * (20 / 84) ** 0.5, abs=1e-3)  # Demsar's Table 5
    assert cliques([1.0, 1.2, 1.4, 3.0], 0.5) == [(0, 2)]
    assert cliques([1.0, 2.0, 3.0], 0.5) == []
    figure = critical_difference_diagram({"a": 1.0, "b": 1.4, "c": 2.6}, problems=30)
    assert next(text.get_text() for text in figure.axes[0].texts).startswith("a")


def test_a_row_that_gives_other_results_is_computed_again_and_the_others_are_not(
    digits: Graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "stages", lambda: iter([("imgcl", ("digits",))]))
    before = {point.labels["method"]: point.cell.identity() for point in rows.points(SPEC, digits)}
    assert before["gcn+plain"]["version"] == 1
    changed = replace(rows.BY_LABEL["gcn+plain"], version=7)
    monkeypatch.setitem(rows.BY_LABEL, "gcn+plain", changed)
    after = {point.labels["method"]: point.cell.identity() for point in rows.points(SPEC, digits)}
    assert {name for name in after if after[name] != before[name]} == {"gcn+plain"}
