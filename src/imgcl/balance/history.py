"""What happened at a labelling, as one small plain record."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.cluster import adjusted_rand_score, normalized_mutual_info_score

Labels = NDArray[np.int64]


class Labelling(TypedDict):
    """One labelling and the draw made with it.

    Attributes:
        epoch: when it was made.
        alpha: alpha of Eq. 3 at that epoch.
        sizes: pseudo-class sizes N_k.
        drawn: share of each pseudo-class among the selected rows.
        selected: number of selected rows.
        agreement: adjusted Rand index with the labelling before; ``None`` for the first.
        ari: adjusted Rand index with the true labels; ``None`` unless they are given for diagnosis.
        nmi: normalised mutual information with the true labels, likewise.
        true_drawn: share of each true class among the selected rows, likewise.
    """

    epoch: int
    alpha: float
    sizes: list[int]
    drawn: list[float]
    selected: int
    agreement: float | None
    ari: float | None
    nmi: float | None
    true_drawn: list[float] | None


def record(
    epoch: int,
    alpha: float,
    labels: Labels,
    rows: Labels,
    n_clusters: int,
    previous: Labels | None = None,
    truth: Labels | None = None,
) -> Labelling:
    """Describe a labelling; ``truth`` (-1 where unknown) is looked at here and nowhere else.

    Example:
        >>> entry = record(0, 1.0, np.array([0, 0, 1]), np.array([0, 2]), n_clusters=2)
        >>> entry["sizes"], entry["drawn"], entry["agreement"]
        ([2, 1], [0.5, 0.5], None)
    """
    ari = nmi = true_drawn = None
    if truth is not None:
        known = truth >= 0
        ari = float(adjusted_rand_score(truth[known], labels[known]))
        nmi = float(normalized_mutual_info_score(truth[known], labels[known]))
        drawn = truth[rows] >= 0
        true_drawn = _shares(truth[rows][drawn], int(truth.max()) + 1)
    return Labelling(
        epoch=epoch,
        alpha=alpha,
        sizes=np.bincount(labels, minlength=n_clusters).tolist(),
        drawn=_shares(labels[rows], n_clusters),
        selected=len(rows),
        agreement=None if previous is None else float(adjusted_rand_score(previous, labels)),
        ari=ari,
        nmi=nmi,
        true_drawn=true_drawn,
    )


def _shares(classes: Labels, n_classes: int) -> list[float]:
    counts = np.bincount(classes, minlength=n_classes)
    total = counts.sum()
    return [float(share) for share in counts / (total if total > 0 else 1)]
