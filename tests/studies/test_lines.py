"""Lines of a journal that are no plan and no cell are named, not read."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imgcl._core.errors import RunError
from imgcl.evaluation import evaluate
from imgcl.studies.journal import Journal
from imgcl.studies.lines import study_lines
from imgcl.studies.packing import pack_result, unpack_result
from imgcl.studies.results import Results
from imgcl.studies.store import Store

POINT = {"kind": "evaluate", "key": "k", "pretrain": "p", "seed": 0} | dict.fromkeys(
    ("dataset", "method", "balance", "imbalance"), "x"
)
PLAN = {"type": "plan", "command": "imgcl study", "missing": {}, "versions": {}, "points": [POINT]}
CELL = {"type": "cell", "key": "k", "kind": "evaluate", "status": "done", "seconds": 1.0, "commit": "c", "result": {}}


@pytest.fixture
def result() -> dict[str, Any]:
    y = np.repeat([0, 1, 2], 20)
    return pack_result(evaluate(np.eye(3)[y], y, imbalance="exp:5", classifier="plain", splits=2))


def write(folder: Path, *lines: Any) -> Journal:
    (folder / "mine").mkdir()
    (folder / "mine" / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Journal(folder / "mine" / "journal.jsonl")


def test_whole_lines_are_as_they_were(tmp_path: Path) -> None:
    assert study_lines(write(tmp_path, PLAN, CELL)) == [PLAN, CELL]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"key": "k"}, "type"),
        ({**PLAN, "type": "dream"}, "plan"),
        ({**PLAN, "points": 3}, r"plan\.points"),
        ({**PLAN, "points": [{**POINT, "key": None}]}, r"plan\.points\.0\.key"),
        ({**PLAN, "points": [{**POINT, "dataset": ["a"]}]}, r"plan\.points\.0\.dataset"),
        ({**PLAN, "points": [{**POINT, "imbalance": None}]}, "imbalance is missing"),
        ({**PLAN, "missing": ["dblp"]}, r"plan\.missing"),
        ({key: PLAN[key] for key in PLAN if key != "command"}, r"plan\.command"),
        ({**CELL, "status": "open"}, r"cell\.status"),
        ({**CELL, "seconds": "1"}, r"cell\.seconds"),
        ({**CELL, "seconds": float("nan")}, r"cell\.seconds"),
        ({**CELL, "result": []}, r"cell\.result"),
        ({key: CELL[key] for key in CELL if key != "result"}, "result is missing"),
    ],
)
def test_a_line_of_something_else_is_named(tmp_path: Path, line: dict[str, Any], message: str) -> None:
    journal = write(tmp_path, PLAN, line)
    with pytest.raises(RunError, match=rf"journal\.jsonl: line 2 is damaged .*{message}"):
        study_lines(journal)
    with pytest.raises(RunError, match="line 2"):
        Results("mine", journal)
    with pytest.raises(RunError, match="line 2"):
        Store(tmp_path).journalled()


@pytest.mark.parametrize(
    "changes",
    [
        {"groups": {"head": [0], "middle": [1], "tail": [7]}},
        {"groups": {"head": [0.0], "middle": [1], "tail": [2]}},
        {"groups": {"head": [0]}},
        {"class_names": ["a", "b"]},
        {"scores": {"plain": {"confusion": [[1, 2, 3]], "ece": [0.1], "settings": [{}]}}},
        {"scores": {"plain": {"confusion": [["\ud800"] * 9], "ece": [0.1], "settings": [{}]}}},
        {"scores": {"plain": {"confusion": [[10**400] * 9], "ece": [0.1], "settings": [{}]}}},
        {"scores": {"plain": {"confusion": [[-1] * 9], "ece": [0.1], "settings": [{}]}}},
        {"scores": {"plain": {"confusion": [[1] * 9], "ece": [], "settings": [{}]}}},
        {"scores": {"plain": {"confusion": [[1] * 9], "ece": [-math.inf], "settings": [{}]}}},
        {"scores": {"plain": {"confusion": [], "ece": [], "settings": []}}},
        {"scores": {"plain": {"confusion": 3, "ece": 3, "settings": 3}}},
        {"scores": []},
        {"ceiling": 1},
        {"protocol": None},
        {"nodes": 3},
        {"nodes": {"labels": "a", "splits": [["a", "b"]]}},
        {"nodes": {"labels": "a", "splits": [["a", "b", "c"]]}},
    ],
)
def test_a_result_of_something_else_is_named(tmp_path: Path, result: dict[str, Any], changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        unpack_result({**result, **changes})
    results = Results("mine", write(tmp_path, PLAN, {**CELL, "result": {**result, **changes}}))
    with pytest.raises(RunError, match="the line of cell k is damaged"):
        results.evaluation(dataset="x")


def test_a_journal_keeps_the_nodes_and_an_older_one_is_read_without(result: dict[str, Any]) -> None:
    assert [len(nodes) for nodes in result["nodes"]["splits"]] == [3, 3]
    assert unpack_result(result).of("plain").nodes[0].labels == result["nodes"]["labels"]
    older = {key: value for key, value in result.items() if key != "nodes"}
    assert unpack_result(older).of("plain").nodes == ()
    assert pack_result(unpack_result(older)) == older
