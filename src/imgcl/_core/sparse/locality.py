"""An order of the nodes in which neighbours stand near each other, so that a product finds their rows in the cache."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee

WORTHWHILE = 4096  # nodes; the hidden rows of a smaller graph fit into the cache in any order


def locality_order(adjacency: sp.csr_array) -> NDArray[np.int64] | None:
    """Reverse Cuthill-McKee order of a symmetric adjacency; ``None`` when the graph is too small to gain from it.

    Args:
        adjacency: symmetric.

    Example:
        >>> locality_order(sp.csr_array((3, 3))) is None
        True
    """
    if adjacency.shape[0] < WORTHWHILE:
        return None
    return reverse_cuthill_mckee(sp.csr_matrix(adjacency), symmetric_mode=True).astype(np.int64)
