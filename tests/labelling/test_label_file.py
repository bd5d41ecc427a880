"""The file that goes back and forth."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

import imgcl
from imgcl.labelling import LabelFile


def batch(*nodes: object) -> pd.DataFrame:
    return pd.DataFrame({"node": list(nodes), "label": "", "cluster": 1, "expected": None})


def rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


def test_a_batch_is_added_and_nothing_else_is_touched(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text('node,label,remark\na,tea,"sure, I think"\nb,,\n', encoding="utf-8")
    LabelFile.read(path, ["a", "b", "c"]).extended(batch("c")).write(path)
    assert rows(path) == [
        ["node", "label", "remark", "batch", "cluster", "expected"],
        ["a", "tea", "sure, I think", "", "", ""],
        ["b", "", "", "", "", ""],
        ["c", "", "", "2", "1", ""],
    ]
    again = LabelFile.read(path, ["a", "b", "c"])
    assert again.labels == {"a": "tea", "b": "", "c": ""}
    assert again.n_labels == 1
    assert again.extended(batch("d")).batches == 3


def test_labels_are_never_overwritten(tmp_path):
    path = tmp_path / "labels.csv"
    LabelFile().extended(batch("a", "b")).write(path)
    text = path.read_text().replace("a,,", "a,tea,")
    path.write_text(text)
    with pytest.raises(imgcl.InputError, match="1 labels that would be lost, first 'tea' of node 'a'"):
        LabelFile().extended(batch("a", "b")).write(path)
    assert path.read_text() == text
    changed = LabelFile.read(path)
    path.write_text(text.replace("b,,", "b,salt,"))  # saved by the user while the next batch was computed
    with pytest.raises(imgcl.InputError, match="would be lost"):
        changed.extended(batch("c")).write(path)


def test_a_file_without_its_header_is_refused(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("a,tea\n")
    with pytest.raises(imgcl.InputError, match="must begin with node,label"):
        LabelFile.read(path, ["a"])


def test_names_and_classes_survive_whatever_they_hold(tmp_path):
    names = ["a,b", 'say "x"', "two\nlines", "ünï", "007"]
    path = tmp_path / "labels.csv"
    LabelFile().extended(batch(*names)).write(path)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    assert frame["node"].tolist() == names
    frame["label"] = names[::-1]
    frame.to_csv(path, index=False)
    assert LabelFile.read(path, names).labels == dict(zip(names, [label.strip() for label in names[::-1]], strict=True))


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_what_a_spreadsheet_puts_between_values_stays(tmp_path, delimiter):
    path = tmp_path / "labels.csv"
    lines = (["node", "label", "batch"], ["a", "tea, green", "1"], ["b", "", "1"])
    path.write_text("\n".join(map(delimiter.join, lines)), encoding="utf-8")
    file = LabelFile.read(path, ["a", "b", "c"])
    assert file.labels == {"a": "tea, green", "b": ""} == imgcl.evaluation.read_labels(path, ["a", "b", "c"])
    file.extended(batch("c")).write(path)
    assert path.read_text().splitlines()[-1] == delimiter.join(["c", "", "2", "1", ""])
    assert LabelFile.read(path, ["a", "b", "c"]).batches == 2
