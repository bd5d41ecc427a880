"""Proposition 1: the contraction of the boundary's bias, simulated beside its closed form."""

from __future__ import annotations

from functools import partial
from typing import Any

from imgcl.studies.cells import Cell, Context
from imgcl.studies.grid import Graphs, Point, StudySpec
from imgcl.studies.report import Report, Table
from imgcl.studies.results import Results
from imgcl.studies.study import Study
from imgcl_lab.contraction import figure, simulate

TEXT = (
    "What one balanced re-labelling leaves of a small bias of the decision boundary, for two normal classes whose "
    "means are 2x apart: the closed form C(x), what simulation measures, and the paper's bound 2/pi = C(0)."
)
COLUMNS = ("x", "closed_form", "measured", "standard_error", "bound")


class TheoryCell(Cell):
    """Proposition 1 simulated."""

    kind = "theory"
    samples: int = 100_000
    repeats: int = 20
    seed: int = 0

    def identity(self) -> dict[str, Any]:
        return {"samples": self.samples, "repeats": self.repeats, "seed": self.seed}

    def compute(self, context: Context) -> dict[str, Any]:
        return {"rows": simulate(samples=self.samples, repeats=self.repeats, seed=self.seed)}


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
    return Report("Proposition 1", [TEXT], [table], {"theory": partial(figure, rows)}, rows)


STUDY = Study(StudySpec(name="theory", datasets=()), report, points, figures=True)
