"""What the documentation site takes from the code while it is built: the command line's help, the list of results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import typer

ROOT = Path(__file__).parents[1]
EVERYWHERE = {"--help", "--verbose", "--quiet"}  # the page says these once


def command_line() -> str:
    """Every command of ``imgcl`` in Markdown: what it does, examples, arguments and options."""
    from imgcl.cli import app

    group = typer.main.get_command(app)
    parts = [
        _command(name, command)
        for name, command in group.commands.items()  # type: ignore[attr-defined]
    ]
    return "\n\n".join(parts)


def _command(name: str, command: Any) -> str:
    text, _, examples = str(command.help).replace("\b", "").partition("Example")
    lines = [line.strip() for line in examples.partition(":")[2].splitlines() if line.strip()]
    rows = [_row(parameter) for parameter in command.params if not getattr(parameter, "hidden", False)]
    table = "\n".join(["| | | default |", "|---|---|---|", *filter(None, rows)])
    code = "```sh\n" + "\n".join(lines) + "\n```"
    return f"## imgcl {name}\n\n{' '.join(text.split())}\n\n{code}\n\n{table}"


def _row(parameter: Any) -> str | None:
    options = parameter.opts + parameter.secondary_opts
    if EVERYWHERE & set(options):
        return None
    is_argument = parameter.param_type_name == "argument"
    shown = f"`{parameter.name.upper()}`" if is_argument else ", ".join(f"`{option}`" for option in options)
    default = "required" if parameter.required else parameter.default
    plain = default not in (None, False, ()) and not callable(default)
    help_text = (getattr(parameter, "help", None) or "").replace("|", "\\|")
    return (
        f"| {shown} | {help_text} | {f'`{default}`' if plain and default != 'required' else default if plain else ''} |"
    )


def result_pages() -> str:
    """A link to every page of measured results."""
    pages = sorted(page for page in (ROOT / "docs" / "results").glob("*.md") if page.stem != "README")
    links = []
    for page in pages:
        found = re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        links.append(f"- [{found[1] if found else page.stem}]({page.name})")
    return "\n".join(links) or "No study has been written here yet; `imgcl study main --out docs/results` does."


MARKS = {"<!-- command line -->": command_line, "<!-- results -->": result_pages}


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for every page."""
    for mark, make in MARKS.items():
        if mark in markdown:
            markdown = markdown.replace(mark, make())
    return markdown


if __name__ == "__main__":
    click.echo(command_line())
