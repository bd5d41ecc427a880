"""Files that commands write: links, modes, spreadsheets."""

import stat
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from imgcl._core.errors import InputError
from imgcl.cli import app
from imgcl.cli.embed import FORMATS, write_blocks

Z, NAMES = np.array([[-1.5, 2.0], [0.25, -1.0]], np.float32), ["=HYPERLINK(0)", "b"]
BLOCKS = {"learned": Z, "own": 2 * Z[:, :1]}


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=True)


@pytest.mark.parametrize("kind", FORMATS)
def test_an_embedding_written_over_a_private_file_stays_private(tmp_path, kind):
    file = tmp_path / f"z{kind}"
    file.write_text("old")
    file.chmod(0o600)
    write_blocks(BLOCKS, NAMES, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_formulas_are_marked_on_request(tmp_path):
    for safe, name in ((False, "=HYPERLINK(0)"), (True, "'=HYPERLINK(0)")):
        write_blocks(BLOCKS, NAMES, tmp_path / "z.csv", spreadsheet_safe=safe)
        read = pd.read_csv(tmp_path / "z.csv")
        assert read["node"].tolist() == [name, "b"]
        assert read[["learned_0", "learned_1"]].to_numpy().tolist() == Z.tolist()
        assert read["own_0"].tolist() == [-3.0, 0.5]


def test_only_csv_is_for_spreadsheets(tmp_path):
    done = invoke("embed", tmp_path, "--out", tmp_path / "z.npy", "--spreadsheet-safe")
    assert isinstance(done.exception, InputError)
    assert "--spreadsheet-safe is for CSV files" in str(done.exception)


@pytest.mark.parametrize(
    ("ending", "arguments"),
    [
        (".csv", ("embed", "nowhere", "--out")),
        (".csv", ("predict", "nowhere", "--labels", "none.csv", "--out")),
        (".html", ("report", "nowhere", "--out")),
        (".html", ("demo", "--out")),
        (".svg", ("trace", "nowhere", "--plot")),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_an_output_that_is_a_link_is_refused_before_any_work(tmp_path, ending, arguments):
    link = tmp_path / f"out{ending}"
    link.symlink_to(tmp_path / "victim")
    done = invoke(*arguments, link)
    assert isinstance(done.exception, InputError)
    assert "is a symbolic link to" in str(done.exception)
    assert not (tmp_path / "victim").exists()


def test_the_csv_of_a_study_is_for_spreadsheets_too(tmp_path):
    from imgcl.studies.render import to_csv

    report = SimpleNamespace(data=[{"dataset": "=1", "seed": 0, "mean": -0.5}])
    assert to_csv(report) == "dataset,seed,mean\n=1,0,-0.5\n"
    assert to_csv(report, spreadsheet_safe=True) == '"dataset","seed","mean"\n"\'=1","0","-0.5"\n'
