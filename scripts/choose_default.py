"""Measure what the default setting is chosen by: validation nodes of the development graphs.

    IMGCL_DATA=... python scripts/choose_default.py "" dim=256 balance=none,dim=256

Every setting is trained on top of the preset ``auto``, as ``imgcl pretrain`` does it, and looked at after some epochs:
accuracy of the classifier ``best`` with own and propagated features beside the embedding. Penalties and weights are
chosen on one half of each split's validation nodes and accuracy is taken on the other; test nodes are not used.
``kept`` is the share of nearest neighbours kept since the look before, by which training stops.
One JSON line per look is appended to --journal; a setting that is there is not computed again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from imgcl.baselines import neighbour_features, own_features
from imgcl.data import load_graph
from imgcl.evaluation import evaluate
from imgcl.graph import Graph
from imgcl.imbalance import make_splits
from imgcl.imbalance.splits import Split
from imgcl.training import Trainer
from imgcl.training.estimator import IMGCL, make_config
from imgcl.training.settling import is_look
from imgcl_lab.graphs.rows import DEVELOPMENT, LAWS


def validation_splits(y: np.ndarray, law: str, count: int) -> list[Split]:
    """Splits whose test nodes are half of the validation nodes, class by class."""
    halves = []
    for split in make_splits(y, law, splits=count, random_state=0):
        by_class = split.val[np.argsort(y[split.val], kind="stable")]
        halves.append(Split(split.train, by_class[::2], by_class[1::2]))
    return halves


Look = tuple[int, float | None, np.ndarray]


def looks(graph: Graph, setting: dict[str, str], seed: int, epochs: int) -> Iterator[Look]:
    """Epoch, share of neighbours kept, and embedding at every look."""
    overrides = {key: value for key, value in setting.items() if key not in ("method", "balance")}
    balance = None if setting.get("balance") == "none" else setting.get("balance", IMGCL)
    method = setting.get("method", "gbt")
    config = make_config(graph.name, method=method, preset="auto", balance=balance, overrides=overrides, seed=seed)
    trainer = Trainer(config, graph)
    for _ in range(epochs):
        trainer.step()
        if is_look(trainer.epoch):
            kept = trainer.settling.looks[-1]["kept"] if trainer.settling is not None else None
            yield trainer.epoch, kept, trainer.embed()


def measure(name: str, setting: dict[str, str], seed: int, count: int, epochs: list[int]) -> Iterator[dict[str, Any]]:
    graph = load_graph(name)
    assert graph.y is not None
    splits = validation_splits(graph.y, LAWS.get(name, "natural"), count)
    features = {"own": own_features(graph, seed=0), "neighbours": neighbour_features(graph, seed=0)}
    for epoch, kept, Z in looks(graph, setting, seed, max(epochs)):
        if epoch in epochs:
            result = evaluate({"learned": Z, **features}, graph.y, classifier="best", splits=splits, ceiling=0)
            yield {"epoch": epoch, "kept": kept, "accuracy": round(result["best", "accuracy"].mean or 0.0, 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", default=[""], help="key=value,key=value")
    parser.add_argument("--graphs", nargs="*", default=list(DEVELOPMENT))
    parser.add_argument("--journal", type=Path, default=Path("docs/results/choose_default.jsonl"))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--epochs", type=int, nargs="*", default=[50, 100], help="of 25, 50, 100, 200, 400")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    lines = options.journal.read_text().splitlines() if options.journal.exists() else []
    done = {json.dumps(json.loads(line)["what"], sort_keys=True) for line in lines}
    for name in options.graphs:
        for text in options.settings:
            setting = dict(part.split("=", 1) for part in text.split(",") if part)
            what = {"graph": name, "setting": setting, "seed": options.seed, "splits": options.splits}
            if json.dumps(what, sort_keys=True) in done:
                continue
            given = name, setting, options.seed, options.splits, options.epochs
            found = [{"what": what, **line} for line in measure(*given)]
            with options.journal.open("a") as journal:
                journal.writelines(json.dumps(line) + "\n" for line in found)
            print(name, text, [(each["epoch"], each["kept"], each["accuracy"]) for each in found], flush=True)


if __name__ == "__main__":
    main()
