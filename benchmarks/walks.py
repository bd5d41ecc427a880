"""DeepWalk's skip-gram here against gensim's, on the same walks in one run; and how long the walks take.

Amazon-Photo where it is at hand (IMGCL_DATA), otherwise a synthetic graph of its size. 128 columns, window 5,
5 negatives, one pass. gensim is needed for this benchmark only.
"""

from __future__ import annotations

import time

import numpy as np
import torch
from gensim.models import Word2Vec
from numpy.typing import NDArray

from common import arguments, interleaved, peak_mb, show
from imgcl._core.errors import DataNotFoundError
from imgcl.baselines import random_walks, skip_gram
from imgcl.data import load_graph, synthetic_graph
from imgcl.graph import Graph

DIM, WINDOW, NEGATIVES = 128, 5, 5


def graph() -> Graph:
    try:
        return load_graph("amazon-photo")
    except DataNotFoundError:
        return synthetic_graph(
            class_sizes=[1941, 1686, 915, 882, 823, 703, 369, 331], mean_degree=31, n_features=8, seed=0
        )


def ours(walks: NDArray[np.int32], n_nodes: int) -> None:
    skip_gram(walks, n_nodes, DIM, WINDOW, NEGATIVES)


def reference(sentences: list[list[str]]) -> None:
    model = Word2Vec(
        vector_size=DIM, window=WINDOW, negative=NEGATIVES, sg=1, hs=0, min_count=0, sample=0, seed=0,
        workers=torch.get_num_threads(),
    )  # fmt: skip
    model.build_vocab(sentences)
    model.train(sentences, total_examples=len(sentences), epochs=1)


def ours_alone(length: int) -> None:
    g = graph()
    ours(random_walks(g, walks_per_node=2, length=length), g.n_nodes)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--length", type=int, default=40, help="nodes in a walk")
    parser.set_defaults(repeats=3)
    options = parser.parse_args()
    g = graph()
    random_walks(g, 1, 4, p=0.5, q=2.0)  # compile
    start = time.perf_counter()
    random_walks(g, walks_per_node=10, length=80, p=0.5, q=2.0)
    walking = time.perf_counter() - start
    walks = random_walks(g, walks_per_node=2, length=options.length)
    sentences = [[str(node) for node in walk] for walk in walks.tolist()]
    sides = {"ours": lambda: ours(walks, g.n_nodes), "reference": lambda: reference(sentences)}
    times = interleaved(sides, options.repeats, warm_up=1)
    result = {
        "graph": g.name,
        "threads": torch.get_num_threads(),
        "ours_s": times["ours"],
        "reference_s": times["reference"],
        "ratio": times["reference"] / times["ours"],
        "ours_nodes_per_s": walks.size / times["ours"],
        "node2vec_walk_steps_per_s": 10 * 80 * g.n_nodes / walking,
        "peak_mb": peak_mb(ours_alone, options.length),
    }
    show("walks", result, options.json)


if __name__ == "__main__":
    main()
