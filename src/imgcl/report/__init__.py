"""One HTML file that shows what was learned: classes, embedding map, results, training, settings; ``imgcl[report]``."""

from imgcl.report.content import Nodes, ReportRun, build_content
from imgcl.report.directories import read_nodes, read_runs
from imgcl.report.labelling import labelling_content
from imgcl.report.page import render_page, write_report
from imgcl.report.projection import PROJECTIONS, project
from imgcl.report.study import is_study, study_content

__all__ = [
    "PROJECTIONS",
    "Nodes",
    "ReportRun",
    "build_content",
    "is_study",
    "labelling_content",
    "project",
    "read_nodes",
    "read_runs",
    "render_page",
    "study_content",
    "write_report",
]
