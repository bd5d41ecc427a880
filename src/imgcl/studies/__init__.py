"""Studies: every table and figure of the paper with one command each, crash-safe, from cells that studies share."""

from imgcl_lab import (
    ablation,
    baselines,
    distribution,
    forms,
    imbalance,
    long_tail,
    main,
    methods,
    per_class,
    sensitivity,
    starved,
    theory,
    tsne,
    when,
)

from imgcl._core.errors import InputError
from imgcl.studies import custom
from imgcl.studies.grid import Graphs, Point, StudySpec, only, read_spec
from imgcl.studies.render import to_text, write_report
from imgcl.studies.report import Report
from imgcl.studies.results import Results
from imgcl.studies.running import run_study
from imgcl.studies.store import Store
from imgcl.studies.study import Study
from imgcl.training.settings import did_you_mean

STUDIES: dict[str, Study] = {
    module.STUDY.spec.name: module.STUDY
    for module in (
        main,
        methods,
        baselines,
        imbalance,
        ablation,
        sensitivity,
        per_class,
        distribution,
        tsne,
        theory,
        long_tail,
        when,
        forms,
        starved,
    )
}


def resolve_study(name: str) -> Study:
    """The study of that name.

    Example:
        >>> resolve_study("ablation").spec.methods
        ('gbt',)
    """
    if name not in STUDIES:
        raise InputError(f"there is no study {name!r}{did_you_mean(name, STUDIES)}")
    return STUDIES[name]


def make_report(results: Results) -> Report:
    """The report of a study: its own, or the general one for a user's study."""
    study = STUDIES.get(results.name)
    return custom.report(results) if study is None else study.report(results)


__all__ = [
    "STUDIES",
    "Graphs",
    "Point",
    "Results",
    "Store",
    "Study",
    "StudySpec",
    "make_report",
    "only",
    "read_spec",
    "resolve_study",
    "run_study",
    "to_text",
    "write_report",
]
