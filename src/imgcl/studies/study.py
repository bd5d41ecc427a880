"""A study: what it asks for, and how its results are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from imgcl.studies.grid import Graphs, Point, StudySpec, expand
from imgcl.studies.report import Report
from imgcl.studies.results import Results


@dataclass(frozen=True)
class Study:
    """A named study.

    Attributes:
        spec: the grid.
        report: tables and figures from results.
        points: the grid's points; by default every combination is evaluated.
        then: points that the results of the first ones decide; they are computed when those are finished.
        figures: whether its report has figures, which need ``imgcl[plots]``.
    """

    spec: StudySpec
    report: Callable[[Results], Report]
    points: Callable[[StudySpec, Graphs], list[Point]] = expand
    then: Callable[[StudySpec, Graphs, Results], list[Point]] | None = None
    figures: bool = False
