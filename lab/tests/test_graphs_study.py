"""The study of thirteen graphs: its grid and what comes first, its figures, and its page on tiny sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from imgcl import methods
from imgcl.cli import app
from imgcl.data import load_graph
from imgcl.data.public import PUBLIC
from imgcl.evaluation import evaluate
from imgcl.studies import GraphRef, Graphs, Results, Store, run_study, write_report
from imgcl.studies.journal import Journal
from imgcl_lab import graphs as study
from imgcl_lab.graphs import rows
from imgcl_lab.graphs.acceptance import acceptance
from imgcl_lab.graphs.figures import against_reference, better_reference, difference, found
from imgcl_lab.graphs.report import overview, report, rows_of

TINY = study.STUDY.spec.model_copy(
    update={"methods": ("gbt", "dgi"), "seeds": 2, "splits": 2, "settings": {"epochs": 2, "dim": 8}}
)


def named_graphs(*names: str) -> Graphs:
    """Small graphs that bear the real ones' names."""
    loaded = {}
    for seed, name in enumerate(names):
        source = f"synthetic:class_sizes=120/60/40,n_features=16,mean_degree=6,seed={seed}"
        graph = load_graph(source)
        loaded[name] = (GraphRef(source=source, name=name, fingerprint=graph.fingerprint, n_classes=3), graph)
    return Graphs(loaded)


# ---------------------------------------------------------------------- the grid


def test_every_method_and_thirteen_public_graphs_are_in_it() -> None:
    assert set(rows.METHODS) == set(methods.METHODS)
    assert len(rows.GRAPHS) == 13
    assert set(rows.GRAPHS) <= set(PUBLIC)
    assert {*rows.DEVELOPMENT, *rows.LAWS, *rows.WALKED} <= set(rows.GRAPHS)


def test_the_default_and_its_references_come_first_on_all_graphs() -> None:
    graphs = named_graphs("cora", "wiki-cs-structure")
    points = rows.points(study.STUDY.spec, graphs)
    first = [point for point in points if point.stage < study.STUDY.spec.seeds]
    assert {point.labels["row"] for point in first} == {"own", "neighbours", "gbt", "gbt + own + neighbours"}
    assert {(point.labels["dataset"], point.labels["seed"]) for point in first} == {
        (dataset, seed) for dataset in ("cora", "wiki-cs-structure") for seed in (0, 1)
    }
    after = list(dict.fromkeys(point.labels["method"] for point in points if point not in first))
    assert after == ["deepwalk", "node2vec", "dgi", "gbt+dgi", *rows.METHODS[2:]]
    walked = {point.labels["dataset"] for point in points if point.labels["method"] in rows.WALKS}
    assert walked == {"wiki-cs-structure"}


def test_one_pre_training_serves_all_rows_of_a_method() -> None:
    points = rows.points(study.STUDY.spec, named_graphs("cora"))
    needed = {each.key for point in points for each in point.cell.all_needs}
    assert len(needed) == len(rows.METHODS) * study.STUDY.spec.seeds
    pair = next(point.cell for point in points if point.labels["method"] == "gbt+dgi")
    assert [each.config.method for each in pair.all_needs] == ["gbt", "dgi"]
    assert len({point.cell.key for point in points}) == len(points)


def test_labels_follow_the_law_of_their_graph_and_pre_training_is_plain() -> None:
    points = rows.points(study.STUDY.spec, named_graphs("cora", "tolokers", "dblp"))
    assert {p.labels["dataset"]: p.cell.protocol.imbalance for p in points} == {
        "cora": "exp:20",
        "tolokers": "natural",
        "dblp": "exp:100",
    }
    configs = [each.config for point in points for each in point.cell.all_needs]
    assert all(config.balance is None for config in configs)
    assert {config.training.settle for config in configs if config.method == "gbt"} == {True}
    assert {config.training.settle for config in configs if config.method != "gbt"} == {False}


# ---------------------------------------------------------------------- figures of a journal by hand


def journal_of(path: Path, values: Mapping[tuple[str, str, int], Sequence[float]], tail: float = 0.5) -> Results:
    """A journal with accuracies by (data set, row, seed); no values: planned, but not run."""
    journal, lines, points = Journal(path / "graphs" / "journal.jsonl"), [], []
    for number, ((dataset, row, seed), accuracy) in enumerate(values.items()):
        labels = {"dataset": dataset, "method": row, "balance": "none", "imbalance": "natural", "row": row}
        points.append({**labels, "seed": seed, "kind": "row", "key": str(number), "pretrain": None})
        metrics = {"accuracy": accuracy, "tail": [tail] * len(accuracy)}
        result = {"values": {"plain": metrics, "best": metrics}, "weights": {}, "graph": {}}
        cell = {"type": "cell", "key": str(number), "kind": "row", "status": "done", "seconds": 1.0, "commit": "a"}
        lines += [{**cell, "result": result}] if accuracy else []
    plan = {"type": "plan", "command": "test", "missing": {}, "versions": {}, "points": points}
    for line in [plan, *lines]:
        journal.append(line)
    return Results("graphs", journal)


def standard(name: str, own: float, propagated: float, alone: float, default: float) -> dict[Any, Sequence[float]]:
    figures = {"own": own, "neighbours": propagated, "gbt": alone, "gbt + own + neighbours": default}
    return {(name, row, seed): [value - 0.01, value + 0.01] for row, value in figures.items() for seed in (0, 1)}


def test_differences_are_on_the_seeds_that_both_rows_have(tmp_path: Path) -> None:
    values = {("cora", "own", 0): [0.5, 0.6], ("cora", "own", 1): [0.9, 0.9], ("cora", "gbt", 0): [0.6, 0.8]}
    results = journal_of(tmp_path, values)
    own, gbt = (found(results, "cora", row) for row in (("own",), ("gbt",)))
    assert own is not None
    assert gbt is not None
    gain = difference(own, gbt)
    assert gain is not None
    assert gain.mean == pytest.approx(0.15)
    assert own.estimate("best", "accuracy").mean == pytest.approx(0.725)
    assert (own.cells, gbt.cells) == (4, 2)


def test_the_better_reference_needs_both_of_them(tmp_path: Path) -> None:
    results = journal_of(tmp_path, {("cora", "own", 0): [0.5, 0.6], ("cora", "neighbours", 0): []})
    assert better_reference(results, "cora") is None
    whole = journal_of(tmp_path / "whole", standard("cora", 0.5, 0.7, 0.6, 0.72))
    better = better_reference(whole, "cora")
    assert better is not None
    assert better.estimate("best", "accuracy").mean == pytest.approx(0.7)
    gain = against_reference(whole, "cora", rows.DEFAULT)
    assert gain is not None
    assert gain.mean == pytest.approx(0.02)


def verdicts(results: Results) -> dict[str, str]:
    return {line[0].split(":")[0][:20]: line[-1] for line in acceptance(results).rows}


def test_what_is_reached_and_what_is_missed_follows_from_the_journal(tmp_path: Path) -> None:
    good = standard("amazon-photo", 0.8, 0.91, 0.9, 0.921) | standard("uai2010", 0.6, 0.5, 0.5, 0.597)
    assert verdicts(journal_of(tmp_path / "good", good)) == {
        "not more than 0.5 be": "reached",
        "0.5 or more above bo": "reached",
        "Amazon-Photo": "reached",
        "Amazon-Computers": "not run",
        "DBLP": "not run",
        "Amazon fraud": "not run",
        "UAI2010": "missed",
        "tail recall not more": "reached",
    }
    bad = journal_of(tmp_path / "bad", standard("cora", 0.8, 0.7, 0.7, 0.79))
    below, above = acceptance(bad).rows[:2]
    assert below[1:] == ["below on 1 of 1: Cora -1.0 [-1.0, -1.0]", "missed"]
    assert above[1:] == ["0 of 1", "missed"]


def test_graphs_that_were_not_run_leave_a_verdict_open_unless_it_is_clear(tmp_path: Path) -> None:
    open_graphs = {(name, "own", 0): [] for name in ("dblp", "pubmed")}
    results = journal_of(tmp_path, standard("cora", 0.7, 0.8, 0.7, 0.82) | open_graphs)
    assert [line[-1] for line in acceptance(results).rows[:2]] == ["not run", "not run"]
    none = journal_of(tmp_path / "none", open_graphs)
    assert {line[-1] for line in acceptance(none).rows} == {"not run"}
    assert not any("With classifier" in text for text in report(none).text)


# ---------------------------------------------------------------------- a small run


@pytest.fixture(scope="module")
def results(in_line: None, tmp_path_factory: pytest.TempPathFactory) -> Results:
    root, graphs = tmp_path_factory.mktemp("graphs"), named_graphs("pubmed", "wiki-cs-structure")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "WALKS", ("deepwalk",))
        chosen = rows.points(TINY, graphs)
        left_out = {("pubmed", "gbt+dgi", 1), ("pubmed", "dgi", 0), ("pubmed", "dgi", 1)}
        kept = [p for p in chosen if (p.labels["dataset"], p.labels["method"], p.labels["seed"]) not in left_out]
        run_study("graphs", kept, Store(root), command="imgcl study graphs")
    return Results("graphs", Store(root).journal("graphs"))


def test_a_row_is_what_evaluate_gives_for_its_blocks(results: Results) -> None:
    graph = named_graphs("pubmed").loaded["pubmed"][1]
    own = evaluate({"own": rows.BASELINES["own"].make(graph, seed=0)}, graph.y, "natural", ("plain", "best"), 2, 0)
    mine = found(results, "pubmed", rows.OWN)
    assert mine is not None
    for metric in ("accuracy", "tail"):
        np.testing.assert_allclose(mine.values("best", metric)[0], own.values("best", metric), atol=1e-5)


def test_the_page_has_what_was_run(results: Results, tmp_path: Path) -> None:
    page = report(results)
    tables = {table.title: table for table in page.tables}
    pubmed = {line[0]: line[1:] for line in tables["PubMed"].rows}
    assert "GRACE" not in pubmed
    assert tables["Methods alone"].header == ["graph", "GBT", "DGI"]
    assert [line[-1] == "not run" for line in tables["Methods alone"].rows] == [True, False]  # DGI was left out once
    assert pubmed["GBT + own + propagated"][-1] == "4"
    assert pubmed["GBT + DGI + own + propagated"][-1] == "2"
    wiki = {line[0]: line[1:] for line in tables["Wiki-CS, structure only"].rows}
    assert "not run" not in wiki["DeepWalk"]
    assert "DeepWalk" not in pubmed
    assert [line[0] for line in overview(results).rows] == ["PubMed †", "Wiki-CS, structure only"]
    assert {file.name for file in write_report(page, results, tmp_path)} == {"graphs.md", "graphs.csv", "graphs.tex"}
    assert len(page.data) == 2 * 7 * (5 + 8)  # classifiers, metrics, rows of both graphs


def test_every_row_of_a_table_has_as_many_cells_as_its_header(results: Results) -> None:
    for table in report(results).tables:
        assert {len(line) for line in table.rows} == {len(table.header)}, table.title
    assert [rows_of("cora")[0], rows_of("cora")[-1]] == [rows.OWN, rows.PAIR]


def test_weights_of_blocks_are_recorded(results: Results) -> None:
    default = found(results, "pubmed", rows.DEFAULT)
    assert default is not None
    weights = default.by_seed[0]["weights"]["best"]
    assert set(weights) == set(rows.DEFAULT)
    assert max(weights.values()) > 0
    assert all(0 <= weight <= 1 for weight in weights.values())


def test_the_command_line_runs_the_part_that_is_asked_for(tmp_path: Path) -> None:
    part = ["--dataset", "digits", "--only", "method=own,method=neighbours", "--seeds", "1", "--splits", "2"]
    done = CliRunner().invoke(app, ["study", "graphs", *part, "--root", str(tmp_path), "--workers", "1", "--quiet"])
    assert done.exit_code == 0, done.exception
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("digits") and "natural" in line][:1]
    assert line.count("±") == 2
    assert "not run" in line
