"""The embedded digits graph."""

from __future__ import annotations

import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl.data import digits_graph, load_graph
from imgcl.data.digits import _nearest
from imgcl.graph.checks import Cleaning


def test_digits_is_the_graph_it_was() -> None:
    graph = load_graph("digits")
    assert (graph.n_nodes, graph.n_edges, graph.n_features, graph.n_classes) == (1797, 12339, 64, 10)
    assert graph.class_names == tuple("0123456789")
    assert graph.degree.min() >= 10
    assert graph.x.max() == 1.0
    assert graph.cleaning == Cleaning()
    assert graph.fingerprint == "60160b3236b3c9ec070470da966e30e2"


def test_neighbours_are_the_nearest_ties_by_number() -> None:
    points = np.array([[0.0], [1.0], [2.0], [10.0]])
    edges = _nearest(points, 1)
    np.testing.assert_array_equal(edges, [[0, 1, 2, 3], [1, 0, 1, 2]])  # 1 is as near to 0 as to 2: 0 wins


def test_number_of_neighbours() -> None:
    assert digits_graph(neighbours=3).degree.min() >= 3
    with pytest.raises(InputError, match="neighbours is 0"):
        digits_graph(neighbours=0)
