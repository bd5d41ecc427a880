"""A study: its grid and its report; studies are found by name in the packages that offer them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from imgcl._core.errors import InputError
from imgcl._core.references import Registry
from imgcl._core.words import did_you_mean
from imgcl.studies import custom
from imgcl.studies.grid import Graphs, Point, StudySpec, expand
from imgcl.studies.report import Report
from imgcl.studies.results import Results

THE_PAPERS = "main"  # the lab is installed when this study is
INSTALL = "the paper's studies are a package of their own: pip install ./lab in a checkout of imgcl's repository"


@dataclass(frozen=True)
class Study:
    """A named study.

    Attributes:
        spec: the grid.
        report: tables and figures from results.
        points: the grid's points; by default every combination is evaluated.
        figures: whether its report has figures, which need ``imgcl[plots]``.
    """

    spec: StudySpec
    report: Callable[[Results], Report]
    points: Callable[[StudySpec, Graphs], list[Point]] = expand
    figures: bool = False


STUDIES: Registry[Study] = Registry(
    "study", {}, "imgcl.studies", lambda found: isinstance(found, Study), "an imgcl.studies.Study"
)


def resolve_study(name: str) -> Study:
    """The study that an installed package offers by this name, in the entry point group ``imgcl.studies``.

    Raises:
        InputError: when no package offers it, or the package is broken.
    """
    names = STUDIES.names()
    if name not in names:
        hint = did_you_mean(name, names) if THE_PAPERS in names else f": {INSTALL}"
        raise InputError(f"unknown study {name!r}{hint}")
    study = STUDIES.resolve(name)
    if study.spec.name != name:
        raise InputError(f"study {name!r} calls itself {study.spec.name!r}: the two names must be the same")
    return study


def make_report(results: Results) -> Report:
    """The report of a study: its own, or the general one for a study from a file."""
    from_package = results.name in STUDIES.names() or results.asked_by_name
    return resolve_study(results.name).report(results) if from_package else custom.report(results)
