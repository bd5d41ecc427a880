"""The figures that the documentation recommends by are those of the results pages."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("measured_tables", ROOT / "scripts" / "measured_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_results(script: ModuleType) -> None:
    for page in script.TABLES:
        assert script.updated(page) == page.read_text(encoding="utf-8"), "run: python scripts/measured_tables.py"


def test_every_graph_and_method_that_was_measured_is_there(script: ModuleType) -> None:
    classifiers, methods = script.classifiers(), script.methods()
    for graph in ("Amazon-Computers", "Amazon-Photo", "DBLP"):
        assert f"| {graph} |" in classifiers
    for method in ("GBT", "GRACE", "BGRL", "DGI", "MVGRL", "InfoGraph", "propagated features"):
        assert f"| {method} |" in methods


def test_what_the_page_says_about_the_tables_is_so(script: ModuleType) -> None:
    found = script.results("baselines")["tail"].unstack("classifier").xs(script.UNTRAINED, level="method")
    assert (found["logit-adjust"] == found[list(script.CLASSIFIERS)].max(axis=1)).all()
    assert (found["reweight"] - found["plain"] > 10).all()
    photo = script.results("methods")["accuracy"].unstack("classifier").loc["amazon-photo"].xs("none", level="balance")
    assert set(photo["pbs"].nlargest(2).index) == {"grace", "gbt"}
    assert (photo["pbs"] - photo["plain"]).min() > photo["plain"].max() - photo["plain"].min()
