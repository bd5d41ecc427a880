"""Ctrl-C and SIGTERM: noted until a good moment comes, or raised at once and never lost."""

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
    """While the block lasts, Ctrl-C and SIGTERM alike are a ``KeyboardInterrupt``, which is :func:`never_lost`."""
    interrupts = Interrupts()

    def stop(number: int, _frame: FrameType | None) -> None:
        interrupts.signal = number
        raise KeyboardInterrupt

    with never_lost(KeyboardInterrupt, lambda: interrupts.signal), _handled_by(stop):
        yield interrupts


@contextmanager
def never_lost(kind: type[BaseException], number: Callable[[], int | None]) -> Iterator[None]:
    """While the block lasts, what the handler of a signal raises is tried again where Python drops it.

    It does in a destructor or in a callback from C, such as those of the compiler of numba, and prints a traceback.

    Args:
        kind: what the handler raises.
        number: the signal that came; ``None``: none so far.
    """

    def lost(event: Any) -> None:
        again = number()
        if again is not None and issubclass(event.exc_type, kind):
            threading.Timer(PAUSE, _send, (again,)).start()
        else:
            usual(event)

    usual, sys.unraisablehook = sys.unraisablehook, lost
    try:
        yield
    finally:
        sys.unraisablehook = usual


def _send(number: int) -> None:
    """A signal for the main thread, which wakes it also where it waits; systems without that wait for it to wake."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(signal.Signals(number))


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
