"""Why a node was suggested, in columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl.labelling.task import LabellingTask

COLUMNS = (
    *("cluster", "cluster_size", "typical", "expected", "probability"),
    *("nearest_labelled", "nearest_label", "similarity"),
)


def reasons(task: LabellingTask, nodes: NDArray[np.int64], n_blocks: int) -> dict[str, Any]:
    """What is known of each node: its cluster, the class it probably has, and the labelled node nearest to it.

    Args:
        task: what the nodes were chosen from.
        nodes: the chosen ones.
        n_blocks: blocks of the embedding: every row has that squared length.

    Returns:
        The columns; ``nearest_labelled`` has node numbers.
    """
    clusters = task.clusters
    own = clusters.labels[nodes]
    none = [None] * len(nodes)
    found: dict[str, Any] = dict.fromkeys(COLUMNS, none)
    found |= {
        "cluster": own + 1,  # counted from 1, the largest
        "cluster_size": clusters.sizes[own],
        "typical": clusters.typicality(nodes).round(3),
    }
    if task.can_expect:
        names = np.array(task.labels.names, dtype=object)
        found["expected"] = names[task.expected.classes[nodes]]
        found["probability"] = task.expected.probability[nodes].astype(np.float64).round(3)
    return found | _nearest(task, nodes, n_blocks)


def _nearest(task: LabellingTask, nodes: NDArray[np.int64], n_blocks: int) -> dict[str, Any]:
    labelled = np.flatnonzero(task.labels.codes >= 0)
    if not len(labelled):
        return {}
    cosine = task.rows[nodes] @ task.rows[labelled].T / n_blocks
    best = cosine.argmax(axis=1)
    names = np.array(task.labels.names, dtype=object)
    return {
        "nearest_labelled": labelled[best],
        "nearest_label": names[task.labels.codes[labelled[best]]],
        "similarity": cosine[np.arange(len(nodes)), best].astype(np.float64).round(3),
    }
