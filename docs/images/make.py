"""The computed pictures of the documentation: ``python docs/images/make.py``, or some of them: ``... ranking report``.

Photographs need Chromium (``apt-get install chromium``), ``ranking`` the data set tolokers besides.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import imgcl
from imgcl import load_graph, plots
from imgcl.balance import trace_figure
from imgcl.labelling import LabelFile, progress
from imgcl.report import labelling_content, write_report
from imgcl.report.content import Nodes, ReportRun, build_content
from imgcl.report.demo import run_demo
from imgcl.training.estimator import ImGCL
from imgcl_lab.contraction import figure, simulate

HERE = Path(__file__).parent
WIDTH = 1280


def figures() -> None:
    """The SVG files beside this one."""
    model = ImGCL(n_clusters=10, epochs=100).fit(load_graph("digits"))
    plots.save(trace_figure(model.history_["labellings"]), HERE / "trace.svg")
    plots.save(figure(simulate()), HERE / "contraction.svg")


def report() -> None:
    """Results and maps of the demo's report."""
    with opened(run_demo().report()) as page:
        page.add_style_tag(content="#classes, #ranking { display: none; }")  # for the picture's height
        page.wait_for_selector("#map-1 canvas")
        take(page, "report.png", "#maps")


def ranking() -> None:
    """How a report of tolokers ranks the nodes for the rare class; a third of the labels are known."""
    graph = load_graph("tolokers")
    known = np.where(np.random.default_rng(0).random(graph.n_nodes) < 1 / 3, graph.y, -1)
    model = ImGCL(balance=False).fit(graph)
    nodes = Nodes("tolokers", graph.n_nodes, known, graph.class_names)
    run = ReportRun("GBT", False, (model.embedding_,), blocks=(model.blocks_,))
    options = {"imbalance": "natural", "test": "natural", "splits": 2, "projection": "pca"}
    content = build_content([run], nodes, decision="min-precision:0.6", **options)
    with opened(content) as page:
        page.add_style_tag(content="#ranking tbody tr:nth-child(n + 6), #ranking tbody ~ * { display: none; }")
        take(page, "ranking.png", "#ranking", whole=False)


def labelling() -> None:
    """The page in which a batch is labelled, after three labels."""
    graph = load_graph("digits")
    names = [f"scan-{node:04d}" for node in range(graph.n_nodes)]
    Z = ImGCL(balance=False).fit_transform(graph)
    first = imgcl.suggest(Z, 30, node_names=names)
    first["label"] = [f"digit {graph.y[names.index(node)]}" for node in first["node"]]
    done = LabelFile().extended(first)
    file = done.extended(imgcl.suggest(Z, 20, done.labels, node_names=names))
    found = progress(Z, done.labels, node_names=names)
    with opened(labelling_content(Z, file, graph=graph, node_names=names, name="digits", progress=found)) as page:
        for _ in range(3):
            page.keyboard.press("1")
        take(page, "labelling.png", "body")


@contextmanager
def opened(content: dict[str, Any]) -> Iterator[Any]:
    """The page in a browser."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 2400})
        page.set_default_timeout(120_000)  # on a busy machine everything waits
        page.goto(write_report(content, Path(folder) / "page.html").resolve().as_uri())
        yield page
        browser.close()


def take(page: Any, name: str, last: str, *, whole: bool = True) -> None:
    """Photograph the page from its top to the end of an element, or that element alone."""
    page.wait_for_timeout(3000)
    box = page.evaluate(
        "id => { const box = document.querySelector(id).getBoundingClientRect(); return [box.top, box.bottom]; }", last
    )
    top, bottom = (0 if whole else box[0]), box[1] + 16
    page.screenshot(path=HERE / name, clip={"x": 0, "y": top, "width": WIDTH, "height": bottom - top})
    Image.open(HERE / name).quantize(128).save(HERE / name, optimize=True)  # a third of the size, and nobody sees it


PICTURES: dict[str, Callable[[], None]] = {each.__name__: each for each in (figures, report, ranking, labelling)}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or PICTURES:
        PICTURES[chosen]()
