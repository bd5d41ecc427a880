"""``-v`` and ``-q``: options of every command, before or after its name."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from imgcl._core.errors import InputError
from imgcl._core.progress import logger
from imgcl.cli.console import verbosity, warn

Verbose = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        show_default=False,
        help="Say what is done and how long it took; -vv: every step.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Results, warnings and errors only.")]


def with_verbosity(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options ``-v`` and ``-q``."""
    options = {"verbose": (Verbose, 0), "quiet": (Quiet, False)}

    @wraps(command)
    def run(*arguments: Any, verbose: int = 0, quiet: bool = False, **options: Any) -> None:
        change_verbosity(verbose, quiet)
        command(*arguments, **options)

    signature = inspect.signature(command)
    only = inspect.Parameter.KEYWORD_ONLY
    added = [inspect.Parameter(name, only, default=d, annotation=a) for name, (a, d) in options.items()]
    hints = get_type_hints(command, include_extras=True)
    run.__annotations__ = hints | {name: annotation for name, (annotation, _) in options.items()}
    parameters = [each.replace(annotation=hints[each.name]) for each in signature.parameters.values()]
    run.__signature__ = signature.replace(parameters=[*parameters, *added])  # type: ignore[attr-defined]
    return run


def start_verbosity(verbose: int, quiet: bool) -> None:
    """Begin with what was given before the name of the command."""
    verbosity.set(0)
    logger.removeHandler(HANDLER)
    change_verbosity(verbose, quiet)


def change_verbosity(verbose: int, quiet: bool) -> None:
    """Add what was given.

    Raises:
        InputError: when both are.
    """
    before = verbosity.get()
    if (verbose and quiet) or (verbose and before < 0) or (quiet and before > 0):
        raise InputError("--verbose and --quiet contradict each other: give one of them")
    verbosity.set(-1 if quiet else before + verbose)
    if verbosity.get() > 0:
        HANDLER.setLevel(logging.INFO if verbosity.get() == 1 else logging.DEBUG)
        logger.setLevel(HANDLER.level)
        logger.addHandler(HANDLER)


class _OnStandardError(logging.Handler):
    """Lines of the library's logger between those of the progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        if self.level < logging.INFO or not getattr(record, "counted", False):  # the bar counts, too
            warn(record.getMessage())


HANDLER = _OnStandardError()
