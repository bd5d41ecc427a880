"""How soon large reports are ready, in a real browser."""

from __future__ import annotations

import numpy as np
import pytest

from imgcl.data import load_graph
from imgcl.report import Nodes, ReportRun, build_content, read_nodes, read_runs, write_report
from imgcl.training.estimator import make_config
from imgcl.training.pretrain import pretrain

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_twenty_thousand_points_are_ready_within_three_seconds(open_page, tmp_path):
    n, rng = 20_000, np.random.default_rng(0)
    y = rng.integers(10, size=n)
    Z = (np.eye(10)[y] + 0.4 * rng.standard_normal((n, 10))).astype(np.float32)
    nodes = Nodes("large", n, y, None, [f"node number {i}" for i in range(n)], 10 * n, rng.integers(90, size=n))
    runs = [ReportRun(name, name != "GBT", [Z + shift]) for name, shift in (("GBT", 0), ("GBT + ImGCL", 0.1))]
    content = build_content(runs, nodes, imbalance="exp:100", splits=1, projection="pca")
    file = write_report(content, tmp_path / "large.html")
    assert file.stat().st_size < 8_000_000
    # The best of three, as the time of the page's own thread: others may be using the machine.
    assert min(_seconds_until_interactive(open_page(file)) for _ in range(3)) < 3


@pytest.mark.slow
@pytest.mark.realdata
def test_amazon_computers_is_under_eight_megabytes_and_ready_within_three_seconds(open_page, tmp_path):
    graph = load_graph("amazon-computers")
    for balance in (None, "imgcl"):
        config = make_config(graph.name, balance=balance, overrides={"epochs": 2})
        pretrain(graph, config, tmp_path / str(balance))
    paths = [tmp_path / "None", tmp_path / "imgcl"]
    nodes, _ = read_nodes(paths[0])
    content = build_content(read_runs(paths), nodes, splits=2, projection="pca")
    file = write_report(content, tmp_path / "computers.html")
    assert file.stat().st_size < 8_000_000
    assert min(_seconds_until_interactive(open_page(file)) for _ in range(3)) < 3


def _seconds_until_interactive(opened):
    """Until both maps are drawn and have been drawn again in other colours."""
    meter = opened.page.context.new_cdp_session(opened.page)
    meter.send("Performance.enable", {"timeDomain": "threadTicks"})
    opened.page.reload()
    opened.scroll_to("#map-1")
    opened.page.select_option("#colour", "predicted")
    opened.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    metrics = {entry["name"]: entry["value"] for entry in meter.send("Performance.getMetrics")["metrics"]}
    seconds = metrics["TaskDuration"]
    opened.page.close()
    return seconds
