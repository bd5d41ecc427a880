"""The code of the README and of the documentation runs as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from imgcl.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^(<!-- slow -->\n)?```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def blocks(page: Path, *languages: str) -> list[tuple[bool, str]]:
    """Whether a block is slow, and its code."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(bool(slow), code) for slow, language, code in found if language in languages]


def python_pages() -> list[object]:
    pages = []
    for page in PAGES:
        found = blocks(page, "python")
        marks = [pytest.mark.slow] if any(slow for slow, _ in found) else []
        if found:
            pages.append(pytest.param(page, id=page.name, marks=marks))
    return pages


@pytest.mark.parametrize("page", python_pages())
def test_the_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    for number, (_, code) in enumerate(blocks(page, "python"), start=1):
        exec(compile(code, f"{page.name}, block {number}", "exec"), names)


def commands() -> list[tuple[str, str]]:
    """Every ``imgcl`` line of the shell blocks; comments and what is piped are left away."""
    found = []
    for page in PAGES:
        for _, code in blocks(page, "sh", "console", "bash"):
            lines = code.replace("\\\n", " ").splitlines()
            found += [(page.name, line.removeprefix("$ ").strip()) for line in lines if "imgcl" in line.split()[:1]]
    return found


@pytest.mark.parametrize(("page", "line"), commands())
def test_the_commands_of_a_page_exist_with_their_options(page, line):
    words = shlex.split(line, comments=True)[1:]
    group = typer.main.get_command(app)
    with typer.Context(group) as context:
        name, command, rest = group.resolve_command(context, words)
        command.make_context(name, rest, parent=context)  # parses and checks, runs nothing


def test_blocks_are_found():
    """Neither test above would fail if the pages' blocks were no longer recognised."""
    assert len(python_pages()) >= 3
    assert {page for page, _ in commands()} >= {"README.md", "studies.md", "choosing.md"}


def test_the_help_of_the_program_names_every_command():
    done = CliRunner().invoke(app, ["--help"])
    for name in typer.main.get_command(app).commands:
        assert name in done.output
