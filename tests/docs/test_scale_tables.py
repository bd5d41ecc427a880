"""The figures about large graphs are those of the journal of measurements, and every bar is met."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(DOCS.parent / "benchmarks"))
    return importlib.import_module


@pytest.fixture
def measured() -> dict[str, Any]:
    return dict(json.loads((DOCS / "results" / "scale.json").read_text(encoding="utf-8")))


def lines(text: str) -> set[str]:
    return {line for line in text.splitlines() if line.startswith("|")}


def test_the_table_of_the_performance_page(benchmarks: Any, measured: dict[str, Any]) -> None:
    scale: ModuleType = benchmarks("scale")
    assert set(measured["1"]) == set(scale.BARS)
    assert lines(scale.table(measured["1"], 1)) <= lines((DOCS / "performance.md").read_text(encoding="utf-8"))
    for stage, bars in scale.BARS.items():
        for key, bar in bars.items():
            assert scale.is_met(key, measured["1"][stage][key], bar), (stage, key)


def test_the_model_on_the_page_about_scaling(benchmarks: Any, measured: dict[str, Any]) -> None:
    model: ModuleType = benchmarks("scaling_model")
    page = lines((DOCS / "scaling_limits.md").read_text(encoding="utf-8"))
    assert lines(model.checked(measured)) <= page, "run: python benchmarks/scaling_model.py --write"
    assert lines(model.on_paper(measured)) <= page, "run: python benchmarks/scaling_model.py --write"


def test_the_model_is_near_what_was_measured_at_one_percent(benchmarks: Any, measured: dict[str, Any]) -> None:
    model, found = benchmarks("scaling_model").Model(measured["1"]), measured["0.416667"]
    assert found["generate and store"]["store_mb"] * 2**20 == pytest.approx(model.bytes(1e6)["store"], rel=0.02)
    for stage, seconds in model.seconds(1e6).items():
        key = "seconds_to_1e-10" if stage == "PageRank" else "seconds"
        assert found[stage][key] == pytest.approx(seconds, rel=0.5), stage
