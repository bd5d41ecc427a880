"""What every benchmark shares: interleaved timing, peak memory of a child process, one way to print."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def arguments(description: str) -> argparse.ArgumentParser:
    """A parser with the options every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--repeats", type=int, default=5, help="timed repetitions of each side")
    return parser


def interleaved(sides: dict[str, Callable[[], Any]], repeats: int, warm_up: int = 2) -> dict[str, float]:
    """Median seconds of every side, timed in turn so that other load on the machine hits all of them alike."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    for run in range(warm_up + repeats):
        for name, function in sides.items():
            start = time.perf_counter()
            function()
            if run >= warm_up:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def peak_mb(function: Callable[..., Any], *args: Any) -> float:
    """Peak resident memory of a fresh process that runs the function, in MB."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_measured, args=(queue, function, args))
    process.start()
    peak = queue.get(timeout=1800)
    process.join()
    return float(peak)


def _measured(queue: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    function(*args)
    queue.put(high_water_mb())


def high_water_mb() -> float:
    """Peak of this process alone: Linux carries the parent's ru_maxrss into a child, but not its VmHWM."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def show(name: str, result: dict[str, Any], as_json: bool) -> None:
    """Print a result: one JSON object, or lines for a person."""
    if as_json:
        print(json.dumps({"benchmark": name, **result}))
        return
    print(name)
    for key, value in result.items():
        print(f"  {key:<24} {value:.4g}" if isinstance(value, float) else f"  {key:<24} {value}")
