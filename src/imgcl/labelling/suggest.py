"""The next nodes to label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.progress import stage
from imgcl._core.seeding import RandomState, as_seed
from imgcl._core.torch_settings import usual_torch
from imgcl.evaluation.blocks import Blocks
from imgcl.labelling.inputs import Source, check_count, read_source
from imgcl.labelling.reasons import reasons
from imgcl.labelling.strategies import resolve_strategy
from imgcl.labelling.task import LabellingTask

if TYPE_CHECKING:
    import pandas as pd


@usual_torch()
def suggest(
    embedding: Any,
    budget: int,
    labels: Any = None,
    strategy: Any = "auto",
    random_state: RandomState = 0,
    *,
    graph: Any = None,
    node_names: Sequence[str] | None = None,
    n_clusters: int | None = None,
) -> pd.DataFrame:
    """Which nodes to label next, the most useful first: any beginning of the list is a good smaller batch.

    Fill the column ``label`` and pass the table back as ``labels`` for the next batch. A node that was suggested is
    never suggested again, whether it got a label or not.

    Args:
        embedding: (N, d) array; several blocks by name, as in :func:`imgcl.evaluate`; a run, or a run's directory.
        budget: number of nodes.
        labels: those so far: a table with the columns ``node`` and ``label``, the path of such a CSV file, a mapping
            from node name or number to class (``None``: was asked, has no label), a pandas ``Series`` whose index names
            nodes, or one label per node. Labels that the graph of a run has for some of its nodes count as well, unless
            there is one label per node.
        strategy: ``cover``: one typical node of every cluster that nothing covers yet; ``balanced``: the paper's
            selection (Eq. 3 with alpha 0, Eq. 5), which needs the graph; ``uncertain``: what a classifier hesitates
            about, rare classes first, far apart; ``search:CLASS``: more of one class; ``random``; ``auto``: ``cover``
            until there are five labels for each class found and these can be told apart, then ``uncertain``. Or a
            function of your own, :class:`imgcl.labelling.LabellingTask` in, node numbers out.
        random_state: seed; the same gives the same list.
        graph: for ``balanced``, where the embedding is not a run that knows its graph.
        node_names: names of the nodes, where the embedding is neither a run that knows them nor a ``DataFrame`` whose
            index they are.
        n_clusters: pseudo-classes of ``balanced``; by default chosen from embedding and graph.

    Returns:
        One row per node: ``node``, ``label`` (empty), and why: ``cluster`` (1 is the largest), ``cluster_size``,
        ``typical`` (1: nearest to the centroid), ``expected`` class and its ``probability``, ``nearest_labelled`` node
        with its ``nearest_label`` and their ``similarity`` (cosine).

    Raises:
        InputError: when embedding, labels or strategy are wrong, or fewer nodes than ``budget`` are left.

    Example:
        >>> Z = np.array([[1.0, 0.0], [1.0, 0.1], [1.0, 0.2], [0.0, 1.0], [0.1, 1.0]])
        >>> batch = suggest(Z, 2)
        >>> batch["node"].tolist(), batch["cluster_size"].tolist()
        ([1, 3], [3, 2])
        >>> batch["label"] = ["tea", "salt"]
        >>> suggest(Z, 1, labels=batch)[["node", "expected", "nearest_labelled"]].to_dict("records")
        [{'node': 0, 'expected': 'tea', 'nearest_labelled': 1}]
    """
    source = read_source(embedding, graph=graph, node_names=node_names)
    choose = resolve_strategy(strategy)
    known, asked = source.read_labels(labels)
    check_budget(budget, int(len(asked) - asked.sum()))
    if n_clusters is not None:
        check_count(n_clusters, "n_clusters", "clusters")
    blocks = Blocks.of(source.embedding, source.n_nodes)
    task = LabellingTask(blocks.rows, known, asked, int(budget), as_seed(random_state), source.load_graph, n_clusters)
    with stage(f"strategy {strategy}" if isinstance(strategy, str) else "strategy"):
        nodes = check_choice(choose(task), task)
        return _table(source, nodes, reasons(task, nodes))


def check_budget(budget: Any, left: int) -> None:
    """Refuse a batch that cannot be: of no nodes, of a part of one, or of more than there are."""
    check_count(budget, "budget", "nodes")
    if budget > left:
        raise InputError(f"`budget` is {budget}, but only {left} nodes were never suggested: ask for at most {left}")


def check_choice(nodes: Any, task: LabellingTask) -> NDArray[np.int64]:
    """What a strategy chose, if it is as many different open nodes as were asked for."""
    chosen = np.asarray(nodes)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise InputError(f"the strategy chose {nodes!r}: it must give a list of node numbers")
    if len(np.unique(chosen)) != task.budget or len(chosen) != task.budget or not np.isin(chosen, task.open).all():
        raise InputError(
            f"the strategy chose {len(chosen)} nodes, {len(np.unique(chosen))} of them different: it must choose "
            f"{task.budget} different nodes of task.open"
        )
    return chosen.astype(np.int64)


def _table(source: Source, nodes: NDArray[np.int64], why: dict[str, Any]) -> pd.DataFrame:
    import pandas as pd

    nearest = why["nearest_labelled"]
    if isinstance(nearest, np.ndarray):
        why["nearest_labelled"] = source.names(nearest)
    return pd.DataFrame({"node": source.names(nodes), "label": [""] * len(nodes), **why})
