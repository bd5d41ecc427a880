"""The study of few labels, on tiny graphs that bear the real ones' names."""

from __future__ import annotations

from pathlib import Path

import pytest

from imgcl.data import load_graph
from imgcl.studies import GraphRef, Graphs, Results, Store, make_report
from imgcl.studies.grid import expand
from imgcl.studies.running import run_study
from imgcl_lab import starved
from imgcl_lab.main import STUDY as MAIN
from imgcl_lab.when import answers

TINY = {"epochs": 2, "dim": 8}


def tiny_graphs(*names: str) -> Graphs:
    loaded = {}
    for seed, name in enumerate(names):
        source = f"synthetic:class_sizes=120/60/40,n_features=16,mean_degree=6,seed={seed}"
        graph = load_graph(source)
        ref = GraphRef(source=source, name=name, fingerprint=graph.fingerprint, n_classes=3)
        loaded[name] = (ref, graph)
    return Graphs(loaded)


def test_few_labels_start_from_the_pretrainings_of_the_main_table() -> None:
    graphs = tiny_graphs("amazon-photo")
    main, few = (
        {point.cell.needs.key for point in expand(study.spec, graphs) if point.labels["method"] == "gbt"}
        for study in (MAIN, starved.STUDY)
    )
    assert main < few
    assert len(few) == len(main) + 2  # the uniform selection of two seeds


def test_few_labels_have_a_page(in_line: None, tmp_path: Path) -> None:
    graphs, store = tiny_graphs("amazon-photo"), Store(tmp_path / "studies")
    imbalances = ("exp:100@5%", "exp:1@5/class")
    changes = {"seeds": 1, "splits": 2, "settings": TINY, "imbalances": imbalances}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(starved, "IMBALANCES", imbalances)
        spec = starved.STUDY.spec.model_copy(update=changes)
        run_study("starved", expand(spec, graphs), store, command="imgcl study starved")
        results = Results("starved", store.journal("starved"))
        figures, gains = make_report(results).tables
        (few,) = answers._few_labels(results)
    assert "of 2 intervals miss 0" in few
    assert len(figures.rows) == 6
    assert [row[:2] for row in gains.rows] == [
        ["exp:100@5%", "uniform"],
        ["exp:100@5%", "ImGCL"],
        ["exp:1@5/class", "uniform"],
        ["exp:1@5/class", "ImGCL"],
    ]
