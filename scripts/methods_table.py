"""Every method with and without ImGCL on one graph, beside the paper's figures, as a Markdown page.

    IMGCL_DATA=... python scripts/methods_table.py --graph amazon-photo --out docs/results/methods.md

Runs are kept in --runs and never computed twice; an interrupted call continues where it stopped. With --only, the
named methods are pre-trained and no page is written, so that several calls can share the work.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from imgcl.data import load_graph
from imgcl.errors import ImgclError
from imgcl.estimator import IMGCL, make_config
from imgcl.evaluate import EvaluationResult, evaluate
from imgcl.evaluate.paper import paper_accuracy
from imgcl.evaluate.render import markdown_table
from imgcl.files import write_text
from imgcl.graph import Graph
from imgcl.imbalance import random_splits
from imgcl.pretrain import pretrain
from imgcl.train import Run

METHODS = ("dgi", "mvgrl", "infograph", "grace", "bgrl", "gbt")
NAMES = {"dgi": "DGI", "mvgrl": "MVGRL", "infograph": "InfoGraph", "grace": "GRACE", "bgrl": "BGRL", "gbt": "GBT"}
CLASSIFIERS = ("plain", "reweight", "pbs")
PUBLISHED_PHOTO = {"grace": 92.2, "bgrl": 93.2, "gbt": 92.6, "dgi": 91.6, "mvgrl": 91.7}  # 10/10/80 splits, own papers


def run_of(graph: Graph, method: str, balance: str | None, folder: Path, seed: int) -> Run:
    config = make_config(graph.name, method=method, preset="fast", balance=balance, seed=seed)
    out = folder / f"{graph.name}-{method}-{'imgcl' if balance else 'plain'}-{seed}"
    return pretrain(graph, config, out, resume=True)


def row(graph: Graph, run: Run, label: str) -> list[str]:
    y, z = graph.y, run.embedding
    assert y is not None
    tailed = evaluate(z, y, imbalance="exp:100", classifier=CLASSIFIERS, splits=20, ceiling=0)
    ordinary: EvaluationResult = evaluate(z, y, classifier="plain", splits=random_splits(y, splits=20), ceiling=0)
    cells = [tailed[name, "accuracy"].percent() for name in CLASSIFIERS]
    return [label, *cells, tailed["reweight", "tail"].percent(), ordinary["plain", "accuracy"].percent()]


def page(graph: Graph, folder: Path, seed: int, command: str) -> str:
    rows = []
    for method in METHODS:
        for balance in (None, IMGCL):
            run = run_of(graph, method, balance, folder, seed)
            name = NAMES[method] + (" + ImGCL" if balance else "")
            figure = paper_accuracy(method, graph.name, balanced=balance is not None)
            published = PUBLISHED_PHOTO.get(method) if graph.name == "amazon-photo" and balance is None else None
            shown = ["" if value is None else f"{value:.1f}" for value in (figure, published)]
            rows.append([*row(graph, run, name), *shown])
    header = ["method", *CLASSIFIERS, "tail, reweight", "10/10/80", "paper", "published 10/10/80"]
    return f"""# Six methods with and without ImGCL: {graph.name}

Made by

```sh
{command}
```

Preset `fast` (at most 500 epochs, chosen on validation accuracy only), seed {seed}. Columns `plain`, `reweight`, `pbs`:
accuracy in percent on a balanced test set with training labels `exp:100`, mean ± sd over 20 splits, by the classifier
of that name. `10/10/80`: ordinary random splits, plain classifier, 20 splits.
The paper's ImGCL figures are ImGCL pre-training with a classifier on balanced data; compare them with `pbs` and
`reweight`. Published: the methods' own papers, on Amazon-Photo.

{markdown_table(header, rows)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="amazon-photo")
    parser.add_argument("--runs", type=Path, default=Path("runs/methods"))
    parser.add_argument("--out", type=Path, default=Path("docs/results/methods.md"))
    parser.add_argument("--only", help="methods, separated by commas")
    parser.add_argument("--threads", type=int, default=1, help="of each call; results are bit for bit for this number")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    graph = load_graph(options.graph)
    if options.only:
        for method in options.only.split(","):
            for balance in (None, IMGCL):
                run_of(graph, method, balance, options.runs, options.seed)
                print(f"{method} {'imgcl' if balance else 'plain'} done", flush=True)
        return
    command = (
        f"python scripts/methods_table.py --graph {options.graph} --seed {options.seed} --threads {options.threads}"
    )
    write_text(options.out, page(graph, options.runs, options.seed, command))


if __name__ == "__main__":
    try:
        main()
    except ImgclError as error:
        sys.exit(f"error: {error}")
