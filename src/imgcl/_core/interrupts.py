"""Ctrl-C that waits for a good moment, and SIGTERM that is as polite."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from imgcl._core.errors import StoppedError

SIGNALS = (signal.SIGINT, signal.SIGTERM)  # Ctrl-C, and what a scheduler sends before it kills


class Interrupts:
    """Which signal came first; ``None``: none so far."""

    signal: int | None = None

    def __bool__(self) -> bool:
        return self.signal is not None

    @property
    def exit_code(self) -> int:
        """What a shell expects of a program that a signal ended."""
        return 128 + (self.signal or signal.SIGINT)


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
        if interrupts and number == signal.SIGINT:
            raise KeyboardInterrupt
        if not interrupts:
            interrupts.signal = number
            notice()

    with _handled_by(note):
        yield interrupts


@contextmanager
def prompt_interrupts(message: str) -> Iterator[None]:
    """While the block lasts, Ctrl-C and SIGTERM alike end it at once.

    Raises:
        StoppedError: with the message, when one of them came.
    """
    interrupts = Interrupts()

    def stop(number: int, _frame: FrameType | None) -> None:
        interrupts.signal = number
        raise KeyboardInterrupt

    try:
        with _handled_by(stop):
            yield
    except KeyboardInterrupt:
        raise StoppedError(message, interrupts.exit_code) from None


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # only the main thread receives signals
        yield
        return
    before = {number: signal.signal(number, handler) for number in SIGNALS}
    try:
        yield
    finally:
        for number, usual in before.items():
            signal.signal(number, usual)
