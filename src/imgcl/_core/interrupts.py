"""Ctrl-C that waits for a good moment, and SIGTERM that is as polite."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from imgcl._core.errors import StoppedError

SIGNALS = (signal.SIGINT, signal.SIGTERM)  # Ctrl-C, and what a scheduler sends before it kills
PAUSE = 0.01  # seconds until an interruption that got lost is tried again


class Interrupts:
    """Which signal came first; ``None``: none so far."""

    signal: int | None = None
    waits: bool = True  # whether it is only noted

    def __bool__(self) -> bool:
        return self.signal is not None

    @property
    def exit_code(self) -> int:
        """What a shell expects of a program that a signal ended."""
        return 128 + (self.signal or signal.SIGINT)

    @contextmanager
    def at_once(self, message: str) -> Iterator[None]:
        """While the block lasts, a signal ends it at once; one that was noted before ends it before it begins.

        Raises:
            StoppedError: with the message, when one came.
        """
        self.waits = False
        try:
            if self:
                raise KeyboardInterrupt
            yield
        except KeyboardInterrupt:
            if not self:
                raise
            raise StoppedError(message, self.exit_code) from None
        finally:
            self.waits = True


@contextmanager
def deferred_interrupts(notice: Callable[[], None] = lambda: None) -> Iterator[Interrupts]:
    """While the block lasts, the first Ctrl-C or SIGTERM is noted and nothing else; a second Ctrl-C interrupts at once.

    Args:
        notice: called when the first one comes, to tell the user what happens now.

    Example:
        >>> import os
        >>> with deferred_interrupts() as interrupts:
        ...     os.kill(os.getpid(), signal.SIGINT)
        ...     bool(interrupts), interrupts.exit_code
        (True, 130)
    """
    interrupts = Interrupts()

    def note(number: int, _frame: FrameType | None) -> None:
        first = not interrupts
        interrupts.signal = number if first else interrupts.signal
        if not interrupts.waits or (not first and number == signal.SIGINT):
            raise KeyboardInterrupt
        if first:
            notice()

    with _handled_by(note):
        yield interrupts


@contextmanager
def heeded_interrupts() -> Iterator[Interrupts]:
    """While the block lasts, Ctrl-C and SIGTERM alike are a ``KeyboardInterrupt``, which is never lost.

    Python drops an exception that is raised in a destructor or in a callback from C, such as those of the compiler of
    numba, and prints a traceback: the interruption is tried again then.
    """
    interrupts = Interrupts()

    def stop(number: int, _frame: FrameType | None) -> None:
        interrupts.signal = number
        raise KeyboardInterrupt

    def lost(event: Any) -> None:
        if interrupts and issubclass(event.exc_type, KeyboardInterrupt):
            threading.Timer(PAUSE, _thread.interrupt_main, (interrupts.signal,)).start()
        else:
            usual(event)

    usual, sys.unraisablehook = sys.unraisablehook, lost
    try:
        with _handled_by(stop):
            yield interrupts
    finally:
        sys.unraisablehook = usual


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # only the main thread receives signals
        yield
        return
    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in heard}
    try:
        yield
    finally:
        for number, usual in before.items():
            signal.signal(number, usual)
