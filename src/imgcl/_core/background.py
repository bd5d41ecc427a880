"""Work beside the caller's, in a thread that never keeps a process alive."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """A call that has begun; :meth:`result` waits for it.

    The thread is a daemon: after Ctrl-C the process ends at once, whatever is still being computed.

    Example:
        >>> total = Background(sum, [1, 2, 3])
        >>> total.result()
        6
    """

    def __init__(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> None:
        self._call = lambda: function(*args, **kwargs)
        self._found: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def result(self) -> T:
        """What the function returned; what it raised is raised here."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found[0]

    def _run(self) -> None:
        try:
            self._found.append(self._call())
        except BaseException as error:  # raised again where the result is asked for
            self._error = error
