"""Sides of a comparison, each in a process of its own: its memory settings and its peak are its own. Timed in turn."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from common import high_water_mb

TURN = 1.0  # seconds
Make = Callable[..., AbstractContextManager[Callable[[], Any]]]


@dataclass
class Measured:
    """Seconds of every turn, and the process's peak memory."""

    runs: list[float] = field(default_factory=list)
    peak_mb: float = 0.0

    @property
    def seconds(self) -> float:
        return statistics.median(self.runs)


def in_turn(sides: dict[str, tuple[Any, ...]], repeats: int, warm_up: int = 1) -> dict[str, Measured]:
    """Time the sides; each is a function that makes what is timed (a context manager) and its arguments.

    As in training, what is timed follows a run of its own kind, not one of another side: in its turn a side runs once
    untimed, then for at least a second.
    """
    context = multiprocessing.get_context("spawn")
    processes, pipes = {}, {}
    for name, (make, *arguments) in sides.items():
        pipes[name], other = context.Pipe()
        processes[name] = context.Process(target=_serve, args=(other, make, arguments), daemon=True)
        processes[name].start()
        other.close()
    measured = {name: Measured() for name in sides}
    for run in range(warm_up + repeats):
        for name, pipe in pipes.items():
            pipe.send(True)
            seconds = _answer(pipe, name)
            if run >= warm_up:
                measured[name].runs.append(seconds)
    for name, pipe in pipes.items():
        pipe.send(False)
        measured[name].peak_mb = _answer(pipe, name)
        processes[name].join()
    return measured


def _answer(pipe: Any, name: str) -> float:
    try:
        return float(pipe.recv())
    except (EOFError, ConnectionError):
        raise SystemExit(f"the side {name!r} failed: see above") from None


def _serve(pipe: Any, make: Make, arguments: list[Any]) -> None:
    """Answer True with the median seconds of a turn's runs, and False with the peak memory; then end."""
    with make(*arguments) as function:
        while pipe.recv():
            function()
            runs: list[float] = []
            while sum(runs) < TURN:
                start = time.perf_counter()
                function()
                runs.append(time.perf_counter() - start)
            pipe.send(statistics.median(runs))
    pipe.send(high_water_mb())
