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


def reasons(task: LabellingTask, nodes: NDArray[np.int64]) -> dict[str, Any]:
    """What is known of each node: its cluster, the class it probably has, and the labelled node nearest to it.

    Args:
        task: what the nodes were chosen from.
        nodes: the chosen ones.

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
    return found | _nearest(task, nodes)


def cosines(rows: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosine of every row with every other; 0 for a row of zeros.

    Example:
        >>> cosines(np.array([[3.0, 0.0]]), np.array([[2.0, 0.0], [0.0, 5.0]])).tolist()
        [[1.0, 0.0]]
    """
    lengths = (np.maximum(np.linalg.norm(each, axis=1), 1e-12) for each in (rows, others))
    return np.asarray(rows @ others.T / np.outer(*lengths))


def _nearest(task: LabellingTask, nodes: NDArray[np.int64]) -> dict[str, Any]:
    labelled = np.flatnonzero(task.labels.codes >= 0)
    if not len(labelled):
        return {}
    cosine = cosines(task.rows[nodes], task.rows[labelled])
    best = cosine.argmax(axis=1)
    names = np.array(task.labels.names, dtype=object)
    return {
        "nearest_labelled": labelled[best],
        "nearest_label": names[task.labels.codes[labelled[best]]],
        "similarity": cosine[np.arange(len(nodes)), best].astype(np.float64).round(3),
    }
