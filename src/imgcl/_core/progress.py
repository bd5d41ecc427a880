"""How far long work is, told to whoever listens in this thread, and to the logger ``imgcl``.

Work is done in stages, ``with stage("classifiers", units=3) as advance:``. A stage inside another one is a part of it,
so one share of the whole is known at any moment. What listens and what is open is kept per thread (in context
variables): two trainings in two threads do not see each other, and a new thread starts without a listener.

The logger ``imgcl`` gets at level INFO the time that every stage took, and a line for every tenth of a stage with ten
units or more; at DEBUG a line for every unit.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

logger = logging.getLogger("imgcl")
MANY = 10  # units of a stage from which every tenth is worth a line


@dataclass(frozen=True)
class Told:
    """Where the outermost stage stands.

    Attributes:
        share: what is done of it, 0..1.
        text: what is being done.
        left: seconds that remain, where the work itself knows; else it is for the listener to estimate.
        given: what was done before it began, 0..1: epochs of a training that is resumed.
        at_most: whether it may end before all is done, as a training that settles.
    """

    share: float
    text: str
    left: float | None = None
    given: float = 0.0
    at_most: bool = False


Listener = Callable[[Told], None]
T = TypeVar("T")

_listener: ContextVar[Listener | None] = ContextVar("imgcl_listener", default=None)
_verbose: ContextVar[int] = ContextVar("imgcl_verbose", default=0)
_innermost: ContextVar[Stage | None] = ContextVar("imgcl_stage", default=None)


class Tenths:
    """Says when another 10 % are passed.

    Example:
        >>> tenths = Tenths()
        >>> [share for share in (0.05, 0.1, 0.15, 0.42, 0.43, 1.0) if tenths.passed(share)]
        [0.1, 0.42, 1.0]
    """

    def __init__(self, share: float = 0.0) -> None:
        self._last = int(10 * share + 1e-9)

    def passed(self, share: float) -> bool:
        """Whether this share is the first one in its tenth."""
        before, self._last = self._last, max(self._last, int(10 * share + 1e-9))
        return self._last > before


class Stage:
    """A piece of work; call it when some of its units are done.

    Args:
        title: what it is; an empty one is not shown.
        units: how many there are.
        unit: what to call one of them; without a name they are not counted in texts.
        done: units that were done before.
        weight: units of the stage around it that it is worth.
        at_most: whether it may end before all units are done.
    """

    def __init__(
        self, title: str, units: float = 1, unit: str = "", done: float = 0, weight: float = 1, at_most: bool = False
    ) -> None:
        self.title, self.units, self.unit, self.done, self.weight = title, max(units, 1e-9), unit, done, weight
        self.at_most = at_most
        self._above, self._tenths, self._begin = _innermost.get(), Tenths(self.share), time.perf_counter()
        self.given = 0.0
        self._give(self.share)
        self._tell(self.share, "")

    @property
    def share(self) -> float:
        """What is done, 0..1."""
        return min(1.0, self.done / self.units)

    @property
    def path(self) -> str:
        """Its title after those of the stages around it."""
        return ": ".join(filter(None, (self._above.path if self._above else "", self.title)))

    def __call__(self, units: float = 1, text: str = "") -> None:
        """Add to the units that are done."""
        self.to(self.done + units, text)

    def to(self, done: float, text: str = "", left: float | None = None) -> None:
        """Set the number of units that are done.

        Args:
            done: how many.
            text: what else is worth telling.
            left: seconds that remain.
        """
        self.done = done
        said = ", ".join(filter(None, (self._counted(), text)))
        if said:
            tenth = self._tenths.passed(self.share) and self.units >= MANY
            level = logging.INFO if tenth else logging.DEBUG
            log(level, f"{self.path}: {said}", counted=True)
        self._tell(self.share, said, left)

    def end(self, *, failed: bool = False) -> None:
        """End the stage; the one around it goes on."""
        if self._above is not None:
            self._above.done += self.weight
        if failed:
            return
        if self.title:
            log(logging.INFO, f"{self.path}: {time.perf_counter() - self._begin:.1f} s")
        if self._above is None:
            self._tell(1.0, "")
        else:
            self._above._tell(self._above.share, "")

    def _counted(self) -> str:
        return f"{self.unit} {self.done:,.0f}/{self.units:,.0f}" if self.unit else ""

    def _give(self, share: float) -> None:
        if self._above is None:
            self.given += share
        else:
            self._above._give(share * self.weight / self._above.units)

    def _tell(self, share: float, text: str, left: float | None = None, at_most: bool = False) -> None:
        listener, above, at_most = _listener.get(), self._above, at_most or self.at_most
        if listener is None:
            return
        if above is None:
            listener(Told(share, text, left, self.given, at_most))
        else:
            part = min(1.0, (above.done + self.weight * share) / above.units)
            above._tell(part, ": ".join(filter(None, (self.title, text))), at_most=at_most)


@contextmanager
def stage(
    title: str, units: float = 1, *, unit: str = "", done: float = 0, weight: float = 1, at_most: bool = False
) -> Iterator[Stage]:
    """A stage that lasts as long as the block; at its end, ``weight`` units of the stage around it are done.

    Example:
        >>> with listening(lambda told: print(told.share, told.text or "-")):
        ...     with stage("all", units=4) as whole:
        ...         whole()
        ...         with stage("the rest", units=2, unit="split", weight=2) as part:
        ...             part()
        0.0 -
        0.25 -
        0.25 the rest
        0.5 the rest: split 1/2
        0.75 -
        1.0 -
    """
    found = Stage(title, units, unit, done, weight, at_most)
    token, failed = _innermost.set(found), True
    try:
        yield found
        failed = False
    finally:
        _innermost.reset(token)
        found.end(failed=failed)


def tracked(things: Sequence[T], title: str, unit: str, *, weight: float = 1) -> Iterator[T]:
    """The things one by one, each a unit of a stage.

    Example:
        >>> with listening(lambda told: print(told.share, told.text or "-")):
        ...     total = sum(tracked([1, 2], "numbers", "number"))
        0.0 -
        0.5 number 1/2
        1.0 number 2/2
        1.0 -
    """
    found = Stage(title, len(things), unit, weight=weight)
    for thing in things:
        yield thing
        found()
    found.end()


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Until the end of the block, stages of this thread are told to a listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def verbose(level: int) -> Iterator[None]:
    """Until the end of the block, what is logged in this thread is also seen where no logging was set up.

    Args:
        level: 0: nothing; 1: level INFO, on standard error; 2: DEBUG as well.
    """
    token = _verbose.set(max(int(level), _verbose.get()))
    try:
        yield
    finally:
        _verbose.reset(token)


def log(level: int, line: str, *, counted: bool = False) -> None:
    """Log a line; on request of :func:`verbose` it goes to standard error where no logger takes it.

    Args:
        level: of the logger.
        line: to be logged.
        counted: whether it says how many units are done, which a progress bar shows as well.
    """
    if logger.isEnabledFor(level) and logger.hasHandlers():
        logger.log(level, line, extra={"counted": counted})
    elif _verbose.get() >= (1 if level >= logging.INFO else 2):
        print(line, file=sys.stderr)
