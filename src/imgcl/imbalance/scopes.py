"""How far the imbalance reaches: the labels only, the graph, or the graph that pre-training sees.

| scope | pre-training sees | embeddings are made of |
|---|---|---|
| `train` | the whole graph | the whole graph |
| `graph` | the graph without surplus nodes | the same |
| `inductive` | that graph without validation and test nodes as well | the whole graph |

Surplus: of what validation and test leave, the largest class is kept whole and class k is thinned to its law's share of
that, n_0 * w_k / w_0, rounded down; training nodes always stay. Unlabelled nodes have no class that a law could thin
and are kept in every scope. Under the natural law nothing is surplus.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imgcl._core.apportion import TIE
from imgcl._core.errors import InputError
from imgcl._core.seeding import RandomState, as_seed, generator
from imgcl._core.words import did_you_mean
from imgcl.graph import Graph
from imgcl.imbalance.sizes import Cap, ClassSizes, class_order, report_caps
from imgcl.imbalance.splits import Split

Ints = NDArray[np.int64]
SCOPES = ("train", "graph", "inductive")


@dataclass(frozen=True, eq=False)
class ScopedGraph:
    """What to pre-train on and what to embed, for one split.

    Attributes:
        scope: ``train``, ``graph`` or ``inductive``.
        pretrain: the graph that pre-training sees.
        nodes: which nodes of the original graph it has, in its order.
        embed: the graph to embed with the frozen encoder.
        split: the split, in node numbers of the original graph.
        embed_split: the same split, in rows of the embeddings of ``embed``.
        sizes: nodes per class kept by the law (validation and test nodes not counted); ``None`` without thinning.
    """

    scope: str
    pretrain: Graph
    nodes: Ints
    embed: Graph
    split: Split
    embed_split: Split
    sizes: ClassSizes | None = None


def apply_scope(graph: Graph, split: Split, scope: str = "train", random_state: RandomState = 0) -> ScopedGraph:
    """The graphs of one split under a scope.

    Args:
        graph: the whole graph, labelled.
        split: from :func:`imgcl.imbalance.make_splits`; its law thins the graph.
        scope: see the table above.
        random_state: decides which surplus nodes go.

    Raises:
        InputError: when there is no such scope.
        GraphError: when the graph has no labels.

    Example:
        >>> from imgcl.data import load_graph
        >>> from imgcl.imbalance import make_splits
        >>> graph = load_graph("synthetic", class_sizes=[300, 200, 100], mean_degree=6)
        >>> split = make_splits(graph.y, "exp:10", splits=1, val_per_class=5, test_per_class=45)[0]
        >>> apply_scope(graph, split, "inductive").pretrain.class_sizes.tolist()
        [250, 79, 25]
    """
    if scope not in SCOPES:
        raise InputError(f"unknown scope {scope!r}{did_you_mean(scope, SCOPES)}")
    if scope == "train":
        return ScopedGraph(scope, graph, np.arange(graph.n_nodes), graph, split, split)
    keep, sizes = _thin(graph, split, as_seed(random_state))
    keep[np.concatenate([split.val, split.test])] = scope == "graph"
    nodes = np.flatnonzero(keep)
    pretrain = graph.subgraph(nodes)
    if scope == "inductive":
        return ScopedGraph(scope, pretrain, nodes, graph, split, split, sizes)
    train, val, test = (np.searchsorted(nodes, part) for part in (split.train, split.val, split.test))
    moved = Split(train, val, test, split.sizes)
    return ScopedGraph(scope, pretrain, nodes, pretrain, split, moved, sizes)


def _thin(graph: Graph, split: Split, seed: int) -> tuple[NDArray[np.bool_], ClassSizes | None]:
    """Which nodes the law keeps (validation and test nodes aside), and how many of each class."""
    counts = graph.class_sizes
    keep = np.ones(graph.n_nodes, dtype=np.bool_)
    if split.sizes is None or split.sizes.imbalance.is_natural or graph.y is None:
        return keep, None
    y = graph.y
    law, order = split.sizes.imbalance, class_order(counts)
    held_out = np.bincount(y[np.concatenate([split.val, split.test])], minlength=len(counts))
    labelled = np.bincount(y[split.train], minlength=len(counts))
    left = counts - held_out
    weights = law.weights(len(order))
    wanted = np.floor(left[order[0]] * weights / weights[0] + TIE).astype(np.int64)
    kept = np.zeros(len(counts), dtype=np.int64)
    kept[order] = np.clip(wanted, labelled[order], left[order])
    caps = tuple(Cap(int(k), int(ask), int(left[k])) for k, ask in zip(order, wanted, strict=True) if ask > left[k])
    sizes = ClassSizes(law, tuple(kept.tolist()), tuple(order.tolist()), caps)
    report_caps(sizes, "nodes of the pre-training graph")

    is_train, is_held_out = np.zeros((2, graph.n_nodes), dtype=np.bool_)
    is_train[split.train] = True
    is_held_out[np.concatenate([split.val, split.test])] = True
    shuffled = generator(seed, "scope").permutation(graph.n_nodes)
    shuffled = shuffled[np.argsort(~is_train[shuffled], kind="stable")]  # training nodes are the last to go
    for k in order:
        pool = shuffled[(y[shuffled] == k) & ~is_held_out[shuffled]]
        keep[pool[kept[k] :]] = False
    return keep, sizes
