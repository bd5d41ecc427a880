"""A function in a process of its own, with the memory that it takes for itself."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

EVERY = 0.02  # seconds between two looks


def alone(function: Callable[..., dict[str, Any]], *args: Any) -> dict[str, Any]:
    """What the function returns, and ``peak_mb``: resident memory that is not page cache."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_watched, args=(sending, function, args))
    process.start()
    sending.close()
    try:
        result: dict[str, Any] = receiving.recv()
    except EOFError:
        process.join()
        raise SystemExit(f"{function.__name__} failed (exit code {process.exitcode}): see above") from None
    process.join()
    return result


def _watched(connection: Any, function: Callable[..., dict[str, Any]], args: tuple[Any, ...]) -> None:
    peak, done = [0.0], threading.Event()

    def look() -> None:
        while not done.wait(EVERY):
            peak[0] = max(peak[0], _anonymous_mb())

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    result = function(*args)
    done.set()
    watcher.join()
    connection.send({**result, "peak_mb": max(peak[0], _anonymous_mb())})


def _anonymous_mb() -> float:
    """Memory of this process that no file stands behind."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("the scale benchmark reads /proc/self/status: run it on Linux")
