"""What all commands share: consoles, remarks, options of several commands, reading key=value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from imgcl._core.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from imgcl.training import Run

out = Console(emoji=False)  # a path may hold :star:
err = Console(stderr=True, emoji=False)  # progress and remarks: standard output is for results
verbosity: ContextVar[int] = ContextVar("verbosity", default=0)  # -1: quiet; 1, 2: -v, -vv

NATURAL = "natural"  # the law, and the test nodes, where nothing else is asked for

DataDir = Annotated[Path | None, typer.Option(help="Directory with raw files (default: IMGCL_DATA).")]
Law = Annotated[
    str, typer.Option("--imbalance", help="Law of the training labels: natural, exp:r, pareto:a, step:r, or 5,3,1.")
]
TestNodes = Annotated[
    str | None,
    typer.Option("--test", help="Test nodes: natural (as common as in the graph) or balanced; by default as the law."),
]
ProtocolName = Annotated[
    str | None,
    typer.Option(
        "--protocol", help="Splits as in papers, in place of --imbalance and --test: imgcl, step:10, igl:100."
    ),
]
NoOwnFeatures = Annotated[
    bool, typer.Option("--no-own-features", help="The learned block alone, without own and neighbours' features.")
]
SpreadsheetSafe = Annotated[
    bool,
    typer.Option("--spreadsheet-safe", help="In CSV, put ' before text that a spreadsheet would take for a formula."),
]


def check_out(option: str, file: Path, endings: Sequence[str]) -> None:
    """Refuse a file to write before any work starts: of another format, or a symbolic link."""
    from imgcl._core.files import refuse_link  # loads numpy, which `--help` does without

    if file.suffix.lower() not in endings:
        raise InputError(f"{option} {file}: the name must end in {', '.join(endings)}")
    refuse_link(file)


def chosen_blocks(run: Run, no_own_features: bool) -> dict[str, NDArray[np.float32]]:
    """The blocks of a run that a command works on; standard error says which."""
    blocks = {"learned": run.embedding} if no_own_features else run.blocks
    say(f"blocks: {', '.join(blocks)}")
    return blocks


def key_values(pairs: list[str]) -> dict[str, Any]:
    """Read repeated ``--set key=value`` options."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(f"--set {pair}: write key=value, for example --set lr=0.001")
        values[key.strip().replace("-", "_")] = value.strip()
    return values


def option_words(given: Mapping[str, tuple[Any, Any]]) -> list[str]:
    """A command's options as words, from values and the usual values of parameters; usual ones are left out.

    Example:
        >>> option_words({"seed": (3, 0), "n_clusters": (None, None), "data_dir": (Path("raw"), None)})
        ['--seed', '3', '--data-dir', 'raw']
    """
    changed = {name: value for name, (value, usual) in given.items() if value != usual}
    return [word for name, value in changed.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def put(text: str) -> None:
    """A result on standard output, shown as it is: brackets included, lines not broken."""
    out.print(text, highlight=False, markup=False, soft_wrap=True)


def say(text: str, head: str = "") -> None:
    """A remark on standard error, unless the user wants it quiet.

    Args:
        text: shown as it is, brackets included.
        head: what it begins with, in colour: ``written``, ``done``.
    """
    if verbosity.get() >= 0:
        warn(text, head)


def warn(text: str, head: str = "") -> None:
    """A line on standard error in any case: what went wrong, or was left out."""
    line = Text.assemble((head, "green"), ": ", text) if head else Text(text)
    err.print(line, highlight=False, soft_wrap=True)


def facts_table(title: str, facts: dict[str, Any]) -> Table:
    """Two columns: what, value; title and values are shown as they are, brackets included."""
    table = Table(title=escape(title), show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for key, value in facts.items():
        shown = (
            " ".join(map(str, value))
            if isinstance(value, list)
            else f"{value:,}"
            if isinstance(value, int) and not isinstance(value, bool)
            else str(value)
        )
        table.add_row(key, escape(shown))
    return table


def chosen_protocol(protocol: str | None, imbalance: str, test: str | None) -> dict[str, Any]:
    """Options of an evaluation: a protocol, or a law and its test nodes.

    Example:
        >>> chosen_protocol("step:10", "natural", None)
        {'protocol': 'step:10'}
        >>> chosen_protocol(None, "exp:100", None)
        {'imbalance': 'exp:100', 'test': 'balanced'}
    """
    if protocol is None:
        return {"imbalance": imbalance, "test": resolved_test(test, imbalance)}
    if imbalance != NATURAL or test is not None:
        raise InputError(f"--protocol {protocol} decides on labels and test nodes: leave out --imbalance and --test")
    return {"protocol": protocol}


def resolved_test(given: str | None, imbalance: str) -> str:
    """The test nodes that were asked for; by default natural ones for natural labels, the paper's for other laws.

    Example:
        >>> resolved_test(None, "natural"), resolved_test(None, "exp:100")
        ('natural', 'balanced')
    """
    return given or (NATURAL if imbalance.strip().lower() == NATURAL else "balanced")
