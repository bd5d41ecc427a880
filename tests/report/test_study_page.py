"""The page of a study is made from its journal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from imgcl.cli import app
from imgcl.report import is_study, render_page, study_content

pytestmark = pytest.mark.slow  # a study starts worker processes


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of six cells on a small graph."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "small.toml").write_text(
        'name = "small"\ndatasets = ["digits"]\nmethods = ["gbt"]\n'
        'imbalances = ["exp:10"]\nseeds = 1\nsplits = 2\n[settings]\nepochs = 3\ndim = 8\n'
    )
    options = ["--root", str(folder / "studies"), "--workers", "1", "--quiet"]
    done = CliRunner().invoke(app, ["study", "run", str(folder / "small.toml"), *options])
    assert done.exit_code == 0, done.output
    return folder / "studies" / "small"


def test_tables_and_numbers_are_those_of_the_study(study: Path) -> None:
    content = study_content(study)
    assert content["title"] == "Study small"
    assert content["open"] == content["failed"] == 0
    assert [table["title"] for table in content["tables"]] == ["Results", "Who earned the gain"]
    rows = [row for row in content["rows"] if row["metric"] == "tail"]
    assert {row["group"] for row in rows} == {"none", "imgcl"}  # all other labels are the same everywhere
    assert {"plain", "pbs"} <= {row["series"] for row in rows}
    assert all(0 <= row["mean"] <= 1 for row in rows)
    assert "imgcl study run small.toml" in content["facts"]["command"]
    json.dumps(content, allow_nan=False)


def test_the_command_knows_a_study_from_a_run(study: Path, tmp_path: Path) -> None:
    assert is_study(study)
    assert not is_study(tmp_path)
    file = tmp_path / "study.html"
    done = CliRunner().invoke(app, ["report", str(study), "--out", str(file)])
    assert done.exit_code == 0, done.output
    assert file.read_text(encoding="utf-8") == render_page(study_content(study))
    both = CliRunner().invoke(app, ["report", str(study), str(study), "--out", str(file)])
    assert "report it alone" in str(both.exception)
