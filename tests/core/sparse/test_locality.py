"""The order that brings neighbours together."""

import numpy as np
import scipy.sparse as sp

from imgcl._core.sparse.order import WORTHWHILE, locality_order


def test_a_shuffled_path_is_put_in_line() -> None:
    n = WORTHWHILE
    names = np.random.default_rng(0).permutation(n)
    ends = np.stack([names[:-1], names[1:]])
    both = np.concatenate([ends, ends[::-1]], axis=1)
    adjacency = sp.csr_array((np.ones(both.shape[1]), (both[0], both[1])), shape=(n, n))
    order = locality_order(adjacency)
    assert order is not None
    assert sorted(order.tolist()) == list(range(n))
    place = np.argsort(order)
    assert np.abs(place[ends[0]] - place[ends[1]]).max() == 1


def test_a_small_graph_keeps_its_order() -> None:
    assert locality_order(sp.csr_array((WORTHWHILE - 1, WORTHWHILE - 1))) is None
