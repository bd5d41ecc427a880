"""The batched probe against a loop over scikit-learn's logistic regression, on the same splits in one run.

20 splits x 11 values of C x {plain, reweight}, on training sets of Amazon-Computers' size: 1375 labels in 10 classes
after exp:100, 128 columns. The embedding is propagated features of Amazon-Computers where the graph is at hand
(IMGCL_DATA), otherwise a synthetic one with the same shape and a similar spectrum.
"""

from __future__ import annotations

import time

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from common import arguments, peak_mb, show
from imgcl._core.errors import DataNotFoundError
from imgcl.baselines import propagated_features
from imgcl.data import load_graph
from imgcl.evaluation.classifiers import balanced, uniform
from imgcl.evaluation.labels import normalise_rows
from imgcl.evaluation.probes import PENALTIES, batched
from imgcl.evaluation.regression import GROUP
from imgcl.evaluation.tasks import Bench, Task
from imgcl.imbalance import make_splits

CLASS_SIZES = (5158, 2156, 2142, 1414, 818, 542, 487, 436, 308, 291)


def embedding() -> tuple[NDArray[np.float32], NDArray[np.int64], str]:
    try:
        graph = load_graph("amazon-computers")
    except DataNotFoundError:
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(10), CLASS_SIZES)
        spectrum = np.geomspace(1, 0.02, 128)
        Z = (1.5 * rng.standard_normal((10, 128))[y] + rng.standard_normal((len(y), 128))) * spectrum
        return normalise_rows(Z.astype(np.float32)), y, "synthetic"
    assert graph.y is not None
    return normalise_rows(propagated_features(graph)), np.array(graph.y), "amazon-computers"


def tasks_of(Z: NDArray[np.float32], y: NDArray[np.int64], splits: int) -> list[Task]:
    x, codes = torch.from_numpy(Z), torch.from_numpy(y)
    drawn = make_splits(y, "exp:100", splits)
    parts = [(np.array(split.train), np.array(split.val)) for split in drawn]
    return [Task(x[train], codes[train], x[val], codes[val], 10) for train, val in parts]


def ours(tasks: list[Task]) -> None:
    bench = Bench(tasks, batched, [uniform, balanced])
    bench.candidates(uniform)


def reference(tasks: list[Task]) -> None:
    # one thread: on problems of this size more of them only wait for each other, and on a busy machine for minutes
    with threadpool_limits(1):
        for task in tasks:
            for class_weight in (None, "balanced"):
                for c in PENALTIES:
                    model = LogisticRegression(C=c, max_iter=5000, class_weight=class_weight)
                    model.fit(task.x.numpy(), task.y.numpy())


def ours_alone(splits: int) -> None:
    Z, y, _ = embedding()
    ours(tasks_of(Z, y, splits))


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--splits", type=int, default=20)
    options = parser.parse_args()
    Z, y, source = embedding()
    tasks = tasks_of(Z, y, options.splits)
    ours(tasks[:1])
    # a few splits in turn, so that other load on the machine hits both sides alike; twice a group, for two threads
    times = {"ours": 0.0, "reference": 0.0}
    for some in (tasks[i : i + 2 * GROUP] for i in range(0, len(tasks), 2 * GROUP)):
        for name, side in (("ours", ours), ("reference", reference)):
            start = time.perf_counter()
            side(some)
            times[name] += time.perf_counter() - start
    result = {
        "embedding": source,
        "splits": options.splits,
        "fits": options.splits * len(PENALTIES) * 2,
        "ours_s": times["ours"],
        "reference_s": times["reference"],
        "ratio": times["reference"] / times["ours"],
        "bar": 10,
        "peak_mb": peak_mb(ours_alone, options.splits),
    }
    show("probe", result, options.json)


if __name__ == "__main__":
    main()
