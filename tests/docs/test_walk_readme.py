"""What `make walk` reads from the README: the path from CSV files to a list, with the files that the script writes."""

from __future__ import annotations

import runpy
import shlex
from pathlib import Path

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "walk_readme.py"))
LINES = [shlex.split(line) for line in SCRIPT["commands"]()]


def test_the_path_is_whole_and_short():
    steps = [words[1] for words in LINES]
    assert [step for step in steps if step != "info"] == [
        *("import", "pretrain", "suggest", "predict", "report"),
        *("import", "score"),
    ]
    assert len(steps) <= 10


def test_the_script_writes_the_tables_that_are_imported():
    tables = [words[words.index(option) + 1] for words in LINES for option in ("--nodes", "--edges") if option in words]
    assert len(tables) == 4
    for table in tables:
        assert f'to_csv("{table}"' in SCRIPT["EXPORT"]


def test_the_columns_of_the_readme_are_those_of_the_export():
    first = LINES[0]
    for option in ("--id-column", "--label"):
        assert f'"{first[first.index(option) + 1]}"' in SCRIPT["EXPORT"]
    assert first[first.index("--features") + 1] == "f*"
    assert 'f"f{i}"' in SCRIPT["EXPORT"]


def test_what_is_looked_at_is_what_the_commands_write():
    written = {words[words.index("--out") + 1] for words in LINES if "--out" in words}
    assert {"to_label.csv", "ranked.csv", "report.html", "scores.csv"} <= written
    assert any("scorers/mine" in words for words in LINES)
