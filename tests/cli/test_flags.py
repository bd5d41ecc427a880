"""Messages of the library speak Python; the command line says the same with its own options."""

import ast
import re
import sys
from pathlib import Path

import pytest
import typer

import imgcl
from imgcl.cli import app, main
from imgcl.cli.flags import OPTIONS, OTHERS, PARAMETER, in_flags

PACKAGE = Path(str(imgcl.__file__)).parent
LIBRARY = [path for path in PACKAGE.rglob("*.py") if "cli" not in path.relative_to(PACKAGE).parts]
FLAG = re.compile(r"(^|[\s('])--[a-z]")


def messages():
    """Texts of the errors that the library raises."""
    for path in LIBRARY:
        raised = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Raise))
        for part in (part for node in raised for part in ast.walk(node)):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("continue with `resume=True`, or use another directory (`out`)", "continue with --resume, or use another"),
        ("use `missing='mean'`", "use --missing mean"),
        ("raise `memory_limit`", "raise --memory-limit"),
        ("a larger fraction (`balance='fraction=…'`) or `balance=None`", "(--balance fraction=…) or --no-balance"),
        ("use `layers=1`", "use --set layers=1"),
        ("with `log='a,b c'`", "with --log 'a,b c'"),
        ("the file `colours` is not there", "the file `colours` is not there"),
    ],
)
def test_parameters_become_options(message, said):
    assert said in in_flags(message)


def test_every_option_exists():
    commands = typer.main.get_command(app).commands.values()
    options = {name for command in commands for parameter in command.params for name in parameter.opts}
    known = {in_flags(f"`{name}`") for name in OPTIONS} | {text.split()[0] for text in OTHERS.values()}
    assert known <= options


def test_every_parameter_in_a_message_of_the_library_is_known():
    named = {match[0] for text in messages() for match in PARAMETER.finditer(text)}
    assert len(named) > 10
    assert [text for text in sorted(named) if in_flags(text) == text] == []


def test_no_message_of_the_library_speaks_flags():
    assert [text for text in messages() if FLAG.search(text)] == []


def test_the_command_line_prints_its_own_words(tmp_path, monkeypatch, capsys):
    (tmp_path / "labels.npy").write_bytes(b"")
    monkeypatch.setattr(sys, "argv", ["imgcl", "pretrain", "digits", "--epochs", "1", "--out", str(tmp_path)])
    with pytest.raises(SystemExit):
        main()
    assert "use another directory (--out)" in capsys.readouterr().err
