"""Every message that docs/cli.md quotes, in a ``text`` block, is one that the program says."""

import re
from pathlib import Path

from typer.testing import CliRunner

from imgcl import cli
from imgcl._core.errors import ImgclError

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cli.md"
BLOCK = re.compile(r"^<!-- said -->\n```text\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
RUN = ("pretrain", "digits", "--set", "dim=4", "--no-own-features", "--out", "run")
COMMANDS = [
    (*RUN, "--epochs", "10"),
    (*RUN, "--epochs", "12", "--resume"),
    ("pretrain", "digits", "--method", "grase", "--out", "other"),
]
"""What says the quoted messages; numbers may be others."""


def shape(line: str) -> str:
    """A message without its numbers.

    Example: ``epoch 3/20, drawn % 60 40`` is ``epoch #/#, drawn % #``.
    """
    return re.sub(r"#(?: #)+", "#", re.sub(r"\d+(?:[.:,]\d+)*", "#", line.strip()))


def quoted() -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    assert len(BLOCK.findall(text)) == text.count("```text")
    return [line for block in BLOCK.findall(text) for line in block.splitlines() if line.strip()]


def said(arguments: tuple[str, ...]) -> list[str]:
    """Lines that a command says, an error included as ``main`` says it."""
    done = CliRunner().invoke(cli.app, list(arguments))
    error = [f"error: {cli.in_flags(str(done.exception))}"] if isinstance(done.exception, ImgclError) else []
    return [*done.stdout.splitlines(), *done.stderr.splitlines(), *error]


def test_quoted_messages_are_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = {shape(line) for arguments in COMMANDS for line in said(arguments)}
    assert quoted()
    assert [line for line in quoted() if shape(line) not in known] == []
