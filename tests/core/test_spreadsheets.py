"""CSV for spreadsheets: text never begins a formula, numbers stay numbers."""

import csv

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imgcl._core.spreadsheets import FORMULA, NUMBER, safe_cell, write_frame

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\n=1", " =1", "＝1"]  # noqa: RUF001


@pytest.mark.parametrize("text", FORMULAS)
def test_what_could_be_a_formula_gets_an_apostrophe(text):
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize("value", ["a", "a=b", "", "'=1", "-1", "+2.5", "-1e-05", "12.", -1, -2.5, None, True])
def test_everything_else_stays(value):
    assert safe_cell(value) is value


@given(st.text())
def test_no_text_begins_a_formula_unless_it_is_a_number(text):
    safe = safe_cell(text)
    assert NUMBER.fullmatch(safe) or not safe.lstrip(" ").startswith(FORMULA)
    assert safe in (text, f"'{text}")


def test_a_table_keeps_its_numbers(tmp_path):
    frame = pd.DataFrame({"node": ["=1", "a;=2", "-7"], "z": [-1.5, 2.0, -1e-9], "n": [-1, 2, 3], "given": [True] * 3})
    write_frame(frame, tmp_path / "safe.csv", spreadsheet_safe=True)
    read = pd.read_csv(tmp_path / "safe.csv", dtype={"node": str})
    assert read["node"].tolist() == ["'=1", "a;=2", "-7"]
    pd.testing.assert_frame_equal(read.drop(columns="node"), frame.drop(columns="node"))
    assert '"a;=2",2.0,' in (tmp_path / "safe.csv").read_text()  # quoted: programs that cut at semicolons do not here
    write_frame(frame, tmp_path / "plain.csv")
    with open(tmp_path / "plain.csv", newline="") as stream:
        assert [row[0] for row in csv.reader(stream)] == ["node", "=1", "a;=2", "-7"]
