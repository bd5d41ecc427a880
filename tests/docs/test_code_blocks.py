"""The code of the README and of the documentation runs as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from imgcl.cli import app
from imgcl.studies import STUDIES, read_spec
from quoted import check_said

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^(?:<!-- (slow|run|walk|said) -->\n)?```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
SHELL = ("sh", "console", "bash")
SAID = "text"  # after <!-- said -->: lines that the commands above print
# What a reader has and a test does not.
STAND_INS = {"amazon-photo": "digits", "my-graph.npz": "digits"}


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    """The mark before each block, empty without one, and its code."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(mark, code) for mark, language, code in found if language in languages]


def imgcl_lines(code: str) -> list[str]:
    """The lines of a shell block that call ``imgcl``."""
    lines = code.replace("\\\n", " ").splitlines()
    return [line.removeprefix("$ ").strip() for line in lines if "imgcl" in line.removeprefix("$ ").split()[:1]]


def python_pages() -> list[object]:
    pages = []
    for page in PAGES:
        found = blocks(page, "python")
        marks = [pytest.mark.slow] if any(mark == "slow" for mark, _ in found) else []
        if any("import mlflow" in code for _, code in found):  # it announces future changes of its own
            marks.append(pytest.mark.filterwarnings("ignore"))
        if found:
            pages.append(pytest.param(page, id=page.name, marks=marks))
    return pages


@pytest.mark.parametrize("page", python_pages())
def test_the_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_python(page)


def run_python(page: Path) -> None:
    names: dict[str, object] = {"__name__": "page"}
    for number, (_, code) in enumerate(blocks(page, "python"), start=1):
        exec(compile(code, f"{page.name}, block {number}", "exec"), names)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # as on a terminal: libraries of the extras announce future changes of theirs
@pytest.mark.parametrize(
    "name",
    [
        *("README.md", "index.md", "own_graph.md", "how_it_works.md", "choosing.md", "seeing.md", "labelling.md"),
        *("decisions.md", "tutorial.md"),
    ],
)
def test_the_commands_of_a_page_run_from_top_to_bottom(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(typer, "launch", lambda address: None)
    (page,) = [page for page in PAGES if page.name == name]
    if name in ("own_graph.md", "seeing.md", "labelling.md", "tutorial.md"):
        run_python(page)  # it makes the files that the commands read
    printed, n_lines = "", 0
    for mark, code in blocks(page, *SHELL, SAID):
        if mark == "run":
            n_lines += len(imgcl_lines(code))
            printed += "".join(map(run_command, imgcl_lines(code)))
        elif mark == "said":
            check_said(code, printed)
    assert n_lines


def run_command(line: str) -> str:
    """What a command prints; trainings are short."""
    words = [STAND_INS.get(word, word) for word in shlex.split(line, comments=True)[1:]]
    few = ["--epochs", "8"] if words[0] == "pretrain" else []
    done = CliRunner().invoke(app, [*words, *few])
    assert done.exit_code == 0, f"{line}\n{done.output}\n{done.exception!r}"
    return str(done.output)


def commands() -> list[tuple[str, str]]:
    """Every ``imgcl`` line of the shell blocks."""
    return [(page.name, line) for page in PAGES for _, code in blocks(page, *SHELL) for line in imgcl_lines(code)]


@pytest.mark.parametrize(("page", "line"), commands())
def test_the_commands_of_a_page_exist_with_their_options(page, line):
    words = shlex.split(line, comments=True)[1:]
    group = typer.main.get_command(app)
    with typer.Context(group) as context:
        name, command, rest = group.resolve_command(context, words)
        command.make_context(name, rest, parent=context)  # parses and checks, runs nothing


def test_the_study_of_the_page_is_one_that_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = [code for _, code in blocks(ROOT / "docs" / "studies.md", "toml") if code.startswith("# ")]
    name = code.split()[1]
    Path(name).write_text(code, encoding="utf-8")
    spec = read_spec(Path(name))
    assert spec.datasets == ("my-graph.npz", "digits")
    assert spec.name not in STUDIES.names()


def test_blocks_are_found():
    """Neither test above would fail if the pages' blocks were no longer recognised."""
    assert len(python_pages()) >= 3
    assert {page for page, _ in commands()} >= {"README.md", "studies.md", "choosing.md"}


def test_the_help_of_the_program_names_every_command():
    done = CliRunner().invoke(app, ["--help"])
    for name in typer.main.get_command(app).commands:
        assert name in done.output


def test_the_help_of_a_command_has_its_examples_on_lines_of_their_own():
    done = CliRunner().invoke(app, ["report", "--help"])
    assert "  imgcl report runs/photo --out photo.html --open" in [line[2:] for line in done.output.splitlines()]
