"""The two stages of the study of forms, and the study of few labels, on tiny graphs that bear the real ones' names."""

from __future__ import annotations

from pathlib import Path

import pytest
from imgcl_lab.forms import CHOOSE, CONFIRM, FORMS, GRAPHS, choice, points, then
from imgcl_lab.main import STUDY as MAIN
from imgcl_lab.when import answers

from imgcl.data import load_graph
from imgcl.imbalance import make_splits
from imgcl.studies import Graphs, Results, Store, forms, make_report, running, starved, write_report
from imgcl.studies.cells import EvaluateCell, GraphRef
from imgcl.studies.engines.worker import Worker
from imgcl.studies.grid import expand
from imgcl.studies.running import run_study
from imgcl.training.forms import check_forms

FEW = {"gbt": {"weighted rows": "selection=weighted"}, "grace": {"other negatives": "negatives=other"}}
TINY = {"epochs": 2, "dim": 8}


def in_line(agenda, store, settings, on_done) -> None:
    worker = Worker(store, None)
    while (cell := agenda.next()) is not None:
        record = worker.work(cell)
        assert record["status"] == "done", record
        agenda.finished(cell, record)
        on_done(cell, record)


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "resolve_engine", lambda name: in_line)


def tiny_graphs(*names: str) -> Graphs:
    loaded = {}
    for seed, name in enumerate(names):
        source = f"synthetic:class_sizes=120/60/40,n_features=16,mean_degree=6,seed={seed}"
        graph = load_graph(source)
        ref = GraphRef(source=source, name=name, fingerprint=graph.fingerprint, n_classes=3)
        loaded[name] = (ref, graph)
    return Graphs(loaded)


def test_every_form_fits_its_method() -> None:
    spec = forms.STUDY.spec.checked()
    for method, settings in FORMS.items():
        for name in settings:
            cell = next(
                point.cell.pretrain
                for point in points(spec, tiny_graphs("cora"))
                if (point.labels["method"], point.labels["balance"]) == (method, name)
            )
            check_forms(cell.config.balance, method, whole_graph=True, workers=1)


def test_the_choice_looks_at_validation_nodes_only() -> None:
    found = points(forms.STUDY.spec, tiny_graphs(*GRAPHS[CHOOSE], *GRAPHS[CONFIRM]))
    assert {point.labels["dataset"] for point in found} == set(GRAPHS[CHOOSE])
    assert {point.cell.protocol.measure for point in found} == {"validation"}
    assert {point.labels["seed"] for point in found} == {0, 1, 2}


def test_a_validation_figure_never_touches_a_test_node(tmp_path: Path) -> None:
    (point,) = points(forms.STUDY.spec.model_copy(update={"seeds": 1, "splits": 3}), tiny_graphs("cora"))[:1]
    assert isinstance(point.cell, EvaluateCell)
    graph = load_graph(point.cell.pretrain.graph.source)
    from imgcl.studies.compute import Embedded

    assert graph.y is not None
    used = Embedded(None, graph.y).splits(point.cell.protocol)  # type: ignore[arg-type]
    for mine, whole in zip(used, make_splits(graph.y, "exp:100", 3, 0), strict=True):
        assert not set(mine.test) & set(whole.test)
        assert set(mine.val) | set(mine.test) == set(whole.val)
        assert set(mine.train) == set(whole.train)


def test_both_stages_in_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(forms, "FORMS", FEW)
    monkeypatch.setattr(forms, "CONFIRM_SEEDS", 2)
    graphs, store = tiny_graphs(*GRAPHS[CHOOSE], *GRAPHS[CONFIRM]), Store(tmp_path / "studies")
    spec = forms.STUDY.spec.model_copy(update={"seeds": 1, "splits": 2, "settings": TINY})
    run_study("forms", points(spec, graphs), store, command="imgcl study forms")
    results = Results("forms", store.journal("forms"))
    assert "Chosen" not in " ".join(make_report(results).text)
    method, form = choice(results)
    confirmed = then(spec, graphs, results)
    assert {point.labels["dataset"] for point in confirmed} == set(GRAPHS[CONFIRM])
    assert {point.labels["balance"] for point in confirmed} == {"none", "uniform", "imgcl", form}
    assert {point.labels["seed"] for point in confirmed} == {100, 101}
    assert {(point.cell.protocol.measure, point.cell.protocol.seed) for point in confirmed} == {("test", 100)}
    run_study("forms", confirmed, store, command="imgcl study forms")

    results = Results("forms", store.journal("forms"))
    assert choice(results) == (method, form)  # of the first stage alone
    stage = {point["key"]: point["stage"] for point in results.points}
    order = [stage[line["key"]] for line in store.journal("forms").lines() if line.get("kind") == "evaluate"]
    assert order == [CHOOSE] * order.count(CHOOSE) + [CONFIRM] * order.count(CONFIRM)
    files = {path.name for path in write_report(make_report(results), results, tmp_path / "page")}
    assert {"forms.md", "forms.csv", "forms-choose.svg"} <= files
    page = (tmp_path / "page" / "forms.md").read_text(encoding="utf-8")
    assert f"Chosen: **{form}**" in page
    assert "Gain of the confirmed forms" in page
    (tried,) = answers._tried(results)  # as the page of `when` quotes it
    assert f"*{form}*" in tried
    assert "3 graphs that it was confirmed on" in tried
    assert "open" not in page


def test_few_labels_start_from_the_pretrainings_of_the_main_table() -> None:
    graphs = tiny_graphs("amazon-photo")
    main, few = (
        {point.cell.needs.key for point in expand(study.spec, graphs) if point.labels["method"] == "gbt"}
        for study in (MAIN, starved.STUDY)
    )
    assert main < few
    assert len(few) == len(main) + 2  # the uniform selection of two seeds


def test_few_labels_have_a_page(tmp_path: Path) -> None:
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
