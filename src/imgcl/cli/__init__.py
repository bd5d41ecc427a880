"""The command line: every command reads arguments, calls the library and prints."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable
from typing import Annotated

import typer
from rich.markup import escape

from imgcl._core.errors import ImgclError
from imgcl._core.interrupts import Interrupts, heeded_interrupts
from imgcl._core.terminal import print_everything
from imgcl._core.version import __version__
from imgcl.cli.baseline import baseline
from imgcl.cli.console import err
from imgcl.cli.demo import demo
from imgcl.cli.embed import embed
from imgcl.cli.evaluate import evaluate
from imgcl.cli.flags import in_flags
from imgcl.cli.graphs import datasets
from imgcl.cli.import_ import import_graph
from imgcl.cli.info import info
from imgcl.cli.predict import predict
from imgcl.cli.presets import presets
from imgcl.cli.pretrain import pretrain_command
from imgcl.cli.report import report
from imgcl.cli.score import score
from imgcl.cli.study import study
from imgcl.cli.suggest import suggest
from imgcl.cli.trace import trace
from imgcl.cli.tune import tune
from imgcl.cli.verbosity import Quiet, Verbose, start_verbosity, with_verbosity

STOPPED = 130  # exit code after Ctrl-C
HELP = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    name="imgcl",
    help="Find rare classes in graphs: from two tables to a ranked list with probabilities and decisions.",
    no_args_is_help=True,
    context_settings=HELP,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(value: bool) -> None:
    if value:
        print(f"imgcl {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
) -> None:
    start_verbosity(verbose, quiet)
    let_own_modules_be_found()


def let_own_modules_be_found() -> None:
    """Let ``--method my_module:Class`` name a file of the current directory; installed packages come first."""
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


def _help(command: Callable[..., None]) -> str:
    r"""The docstring; a line with the mark \b tells click to leave the lines that follow as they are."""
    return re.sub("^Example", "\b\nExample", inspect.getdoc(command) or "", flags=re.MULTILINE)


def _summary(command: Callable[..., None]) -> str:
    """The first paragraph, whole: click would cut it off at the end of the line."""
    return " ".join((inspect.getdoc(command) or "").partition("\n\n")[0].split())


COMMANDS = (  # the way from tables to scores, then what else there is
    *(import_graph, info, pretrain_command, suggest, predict, report, score),
    *(evaluate, baseline, embed, tune, study, trace, demo, datasets, presets),
)
NAMES = {import_graph: "import", pretrain_command: "pretrain"}  # where it is not the function's
for command in COMMANDS:
    add = app.command(NAMES.get(command), help=_help(command), short_help=_summary(command), context_settings=HELP)
    add(with_verbosity(command))


def main() -> None:
    """Run the command line; a user's mistake is one line on standard error, never a traceback."""
    let_idle_threads_sleep()
    print_everything()
    interrupts = Interrupts()
    try:
        with heeded_interrupts() as interrupts:
            app(prog_name="imgcl")  # also as python -m imgcl: what completion and usage lines are about
    except SystemExit as end:  # typer calls every interruption Ctrl-C
        sys.exit(interrupts.exit_code if end.code == STOPPED else end.code)
    except ImgclError as error:
        err.print(f"[bold red]error[/bold red]: {escape(in_flags(str(error)))}", highlight=False, soft_wrap=True)
        sys.exit(error.exit_code)
    except OSError as error:
        from imgcl._core.files import explain  # loads numpy, which `--help` does without

        err.print(f"[bold red]error[/bold red]: {escape(explain(error))}", highlight=False, soft_wrap=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(interrupts.exit_code)


def let_idle_threads_sleep() -> None:
    """Let idle OpenMP threads spin for microseconds only, in this process; to be called before torch is loaded.

    torch and numba each keep a pool of threads. By default an idle thread spins for milliseconds and occupies a core
    that others wait for; one that sleeps at once wakes late (benchmarks/waiting.py measures the three).
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
        os.environ.setdefault("GOMP_SPINCOUNT", "3000")
