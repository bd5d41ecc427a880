"""``imgcl`` commands in child processes, which can be killed at any moment.

Children are forked from a server that has imported everything: a kill hits the work, not the imports.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from multiprocessing.context import ForkServerContext
from pathlib import Path

ROOMS = (
    *("cli", "cli.pretrain", "cli.import_", "cli.report", "cli.study"),
    *("training.estimator", "training.pretrain", "training.tracking", "training.distributed.group"),
    *("data.importing.tables", "data.store.writer", "evaluation", "report.directories", "report.page", "report.study"),
    *("studies.running", "studies.engines.local", "studies.engines.worker", "studies.report"),
)
PATIENCE = 600.0  # seconds after which a command is taken to hang


@cache
def server() -> ForkServerContext:
    """The server that children are forked from, with everything imported."""
    context = multiprocessing.get_context("forkserver")
    modules = [f"imgcl.{room}" for room in ROOMS]
    gone = [name for name in modules if find_spec(name) is None]
    assert not gone, f"{gone} are not there: the server would go without them and say nothing"
    context.set_forkserver_preload(modules)
    first = context.Process(target=sum, args=((),))  # when it has run, everything is imported
    first.start()
    first.join()
    return context


class Child:
    """A command that runs.

    Args:
        arguments: of ``imgcl``.
        log: file for what it prints.
        prepare: called in the child before the command, for example to limit what it may do.
    """

    def __init__(self, arguments: list[str], log: Path, prepare: Callable[[], None] | None = None) -> None:
        self.arguments, self.log = arguments, log
        self.process = server().Process(target=_run, args=(arguments, str(log), prepare))
        self.started = time.monotonic()
        self.process.start()

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    @property
    def runs(self) -> bool:
        return self.process.is_alive()

    def send(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.process.is_alive():
            os.kill(self.pid, number)

    def kill(self) -> bool:
        """SIGKILL; whether there was still something to kill."""
        self.process.kill()
        self.process.join()
        return self.process.exitcode == -9

    def wait(self, seconds: float = PATIENCE) -> int | None:
        """The exit code; ``None`` when it still runs after so many seconds."""
        self.process.join(seconds)
        return self.process.exitcode

    def end(self) -> tuple[int, str]:
        """Exit code and everything it printed, once it is done; a command that hangs is killed."""
        code = self.wait()
        if code is None:
            self.kill()
            return -9, f"still running after {PATIENCE:.0f} s\n{self.said}"
        return code, self.said

    @property
    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""


def run(arguments: list[str], log: Path, prepare: Callable[[], None] | None = None) -> tuple[int, str]:
    """Exit code and output of a command."""
    return Child(arguments, log, prepare).end()


def _run(arguments: list[str], log: str, prepare: Callable[[], None] | None) -> None:
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    sys.argv = ["imgcl", *arguments]
    os.environ["COLUMNS"] = "200"
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background of a script ignores it
    if prepare is not None:
        prepare()
    from imgcl.cli import main

    main()


def refusal(code: int, said: str, *words: str) -> str | None:
    """What is wrong with how a command refused: it must say so in one line with these words, without a traceback."""
    if "Traceback" in said:
        return f"a traceback: {said[-300:]!r}"
    if code in (0, None) or code < 0:
        return f"exit code {code} instead of a refusal: {said[-300:]!r}"
    lines = [line for line in said.splitlines() if "error" in line.lower()]
    if len(lines) != 1 or not all(word.lower() in lines[0].lower() for word in words):
        return f"the message does not say {', '.join(words)}: {said[-300:]!r}"
    return None
