"""Studies: grids of cells with journals, from your own TOML file or from packages such as the lab."""

from imgcl.studies.cells import BaselineCell, Cell, Context, EvaluateCell, GraphRef, PretrainCell, TrialCell
from imgcl.studies.grid import Graphs, Point, StudySpec, only, read_spec
from imgcl.studies.protocol import Embedded, Protocol
from imgcl.studies.render import to_text, write_report
from imgcl.studies.report import Report, Table
from imgcl.studies.results import Results
from imgcl.studies.running import run_study
from imgcl.studies.store import Store
from imgcl.studies.study import STUDIES, Study, make_report, resolve_study

__all__ = [
    "STUDIES",
    "BaselineCell",
    "Cell",
    "Context",
    "Embedded",
    "EvaluateCell",
    "GraphRef",
    "Graphs",
    "Point",
    "PretrainCell",
    "Protocol",
    "Report",
    "Results",
    "Store",
    "Study",
    "StudySpec",
    "Table",
    "TrialCell",
    "make_report",
    "only",
    "read_spec",
    "resolve_study",
    "run_study",
    "to_text",
    "write_report",
]
