"""How idle OpenMP threads should wait: an epoch alone on the machine, and with a second training beside it.

Ours spins for microseconds (imgcl/__init__.py); against it threads that sleep at once, and the libraries' default,
which spins for milliseconds. The table's line compares two trainings at once.

IMGCL_DATA=<directory with the raw files> python benchmarks/waiting.py [--json]
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time
from typing import Any

from common import arguments, show
from imgcl.training.hardware import reuse_freed_memory
from methods import ours

GRAPH, METHOD = "amazon-photo", "bgrl"
SECONDS = 4.0  # of a turn
# libgomp's default number of spins is 300,000.
POLICIES = {"ours": "3000", "asleep": "0", "default": "300000"}


def epoch_seconds(spins: str, trainings: int) -> float:
    """Median seconds of an epoch in processes that start together, averaged over them."""
    os.environ.update(OMP_WAIT_POLICY="PASSIVE", GOMP_SPINCOUNT=spins)  # for the processes that follow
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(trainings), context.Queue()
    processes = [context.Process(target=_train, args=(barrier, queue), daemon=True) for _ in range(trainings)]
    for process in processes:
        process.start()
    found = [queue.get(timeout=600) for _ in processes]
    for process in processes:
        process.join()
    return statistics.mean(found)


def _train(barrier: Any, queue: Any) -> None:
    with reuse_freed_memory():
        epoch = ours(METHOD, GRAPH)
        epoch()
        barrier.wait()
        runs: list[float] = []
        while sum(runs) < SECONDS:
            start = time.perf_counter()
            epoch()
            runs.append(time.perf_counter() - start)
    queue.put(statistics.median(runs))


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.set_defaults(repeats=3)
    options = parser.parse_args()
    runs: dict[tuple[str, int], list[float]] = {}
    for _ in range(options.repeats):
        for name, spins in POLICIES.items():
            for trainings in (1, 2):
                runs.setdefault((name, trainings), []).append(epoch_seconds(spins, trainings))
    seconds = {key: statistics.median(values) for key, values in runs.items()}
    show(
        "waiting",
        {
            "ours_s": seconds["ours", 2],
            "reference_s": seconds["default", 2],
            "ratio": seconds["default", 2] / seconds["ours", 2],
            "asleep_s": seconds["asleep", 2],
            **{f"{name}_alone_s": seconds[name, 1] for name in POLICIES},
        },
        options.json,
    )


if __name__ == "__main__":
    main()
