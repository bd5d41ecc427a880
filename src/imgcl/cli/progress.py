"""Progress on standard error: a bar with the time left on a terminal, elsewhere a line every 10 %."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from imgcl._core.progress import Stage, Tenths, Told, listening, stage
from imgcl.cli.console import err, verbosity, warn


@contextmanager
def shown_progress(title: str, units: float = 1) -> Iterator[Stage]:
    """Show how far the work of the block is, as far as the library tells (:mod:`imgcl._core.progress`).

    Args:
        title: what is being done.
        units: of the whole; each stage of the library is one.
    """
    if verbosity.get() < 0:
        with stage(title, units) as whole:
            yield whole
        return
    display = Bar(title) if err.is_terminal else Lines(title)
    with display, listening(display), stage(title, units) as whole:
        yield whole


class End:
    """When the work will be done, from how long its share so far took.

    Example:
        >>> end = End(now=100.0)
        >>> end.estimate(Told(0.5, ""), now=110.0), end.estimate(Told(0.75, "", left=3.0), now=120.0)
        (120.0, 123.0)
        >>> end.estimate(Told(0.75, "resumed at one half", given=0.5), now=110.0)
        120.0
        >>> end.estimate(Told(0.0, "prepared"), now=120.0), end.estimate(Told(0.5, ""), now=121.0)
        (None, 122.0)
    """

    def __init__(self, now: float | None = None) -> None:
        self.begin = time.monotonic() if now is None else now
        self._since = self.begin  # when something began to be done: preparations say nothing about the rest

    def estimate(self, told: Told, now: float | None = None) -> float | None:
        """The moment, on the clock of ``time.monotonic``; ``None`` before anything is done."""
        now = time.monotonic() if now is None else now
        if told.left is not None:
            return now + told.left
        done = told.share - told.given
        if done <= 0:
            self._since = now
            return None
        return now + (now - self._since) / done * (1 - told.share)


class Lines:
    """A line for every 10 %."""

    def __init__(self, title: str) -> None:
        self.title, self.end, self.tenths = title, End(), Tenths()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, told: Told) -> None:
        moment = self.end.estimate(told)
        if not self.tenths.passed(told.share):
            return
        if told.share >= 1:
            warn(f"{self.title}: 100 % in {clock(time.monotonic() - self.end.begin)}")
            return
        left = None if moment is None else time_left(moment, told.at_most)
        warn(f"{self.title}: " + ", ".join(filter(None, (f"{100 * told.share:.0f} %", left, told.text))))


class Bar:
    """A bar with the share, the time left and what is being done."""

    def __init__(self, title: str) -> None:
        column = Column(no_wrap=True)
        percent = TextColumn("{task.percentage:>3.0f} %")
        parts = (TextColumn("{task.description}", markup=False), BarColumn(24), percent, Left())
        text = TextColumn("{task.fields[text]}", markup=False, table_column=column)
        self.progress = Progress(*parts, text, console=err, transient=True)
        self.task, self.end, self.text = (
            self.progress.add_task(title, total=1.0, text="", end=None, at_most=False),
            End(),
            "",
        )

    def __enter__(self) -> Bar:
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.stop()

    def __call__(self, told: Told) -> None:
        self.text = told.text or self.text
        end = self.end.estimate(told)
        self.progress.update(self.task, completed=told.share, end=end, at_most=told.at_most, text=self.text)


class Left(ProgressColumn):
    """The time left, counting down between two estimates."""

    def render(self, task: Task) -> Text:
        end = task.fields["end"]
        return Text("-:-- left" if end is None else time_left(end, task.fields["at_most"]))


def time_left(end: float, at_most: bool) -> str:
    """The time until a moment on the clock of ``time.monotonic``."""
    return ("at most " if at_most else "") + f"{clock(max(0.0, end - time.monotonic()))} left"


def clock(seconds: float) -> str:
    """Minutes and seconds, with hours from one hour on.

    Example:
        >>> clock(7.6), clock(75), clock(3725)
        ('0:08', '1:15', '1:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
