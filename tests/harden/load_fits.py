"""A child process: many small fits, one after the other, and what the process holds on to.

``python load_fits.py N`` prints one JSON object: problems of single fits, and the process after every round of fits.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

METHODS = {
    "gbt": {"dim": 16},
    "grace": {"dim": 16, "projection": 16},
    "bgrl": {"dim": 16, "predictor": 32},
    "dgi": {"dim": 16},
    "mvgrl": {"dim": 16},
    "infograph": {"dim": 8},
}
KINDS = list(product(METHODS, (None, "imgcl"), (0, 32)))  # method, balance, batch size (0: the whole graph)
ROUND = len(KINDS)
EPOCHS = 4


def main(fits: int) -> dict[str, Any]:
    import psutil

    from imgcl.data import synthetic_graph

    graphs = [synthetic_graph(class_sizes=[n, 30, 12], n_features=16, mean_degree=6, seed=n) for n in (40, 80, 160)]
    process, problems, rounds = psutil.Process(), [], []
    for i in range(fits):
        problem = fit(i, graphs[i % len(graphs)])
        problems += [] if problem is None else [problem]
        if (i + 1) % ROUND == 0:
            gc.collect()
            rounds.append(
                {
                    "memory": process.memory_info().rss,
                    "threads": process.num_threads(),
                    "files": process.num_fds(),
                    "processes": len(process.children(recursive=True)),
                    "temporary files": len(list(Path(tempfile.gettempdir()).iterdir())),
                }
            )
    return {"problems": problems, "rounds": rounds}


def fit(i: int, graph: Any) -> str | None:
    """One fit, through the estimator or (every fifth) a run directory and the evaluation; what was wrong with it."""
    import numpy as np

    import imgcl
    from imgcl.training.estimator import make_config
    from imgcl.training.pretrain import pretrain

    method, balance, batch_size = KINDS[i % ROUND]
    settings = {**METHODS[method], "batch_size": batch_size}
    if i % 5:
        z = imgcl.ImGCL(method, balance=balance, epochs=EPOCHS, settings=settings, random_state=i).fit(graph).embedding_
    else:
        config = make_config(
            graph.name, method=method, balance=balance, overrides={**settings, "epochs": EPOCHS}, seed=i
        )
        with tempfile.TemporaryDirectory() as folder:
            z = np.array(pretrain(graph, config, Path(folder) / "run").embedding)
        imgcl.evaluate(z, graph.y, "natural", "plain", splits=1)
    if len(z) != graph.n_nodes or not np.isfinite(z).all():
        return f"fit {i} ({method}, {balance}, batch size {batch_size}): embedding {z.shape} is not finite"
    return None


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
