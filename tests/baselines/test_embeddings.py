import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA

from imgcl._core.errors import InputError
from imgcl.baselines import (
    deepwalk,
    deepwalk_features,
    node2vec,
    principal_components,
    propagated_features,
    raw_features,
)
from imgcl.graph import Graph


def test_raw_features_of_sparse_and_dense_graphs(small_graph: Graph) -> None:
    dense = np.asarray(small_graph.x.toarray() if sp.issparse(small_graph.x) else small_graph.x)
    edges = np.stack([np.repeat(np.arange(small_graph.n_nodes), small_graph.degree), small_graph.indices])
    for x in (dense, sp.csr_array(dense)):
        assert np.array_equal(raw_features(Graph.from_edges(edges, x)), dense)


def test_propagation_by_hand() -> None:
    """A path 0-1-2 with one feature: S has 1/sqrt(d_i d_j) with d = 2, 3, 2 (loops counted)."""
    x = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    graph = Graph.from_edges([[0, 1], [1, 2]], x)
    s = np.array([[1 / 2, 6**-0.5, 0], [6**-0.5, 1 / 3, 6**-0.5], [0, 6**-0.5, 1 / 2]])
    for steps in (0, 1, 3):
        smoothed = np.linalg.matrix_power(s, steps) @ x
        centred = smoothed - smoothed.mean(axis=0)
        made = propagated_features(graph, dim=2, steps=steps)
        assert made @ made.T == pytest.approx(centred @ centred.T, abs=1e-5)  # equal up to a rotation
    with pytest.raises(InputError, match="steps is -1"):
        propagated_features(graph, steps=-1)


def test_principal_components_equal_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((80, 30)) * np.geomspace(5, 0.1, 30)).astype(np.float32)
    ours, theirs = principal_components(x, 6), PCA(6, svd_solver="full").fit_transform(x)
    assert np.abs(ours) == pytest.approx(np.abs(theirs), abs=2e-2)
    assert np.array_equal(ours, principal_components(x, 6))
    assert principal_components(x[:4], 6).shape == (4, 4)


def test_deepwalk_is_node2vec_with_p_and_q_one(small_graph: Graph) -> None:
    options = {"dim": 8, "seed": 3, "walks_per_node": 2, "length": 10, "window": 3, "negatives": 2, "epochs": 1}
    plain = deepwalk(small_graph, **options)
    assert np.array_equal(plain, node2vec(small_graph, p=1.0, q=1.0, **options))
    assert not np.array_equal(plain, node2vec(small_graph, p=0.25, q=4.0, **options))
    both = deepwalk_features(small_graph, **options)
    assert both.shape == (small_graph.n_nodes, 8 + small_graph.n_features)
    assert np.linalg.norm(both[:, :8], axis=1) == pytest.approx(1.0, abs=1e-5)
