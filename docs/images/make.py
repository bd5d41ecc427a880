"""The pictures of the documentation that are computed: ``python docs/images/make.py``."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from PIL import Image

from imgcl import load_graph, plots
from imgcl.balance import trace_figure
from imgcl.report import write_report
from imgcl.report.demo import run_demo
from imgcl.training.estimator import ImGCL
from imgcl_lab.contraction import figure, simulate

HERE = Path(__file__).parent


def figures() -> None:
    """Write the SVG files beside this one."""
    model = ImGCL(n_clusters=10, epochs=100).fit(load_graph("digits"))
    plots.save(trace_figure(model.history_["labellings"]), HERE / "trace.svg")
    plots.save(figure(simulate()), HERE / "contraction.svg")


def report_picture(report: Path) -> None:
    """Photograph the results and the maps of the demo's report; needs Chromium (``apt-get install chromium``)."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 1700})
        page.set_default_timeout(120_000)  # on a busy machine everything waits
        page.goto(report.resolve().as_uri())
        page.add_style_tag(content="#classes { display: none; }")  # for the picture's height
        page.wait_for_selector("#map-1 canvas")
        page.wait_for_timeout(2000)
        bottom = page.evaluate("() => document.getElementById('maps').getBoundingClientRect().bottom + scrollY + 16")
        page.screenshot(path=HERE / "report.png", clip={"x": 0, "y": 0, "width": 1280, "height": bottom})
        browser.close()
    picture = Image.open(HERE / "report.png")
    picture.quantize(128).save(HERE / "report.png", optimize=True)  # a third of the size, and nobody sees it


if __name__ == "__main__":
    figures()
    with tempfile.TemporaryDirectory() as folder:
        report_picture(write_report(run_demo().report(), Path(folder) / "report.html"))
