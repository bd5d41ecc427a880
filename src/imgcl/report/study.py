"""The page of a study: its text, tables, figures, and its numbers as a chart to explore."""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path
from typing import Any

from imgcl.report.encoding import number
from imgcl.studies import Results, make_report
from imgcl.studies.journal import JOURNAL, Journal

VALUES = ("mean", "sd", "low", "high")
NOT_LABELS = {*VALUES, "classifier", "metric", "cells"}


def is_study(path: str | Path) -> bool:
    """Whether a directory holds the journal of a study."""
    return (Path(path) / JOURNAL).is_file()


def study_content(path: str | Path) -> dict[str, Any]:
    """What the page of a study shows, read from its journal (see ``imgcl study``).

    Args:
        path: directory of the study, for example ``studies/main``.
    """
    folder = Path(path)
    results = Results(folder.resolve().name, Journal(folder / JOURNAL))
    report = make_report(results)
    counts = results.counts()
    return {
        "kind": "study",
        "graph": {"name": report.title},
        "title": report.title,
        "text": list(report.text),
        "open": counts["open"],
        "failed": counts["failed"],
        "missing": {name: str(why) for name, why in results.missing.items()},
        "tables": [
            {"title": table.title, "header": list(table.header), "rows": [list(row) for row in table.rows]}
            | {"note": table.note}
            for table in report.tables
        ],
        "figures": {name: _svg(draw()) for name, draw in report.figures.items()},
        "rows": _rows([row for row in report.data if {"metric", "mean"} <= set(row)]),
        "facts": results.facts(),
    }


def _rows(data: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the chart; labels that are the same everywhere say nothing and are left out."""
    labels = [key for key in dict.fromkeys(key for row in data for key in row) if key not in NOT_LABELS]
    telling = [key for key in labels if len({str(row.get(key)) for row in data}) > 1]
    return [
        {
            "group": " · ".join(str(row[key]) for key in telling if row.get(key) is not None) or "all",
            "series": str(row.get("classifier", "")),
            "metric": str(row["metric"]),
            **{key: number(row.get(key)) for key in VALUES},
        }
        for row in data
    ]


def _svg(figure: Any) -> str:
    """A figure as the address of an image that carries its data."""
    from imgcl.plots import save

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.svg"
        save(figure, path)
        return "data:image/svg+xml;base64," + base64.b64encode(path.read_bytes()).decode("ascii")
