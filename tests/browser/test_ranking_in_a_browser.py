"""The search of one class in the report: curves, threshold, table."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from imgcl.report import Nodes, ReportRun, build_content, write_report
from report_samples import make_content

pytestmark = pytest.mark.browser
NODES, BANNED = 300, 60


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng, y = np.random.default_rng(0), np.repeat([0, 1], [NODES - BANNED, BANNED])
    Z = (rng.standard_normal((NODES, 4)) + 1.2 * y[:, None]).astype(np.float32)
    y[::10] = -1
    nodes = Nodes("shop", NODES, y, ["ok", "banned"], [f"user {i}" for i in range(NODES)])
    runs = [ReportRun("GBT", False, [Z])]
    content = build_content(runs, nodes, imbalance="natural", splits=2, projection="pca", decision="min-recall:0.8")
    return write_report(content, tmp_path_factory.mktemp("ranking") / "report.html")


def slide(opened, value):
    opened.page.evaluate(
        "v => { const s = document.getElementById('threshold'); s.value = v; s.dispatchEvent(new Event('input')); }",
        value,
    )


def test_the_threshold_moves_flags_precision_and_recall(open_page, report):
    opened = open_page(report)
    opened.scroll_to("#precision-recall")
    gives = lambda: opened.page.inner_text("#threshold-gives")  # noqa: E731
    at = "() => document.getElementById('precision-recall').data.at(-1).x[0]"
    slide(opened, 0)
    assert gives().startswith(
        "Flagged: 300 of 300 nodes (100.0 %), 30 of them unlabelled. Precision 20.0 %, recall 100.0 %"
    )
    assert opened.page.evaluate(at) == 100
    slide(opened, 5000)
    half = gives()
    assert 0 < opened.page.evaluate(at) < 100
    slide(opened, 10000)
    assert "Flagged: 0 of 300" in gives() != half
    assert opened.page.locator("#ranking-table tbody tr", has_text="yes").count() == 0
    assert opened.errors == []


def test_the_rule_is_said_with_what_it_gives_and_sets_the_threshold(open_page, report):
    opened = open_page(report)
    assert "Decision rule min-recall:0.8" in opened.page.inner_text("#ranking-rule")
    assert "recall 81.5 %" in opened.page.inner_text("#ranking-rule")  # 44 of 54: the first that reach 80 %
    assert "recall 81.5 %" in opened.page.inner_text("#threshold-gives")


def test_nodes_are_ranked_filtered_and_found_on_the_map(open_page, report):
    opened = open_page(report)
    rows = opened.page.locator("#ranking-table tbody tr")
    assert rows.count() == 20
    ranks = [row.split("\t")[0] for row in rows.all_inner_texts()]
    assert ranks == [str(i + 1) for i in range(20)]
    opened.page.click("#ranking-more")
    assert rows.count() == 40
    opened.page.select_option("#ranked-nodes", label="unlabelled nodes")
    assert opened.page.inner_text("#ranking-count") == "20 of 30 nodes"
    assert {row.split("\t")[-1] for row in rows.all_inner_texts()} == {"unlabelled"}
    opened.page.fill("#ranked-text", "user 290")
    assert rows.count() == 1
    rows.get_by_role("button").click()
    assert opened.page.inner_text("#node").startswith("user 290")


def test_another_class_can_be_sought(open_page, report):
    opened = open_page(report)
    opened.scroll_to("#reliability")
    facts = opened.page.inner_text("#ranking-facts")
    assert "Class banned: 54 labelled nodes" in facts
    assert re.search(r"Expected calibration error, of all classes: 0\.\d{3}\.", facts)
    opened.page.select_option("#sought", label="ok")
    assert "Class ok: 216 labelled nodes" in opened.page.inner_text("#ranking-facts")
    chance = opened.page.evaluate("() => document.getElementById('precision-recall').data.at(-2).y[0]")
    assert chance == pytest.approx(80, abs=0.01)


@pytest.mark.parametrize("width", [390, 1600])
def test_it_fits_the_screen_and_runs_are_compared(open_page, tmp_path, width):
    opened = open_page(write_report(make_content(), tmp_path / "two.html"), width=width)
    for chart in ("#precision-recall", "#reliability"):
        opened.scroll_to(chart)
    assert opened.page.evaluate("() => document.documentElement.scrollWidth") <= width
    opened.page.select_option("#ranked-run", label="GBT + ImGCL")
    names = opened.page.evaluate("() => document.getElementById('precision-recall').data.map(trace => trace.name)")
    assert names == ["GBT", "GBT + ImGCL", "chance", "threshold"]
    assert opened.errors == []


def test_few_labels_and_classes_left_out_are_said(open_page, tmp_path):
    rng, truth = np.random.default_rng(0), np.repeat([0, 1, 2], [80, 20, 20])
    y = np.where(np.isin(np.arange(120), [*range(40), 80, 81, 82, 83, 100, 101]), truth, -1)
    Z = (rng.standard_normal((120, 4)) + 2 * truth[:, None]).astype(np.float32)
    nodes = Nodes("shop", 120, y, ["ok", "banned", "odd"])
    content = build_content([ReportRun("GBT", False, [Z])], nodes, imbalance="natural", splits=2, projection="pca")
    opened = open_page(write_report(content, tmp_path / "few.html"))
    assert "Class banned: 4 labelled nodes" in opened.page.inner_text("#ranking-facts")
    assert "With fewer than 5 labels these figures" in opened.page.inner_text("#ranking-facts")
    assert "Left out, under 3 labelled nodes: 'odd' 2." in opened.page.inner_text("#results-note")
    assert "of 44 labels" in opened.page.inner_text("#lead")
    assert opened.errors == []
