"""Labels that the user brought along: the ablation "true labels"."""

from __future__ import annotations

from imgcl._core.errors import InputError
from imgcl.balance.clusters.task import ClusterTask, Labels


def given(task: ClusterTask) -> Labels:
    """The given labels, as they are."""
    if task.given is None:
        raise InputError("clusters='given' needs labels: pass labels=, one class 0..K-1 per node")
    return task.given
