"""Ctrl-C that waits for a good moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

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
    if threading.current_thread() is not threading.main_thread():  # only the main thread receives signals
        yield interrupts
        return

    def note(number: int, _frame: FrameType | None) -> None:
        if interrupts and number == signal.SIGINT:
            raise KeyboardInterrupt
        if not interrupts:
            interrupts.signal = number
            notice()

    before = {number: signal.signal(number, note) for number in SIGNALS}
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
