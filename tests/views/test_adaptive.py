"""GCA's adaptive views against its formulas, by hand."""

import math

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch

from imgcl._core.errors import InputError
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.views import AdaptiveEdgeRemoving, AdaptiveFeatureMasking
from imgcl.views.centrality import centrality_scores

# A triangle 0-1-2 with a tail 2-3: degrees 2, 2, 3, 1.
EDGES = [[0, 0, 1, 2], [1, 2, 2, 3]]
X = np.array([[1, 0, 0], [0, -2, 0], [0, 1, 0], [1, 0, 0]])


def block_of(x: object = X) -> Block:
    return Block.from_graph(Graph.from_edges(EDGES, x=x))


def test_probabilities_of_edges_by_hand() -> None:
    # mean degree of the ends: 0-1 2, 0-2 and 1-2 5/2, 2-3 2
    low, high = math.log(2), math.log(2.5)
    factor = (high - low) / (high - (low + high) / 2)  # 2
    view = AdaptiveEdgeRemoving(0.2, "degree")
    block = block_of()
    probabilities = dict(
        zip(
            zip(block.adjacency.row_index.tolist(), block.adjacency.indices.tolist(), strict=True),
            view.probabilities(block).tolist(),
            strict=True,
        )
    )
    for (i, j), p in probabilities.items():
        assert p == probabilities[j, i]
        assert p == pytest.approx(0.2 * factor if {i, j} in ({0, 1}, {2, 3}) else 0.0, abs=1e-6)


def test_the_cutoff_bounds_the_probability() -> None:
    assert AdaptiveEdgeRemoving(0.5, cutoff=0.7).probabilities(block_of()).max().item() == pytest.approx(0.7)


@pytest.mark.parametrize("x", [X, sp.csr_array(X.astype(float))], ids=["dense", "sparse"])
def test_probabilities_of_features_by_hand(x: object) -> None:
    # |x| times degree, summed: 2 + 1 = 3, 2 * 2 + 3 = 7; the last column is never used
    s = [math.log(3), math.log(7)]
    factor = (s[1] - s[0]) / (s[1] - sum(s) / 2)  # 2
    given = AdaptiveFeatureMasking(0.2, cutoff=0.6).probabilities(block_of(x))
    assert given.tolist() == pytest.approx([0.2 * factor, 0.0, 0.6], abs=1e-6)


@pytest.mark.parametrize("scores", ["degree", "pagerank", "eigenvector"])
def test_the_mean_probability_is_p_before_the_cut(scores: str) -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 60, size=(2, 150)), x=rng.random((60, 20)))
    block = Block.from_graph(graph)
    for view in (AdaptiveEdgeRemoving(0.1, scores, 1.0), AdaptiveFeatureMasking(0.1, scores, 1.0)):
        assert view.probabilities(block).mean().item() == pytest.approx(0.1, abs=1e-5)


def test_centralities_against_networkx() -> None:
    rng = np.random.default_rng(1)
    graph = Graph.from_edges(rng.integers(0, 30, size=(2, 70)), x=np.eye(30))
    reference, adjacency = nx.from_scipy_sparse_array(graph.adjacency), Block.from_graph(graph).adjacency
    pagerank = centrality_scores(adjacency, "pagerank").numpy()
    theirs = np.array(list(nx.pagerank(reference, tol=1e-12, max_iter=1000).values()))
    assert np.allclose(pagerank / pagerank.sum(), theirs, atol=1e-6)
    eigenvector = np.array(list(nx.eigenvector_centrality_numpy(reference).values()))
    assert np.allclose(centrality_scores(adjacency, "eigenvector").numpy(), np.abs(eigenvector), atol=1e-5)


def test_eigenvector_of_a_bipartite_graph_converges() -> None:
    star = Block.from_graph(Graph.from_edges([[0, 0, 0, 0], [1, 2, 3, 4]], x=np.eye(5)))
    expected = [2**-0.5] + [8**-0.5] * 4
    assert centrality_scores(star.adjacency, "eigenvector").tolist() == pytest.approx(expected, abs=1e-6)


def test_equal_importance_gives_p_everywhere() -> None:
    ring = Block.from_graph(Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]], x=np.eye(4)))
    assert AdaptiveEdgeRemoving(0.3).probabilities(ring).tolist() == pytest.approx([0.3] * 8)
    assert AdaptiveFeatureMasking(0.3).probabilities(ring).tolist() == pytest.approx([0.3] * 4)


def test_dropping_follows_the_probabilities() -> None:
    block, view, generator = block_of(), AdaptiveEdgeRemoving(0.25, cutoff=1.0), torch.Generator().manual_seed(0)
    kept = sum(view(block, generator).adjacency.to_scipy().toarray() for _ in range(1000))
    assert kept[0, 2] == kept[1, 2] == 1000  # the most important edges are never dropped
    assert abs(kept[0, 1] - 500) < 70  # p = 2 * 0.25; standard deviation 16
    masked = sum(AdaptiveFeatureMasking(0.25, cutoff=0.9)(block, generator).column_mask for _ in range(1000))
    assert masked[1] == 1000
    assert abs(masked[0] - 500) < 70
    assert abs(masked[2] - 100) < 45


def test_weights_are_computed_once_for_a_block_and_follow_its_features(monkeypatch: pytest.MonkeyPatch) -> None:
    block, other = block_of(), block_of(X[:, ::-1].copy())
    view, edges = AdaptiveFeatureMasking(0.2), AdaptiveEdgeRemoving(0.2)
    first, first_edges = view.probabilities(block), edges.probabilities(block)
    moved = Block(block.adjacency, other.features)
    assert view.probabilities(moved).tolist() == pytest.approx(first.flip(0).tolist())
    monkeypatch.setattr("imgcl.views.adaptive._feature_factors", None)  # would fail if it were called again
    monkeypatch.setattr("imgcl.views.adaptive._edge_factors", None)
    assert torch.equal(view.probabilities(block), first)
    assert torch.equal(AdaptiveEdgeRemoving(0.1).probabilities(block), first_edges / 2)


def test_unknown_scores() -> None:
    with pytest.raises(InputError, match="unknown scores 'katz': choose from degree, pagerank, eigenvector"):
        AdaptiveEdgeRemoving(0.3, "katz")
    with pytest.raises(InputError, match=r"cutoff = 1\.5"):
        AdaptiveFeatureMasking(0.3, cutoff=1.5)
