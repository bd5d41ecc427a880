"""Proposition 1: the contraction of the boundary's bias, simulated beside its closed form."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from imgcl.studies.cells import TheoryCell
from imgcl.studies.grid import Graphs, Point, StudySpec
from imgcl.studies.report import Report, Table
from imgcl.studies.results import Results
from imgcl.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEXT = (
    "What one balanced re-labelling leaves of a small bias of the decision boundary, for two normal classes whose "
    "means are 2x apart: the closed form C(x), what simulation measures, and the paper's bound 2/pi = C(0)."
)
COLUMNS = ("x", "closed_form", "measured", "standard_error", "bound")


def points(spec: StudySpec, graphs: Graphs) -> list[Point]:
    """One cell."""
    return [Point({"quantity": "contraction", "seed": 0}, TheoryCell(seed=spec.split_seed))]


def report(results: Results) -> Report:
    """The table and the figure."""
    result = results.result(results.points[0])
    if result is None:
        return Report("Proposition 1", [TEXT])
    rows = result["rows"]
    table = Table(
        "Contraction of the bias",
        [name.replace("_", " ") for name in COLUMNS],
        [[f"{row[name]:.4f}" for name in COLUMNS] for row in rows],
    )
    return Report("Proposition 1", [TEXT], [table], {"theory": partial(_figure, rows)}, rows)


def _figure(rows: list[dict[str, Any]]) -> Figure:
    import numpy as np

    from imgcl.plots import contraction as draw
    from imgcl_lab.contraction import contraction

    grid = np.linspace(0, max(row["x"] for row in rows), 101)
    values = {name: [row[name] for row in rows] for name in ("x", "measured", "standard_error")}
    return draw((grid, [contraction(x) for x in grid]), **values)


STUDY = Study(StudySpec(name="theory", datasets=("none",)), report, points)
