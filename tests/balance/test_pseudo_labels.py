"""Clusterers other than k-means itself: communities, mixture, given labels, matching, and the number of clusters."""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import adjusted_rand_score

from imgcl._core.errors import InputError
from imgcl.balance.clusters import CLUSTERERS, ClusterTask, choose_n_clusters, match
from imgcl.balance.clusters.communities import communities, merge, modularity
from imgcl.data import load_graph, synthetic_graph
from imgcl.graph import Graph


def cliques(sizes: list[int]) -> Graph:
    """Cliques in a ring, joined by single edges."""
    starts = np.cumsum([0, *sizes[:-1]])
    edges = [
        (start + i, start + j) for start, size in zip(starts, sizes, strict=True) for i in range(size) for j in range(i)
    ]
    edges += [(starts[i], starts[i - 1] + 1) for i in range(len(sizes))]
    return Graph.from_edges(np.array(edges).T, x=np.ones((sum(sizes), 1)))


def task(graph: Graph, n_clusters: int, points: np.ndarray | None = None, **more: Any) -> ClusterTask:
    def rows() -> np.ndarray:
        assert points is not None, "nobody should ask for embeddings"
        return points

    return ClusterTask(graph, rows, n_clusters, **more)


def two_blobs(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = np.repeat([0, 1], [300, 60])
    spread = np.where(truth == 0, 3.0, 0.5)[:, None]
    return (generator.normal(size=(360, 4)) * spread + 6.0 * truth[:, None]).astype(np.float32), truth


@pytest.mark.parametrize(("k", "expected"), [(4, [6, 7, 8, 9]), (3, [8, 9, 13])])
def test_communities_are_found_and_merged(k: int, expected: list[int]) -> None:
    labels = communities(task(cliques([9, 8, 7, 6]), k))
    assert sorted(np.bincount(labels)) == expected


def test_communities_are_split_when_there_are_too_few() -> None:
    labels = communities(task(cliques([20, 20]), 6))
    assert len(np.bincount(labels)) == 6
    assert np.bincount(labels).min() >= 1


def test_communities_of_a_graph_without_edges_and_of_many_components() -> None:
    lonely = Graph.from_edges(np.empty((2, 0), dtype=int), x=np.ones((700, 1)))
    assert len(np.bincount(communities(task(lonely, 3)))) == 3
    pairs = Graph.from_edges(np.arange(2000).reshape(2, 1000), x=np.ones((2000, 1)))
    labels = communities(task(pairs, 5))
    assert len(np.bincount(labels)) == 5
    assert np.bincount(labels).min() >= 1


def test_communities_repeat_by_seed_and_leave_the_global_generator_alone() -> None:
    graph = synthetic_graph(class_sizes=[150, 100, 50], mean_degree=6, seed=1)
    random.seed(5)
    expected = random.random()
    random.seed(5)
    first = communities(task(graph, 3, seed=4))
    assert random.random() == expected
    assert np.array_equal(first, communities(task(graph, 3, seed=4)))


def test_merging_takes_the_pair_that_loses_the_least_modularity() -> None:
    graph = cliques([5, 5, 4, 3])
    fine = np.repeat(np.arange(4), [5, 5, 4, 3])
    merged = merge(graph, fine, 3)
    best = max(
        modularity(graph, np.unique(np.where(fine == b, a, fine), return_inverse=True)[1], 3)
        for a in range(4)
        for b in range(a)
    )
    assert modularity(graph, merged, 3) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(4))
def test_merging_many_equals_trying_all_unions_each_time(seed: int) -> None:
    generator = np.random.default_rng(seed)
    graph = Graph.from_edges(generator.integers(60, size=(2, 150)), x=np.ones((60, 1)))
    fine = np.concatenate([np.arange(9), generator.integers(9, size=51)])
    labels = fine
    for left in range(8, 1, -1):
        unions = [
            np.unique(np.where(labels == b, a, labels), return_inverse=True)[1]
            for a in range(left + 1)
            for b in range(a)
        ]
        labels = max(unions, key=lambda union: modularity(graph, union, left))
        assert adjusted_rand_score(labels, merge(graph, fine, left)) == 1.0


def test_igraph_missing_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(InputError, match=r"pip install 'imgcl\[communities\]'"):
        communities(task(cliques([4, 4]), 2))


def test_more_communities_than_nodes_are_refused() -> None:
    with pytest.raises(InputError, match="cannot make 20 communities of 8 nodes"):
        communities(task(cliques([4, 4]), 20))


def test_a_mixture_sees_that_clusters_differ_in_spread() -> None:
    points, truth = two_blobs()
    graph = cliques([360])
    by_mixture = adjusted_rand_score(truth, CLUSTERERS["gmm"](task(graph, 2, points)))
    by_kmeans = adjusted_rand_score(truth, CLUSTERERS["kmeans"](task(graph, 2, points)))
    assert by_mixture > 0.95
    assert by_mixture > by_kmeans


def test_a_mixture_repeats_by_seed_and_takes_sparse_points() -> None:
    points, _ = two_blobs()
    graph = cliques([360])
    first = CLUSTERERS["gmm"](task(graph, 3, points, seed=9))
    assert np.array_equal(first, CLUSTERERS["gmm"](task(graph, 3, points, seed=9)))
    assert np.array_equal(first, CLUSTERERS["gmm"](task(graph, 3, sp.csr_array(points), seed=9)))


def test_constrained_clusters_keep_the_minimum_and_plain_ones_need_not() -> None:
    points, _ = two_blobs()
    graph = cliques([360])
    assert np.bincount(CLUSTERERS["constrained"](task(graph, 2, points, min_size=150))).min() == 150
    assert np.bincount(CLUSTERERS["kmeans"](task(graph, 2, points, min_size=150))).min() < 150


def test_a_mixture_of_rows_that_hardly_differ() -> None:
    """The embedding of a complete graph: every row is the same but for rounding."""
    graph, generator = Graph.from_edges([[0], [1]], np.ones((60, 1))), np.random.default_rng(0)
    row = generator.normal(size=8).astype(np.float32)
    rows = row * (1 + generator.integers(-2, 3, size=(60, 8)) * np.float32(6e-8))
    assert set(CLUSTERERS["gmm"](task(graph, 3, rows))) <= {0, 1, 2}
    assert set(CLUSTERERS["gmm"](task(graph, 3, np.tile(row, (60, 1))))) <= {0, 1, 2}


@pytest.mark.parametrize("name", ["constrained", "kmeans", "gmm"])
def test_clusters_begin_where_the_previous_labelling_stopped(name: str) -> None:
    # groups at the corners of a square: two clusters may be the left and the right pair, or the upper and the lower
    generator = np.random.default_rng(0)
    corner = np.repeat(np.arange(4), 50)
    points = np.stack([corner % 2, corner // 2], axis=1) * 10 + generator.normal(size=(200, 2))
    for previous in (corner % 2, corner // 2):
        labels = CLUSTERERS[name](task(cliques([200]), 2, points.astype(np.float32), previous=previous))
        assert np.array_equal(labels, previous)


def test_given_labels_are_passed_on_or_asked_for() -> None:
    labels = np.array([0, 1, 1, 0, 2, 2])
    assert CLUSTERERS["given"](task(cliques([6]), 3, given=labels)) is labels
    with pytest.raises(InputError, match="clusters='given' needs labels"):
        CLUSTERERS["given"](task(cliques([6]), 3))


def test_matching_keeps_the_names_of_renumbered_clusters() -> None:
    generator = np.random.default_rng(0)
    before = generator.integers(5, size=200)
    after = generator.permutation(5)[before]
    changed = generator.choice(200, 20, replace=False)
    after[changed] = (after[changed] + 1) % 5
    matched = match(after, before, 5)
    assert (matched == before).sum() == 180
    assert adjusted_rand_score(after, matched) == 1.0


def test_modularity_equals_networkx(small_graph: Graph) -> None:
    import networkx as nx

    assert small_graph.y is not None
    network = nx.from_scipy_sparse_array(small_graph.adjacency)
    classes = [set(np.flatnonzero(small_graph.y == k)) for k in range(3)]
    assert modularity(small_graph, small_graph.y, 3) == pytest.approx(nx.community.modularity(network, classes))


@pytest.mark.parametrize("k", [3, 5])
def test_auto_finds_the_clusters_of_a_block_model(k: int) -> None:
    sizes = np.linspace(250, 100, k).astype(int)
    graph = synthetic_graph(class_sizes=sizes.tolist(), mean_degree=12, homophily=0.85, n_features=16, seed=k)
    assert graph.y is not None
    points = np.random.default_rng(0).normal(size=(graph.n_nodes, 8)) + 5 * np.eye(8)[graph.y]
    assert choose_n_clusters(points.astype(np.float32), graph) == k


@pytest.mark.parametrize("k", [3, 5])
def test_auto_on_a_large_graph_asks_some_edges(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imgcl.balance.clusters.choose.LARGE", 1000)
    monkeypatch.setattr("imgcl.balance.clusters.choose.JUDGES", 1500)
    rated: list[int] = []
    monkeypatch.setattr(
        "imgcl.balance.clusters.choose.modularity",
        lambda graph, *args: rated.append(graph.n_edges) or modularity(graph, *args),
    )
    graph = synthetic_graph(class_sizes=[800] * k, mean_degree=12, homophily=0.85, n_features=16, seed=k)
    assert graph.y is not None
    points = np.random.default_rng(0).normal(size=(graph.n_nodes, 8)) + 5 * np.eye(8)[graph.y]
    assert choose_n_clusters(points.astype(np.float32), graph) == k
    assert set(rated) <= set(range(1400, 1501))  # some are drawn twice


def smoothed_features(graph: Graph) -> np.ndarray:
    """Features averaged over the neighbourhood twice, 64 leading directions: what an untrained encoder sees."""
    normalised = sp.diags_array(1 / np.sqrt(graph.degree + 1.0))
    smooth = normalised @ (graph.adjacency + sp.eye_array(graph.n_nodes)) @ normalised
    features = smooth @ (smooth @ sp.csr_array(graph.x))
    return np.asarray(TruncatedSVD(min(64, graph.n_features - 1), random_state=0).fit_transform(features))


def test_auto_on_the_digits_is_near_ten() -> None:
    graph = load_graph("digits")
    points = smoothed_features(graph)
    found = choose_n_clusters(points, graph)
    assert abs(found - 10) <= 2
    assert found == choose_n_clusters(points, graph)


@pytest.mark.realdata
@pytest.mark.slow
@pytest.mark.parametrize("name", ["cora", "amazon-photo", "amazon-computers"])
def test_auto_on_real_graphs_is_off_by_three_at_most(name: str) -> None:
    graph = load_graph(name)
    assert abs(choose_n_clusters(smoothed_features(graph), graph) - graph.n_classes) <= 3


def test_auto_needs_edges() -> None:
    lonely = Graph.from_edges(np.empty((2, 0), dtype=int), x=np.ones((9, 1)))
    with pytest.raises(InputError, match="judges by edges, and this graph has none"):
        choose_n_clusters(np.eye(9), lonely)
