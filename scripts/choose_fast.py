"""Choose ``fast`` settings on validation accuracy: the test nodes of no split are looked at.

    IMGCL_DATA=... python scripts/choose_fast.py gbt amazon-photo lr=0.0005,0.001 epochs=200,500

Every combination of the listed values is trained without ImGCL on top of the preset, and scored by the mean accuracy of
the classifiers ``plain`` and ``reweight``: C chosen on one half of each split's validation nodes, accuracy on the other
half. One JSON line per combination is appended to --journal; a combination that is there is not computed again.
The first lines of the published journal are older and have the accuracy of ``reweight`` alone.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path

import numpy as np
import torch

from imgcl.data import load_graph
from imgcl.evaluation import evaluate
from imgcl.imbalance import make_splits
from imgcl.imbalance.splits import Split
from imgcl.training import Trainer
from imgcl.training.estimator import make_config

CLASSIFIERS = ("plain", "reweight")


def validation_splits(y: np.ndarray, count: int = 20) -> list[Split]:
    """Splits whose test nodes are half of the validation nodes, class by class."""
    halves = []
    for split in make_splits(y, "exp:100", splits=count, random_state=0):
        by_class = split.val[np.argsort(y[split.val], kind="stable")]
        halves.append(Split(split.train, by_class[::2], by_class[1::2]))
    return halves


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method")
    parser.add_argument("graph")
    parser.add_argument("grid", nargs="*", help="key=value,value,…")
    parser.add_argument("--preset", default="fast", help="settings to start from: fast or paper")
    parser.add_argument("--journal", type=Path, default=Path("docs/results/choose_fast.jsonl"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    graph = load_graph(options.graph)
    assert graph.y is not None
    keys = [item.partition("=")[0] for item in options.grid]
    values = [item.partition("=")[2].split(",") for item in options.grid]
    lines = options.journal.read_text().splitlines() if options.journal.exists() else []
    done = {json.dumps(json.loads(line)["what"], sort_keys=True) for line in lines}
    for combination in itertools.product(*values):
        overrides = dict(zip(keys, combination, strict=True))
        config = make_config(
            graph.name,
            method=options.method,
            preset=options.preset,
            balance=None,
            overrides=overrides,
            seed=options.seed,
        )
        what = {
            "method": options.method,
            "graph": graph.name,
            "training": config.training.model_dump(),
            "settings": config.build_settings().model_dump(),
            **({"seed": options.seed} if options.seed else {}),
        }
        if json.dumps(what, sort_keys=True) in done:
            continue
        start = time.perf_counter()
        trainer = Trainer(config, graph)
        trainer.train()
        splits = validation_splits(graph.y)
        result = evaluate(trainer.embed(), graph.y, classifier=CLASSIFIERS, splits=splits, ceiling=0)
        scores = {name: round(result[name, "accuracy"].mean or 0.0, 4) for name in CLASSIFIERS}
        line = {
            "what": what,
            "overrides": overrides,
            "validation_accuracy": round(sum(scores.values()) / len(scores), 4),
            **scores,
            "epochs_run": trainer.epoch,
            "seconds": round(time.perf_counter() - start, 1),
        }
        options.journal.parent.mkdir(parents=True, exist_ok=True)
        with options.journal.open("a") as journal:
            journal.write(json.dumps(line) + "\n")
        print(
            options.method,
            graph.name,
            overrides,
            line["validation_accuracy"],
            scores,
            f"{line['seconds']} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
