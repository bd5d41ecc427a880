"""The lab's own cells: their keys, and that an engine computes them like any other."""

import numpy as np
import pytest

from imgcl.studies import EvaluateCell, Graphs, Point, PretrainCell, Results, Store, StudySpec, run_study
from imgcl.studies.engines import Settings
from imgcl.studies.grid import pretrain_cell
from imgcl_lab.theory import TheoryCell
from imgcl_lab.tsne import PANELS, MapCell, points

SPEC = StudySpec(name="maps", datasets=("digits",), settings={"epochs": 2, "dim": 8}, seeds=1, splits=2)


@pytest.fixture(scope="module")
def pretraining(digits: Graphs) -> PretrainCell:
    return pretrain_cell(SPEC, digits.refs[0], "gbt", "none", 0)


def test_a_key_stands_the_test_of_time():
    """Keys of published journals must stay what they are; change RESULT_VERSION when results change."""
    assert TheoryCell().key == "e6246c0d38d606d746e22591b8bbb905"


def test_kinds_do_not_share_keys(pretraining):
    cells = [pretraining, EvaluateCell(pretrain=pretraining), MapCell(pretrain=pretraining), TheoryCell()]
    cells += [MapCell(pretrain=pretraining, classifier="pbs"), TheoryCell(samples=10)]
    assert len({cell.key for cell in cells}) == len(cells)


def test_a_worker_process_computes_a_cell_that_the_engine_does_not_know(tmp_path):
    point = Point({"quantity": "contraction", "seed": 0}, TheoryCell(samples=100, repeats=2))
    done = run_study("theory", [point], Store(tmp_path), command="test", settings=Settings(workers=1, threads=1))
    assert (done.computed, done.failed) == (1, 0)
    assert Results("theory", Store(tmp_path).journal("theory")).result(point.line())["rows"][0]["x"] == 0


def test_maps_have_the_test_nodes_of_one_split(in_line, digits, tmp_path):
    run_study("maps", points(SPEC, digits), Store(tmp_path), command="test")
    results = Results("maps", Store(tmp_path).journal("maps"))
    maps = {point["panel"]: results.result(point) for point in results.points}
    assert set(maps) == {panel for panel, _, _ in PANELS}
    shapes = {np.array(each["points"]).shape for each in maps.values()}
    assert shapes == {(len(maps["plain"]["classes"]), 2)}
    assert maps["plain"]["points"] != maps["pbs classifier"]["points"]
