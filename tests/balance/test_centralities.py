from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl.balance.centrality import (
    CENTRALITIES,
    betweenness,
    centrality,
    core,
    degree,
    eigenvector,
    katz,
    none,
    pagerank,
)
from imgcl.data.store import open_store, write_store
from imgcl.graph import Graph


@pytest.fixture(scope="module")
def network() -> nx.Graph:
    """Hubs, two isolated nodes and a component of its own."""
    network = nx.barabasi_albert_graph(300, 3, seed=1)
    network.add_nodes_from([300, 301])
    network.add_edge(302, 303)
    return network


@pytest.fixture(scope="module")
def graph(network: nx.Graph) -> Graph:
    return Graph.from_networkx(network, x=np.ones((len(network), 1)))


def in_order(scores: dict[int, float]) -> np.ndarray:
    return np.array([scores[node] for node in range(len(scores))])


@pytest.mark.parametrize("damping", [0.5, 0.85, 0.95])
def test_pagerank_equals_networkx(network: nx.Graph, graph: Graph, damping: float) -> None:
    ours = pagerank(graph, damping=damping)
    theirs = in_order(nx.pagerank(network, alpha=damping, tol=1e-13, max_iter=10_000))
    assert ours / ours.sum() == pytest.approx(theirs, abs=1e-8)


def test_pagerank_of_a_mapped_graph(graph: Graph, tmp_path: Path) -> None:
    exact = pagerank(graph)
    assert np.array_equal(pagerank(open_store(write_store(graph, tmp_path / "g.store"))), exact)


def test_pagerank_is_the_fixed_point_of_its_equation(graph: Graph) -> None:
    sigma = pagerank(graph)
    passed_on = sigma / np.maximum(graph.degree, 1)
    assert 0.85 * (graph.adjacency @ passed_on) + 1 == pytest.approx(sigma, rel=1e-8)
    assert sigma[[300, 301]].tolist() == [1.0, 1.0]  # isolated nodes


def test_pagerank_by_hand() -> None:
    star = Graph.from_edges([[0, 0, 0], [1, 2, 3]], x=np.eye(4))
    # s = 1 + 0.5 * 3 l, l = 1 + 0.5 * s / 3
    assert pagerank(star, damping=0.5) == pytest.approx([10 / 3, 14 / 9, 14 / 9, 14 / 9], abs=1e-8)


def test_degree_and_none(network: nx.Graph, graph: Graph) -> None:
    assert degree(graph).tolist() == [float(network.degree[node]) for node in range(len(network))]
    assert none(graph).tolist() == [1.0] * 304


def test_core_numbers_equal_networkx(network: nx.Graph, graph: Graph) -> None:
    assert core(graph).tolist() == in_order(nx.core_number(network)).tolist()
    dense = nx.gnp_random_graph(150, 0.2, seed=4)
    other = Graph.from_networkx(dense, x=np.ones((150, 1)))
    assert core(other).tolist() == in_order(nx.core_number(dense)).tolist()


def test_eigenvector_equals_networkx_on_the_leading_component(network: nx.Graph, graph: Graph) -> None:
    theirs = in_order(nx.eigenvector_centrality(network.subgraph(range(300)), tol=1e-12, max_iter=10_000))
    assert eigenvector(graph)[:300] == pytest.approx(theirs, abs=1e-7)
    assert eigenvector(graph)[300:] == pytest.approx(0.0, abs=1e-7)


def test_katz_solves_its_equation(network: nx.Graph, graph: Graph) -> None:
    adjacency = nx.to_numpy_array(network)
    attenuation = 0.85 / np.linalg.eigvalsh(adjacency).max()
    expected = np.linalg.solve(np.eye(304) - attenuation * adjacency, np.ones(304))
    assert katz(graph) == pytest.approx(expected, rel=1e-7)


def test_betweenness_from_all_sources_is_exact(network: nx.Graph, graph: Graph) -> None:
    exact = in_order(nx.betweenness_centrality(network, normalized=False))
    assert betweenness(graph, sources=304) == pytest.approx(exact, abs=1e-8)


def test_sampled_betweenness_is_near_and_repeatable(graph: Graph) -> None:
    exact = betweenness(graph, sources=304)
    sampled = betweenness(graph, sources=150, seed=7)
    assert np.corrcoef(exact, sampled)[0, 1] > 0.97
    assert np.array_equal(sampled, betweenness(graph, sources=150, seed=7))
    assert not np.array_equal(sampled, betweenness(graph, sources=150, seed=8))


@pytest.mark.parametrize("name", sorted(CENTRALITIES))
def test_permuting_the_nodes_permutes_the_scores(graph: Graph, name: str) -> None:
    order = np.random.default_rng(0).permutation(graph.n_nodes)
    permuted = graph.subgraph(order)
    if name == "betweenness":  # its sources are drawn by node number: compare the exact scores
        assert betweenness(permuted, sources=304) == pytest.approx(betweenness(graph, sources=304)[order])
    else:
        assert centrality(permuted, name) == pytest.approx(centrality(graph, name)[order], rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", sorted(CENTRALITIES))
def test_graphs_without_edges_and_with_one_node_have_scores(name: str) -> None:
    for n in (1, 3, 100):
        lonely = Graph.from_edges(np.empty((2, 0), dtype=int), x=np.ones((n, 1)))
        scores = centrality(lonely, name)
        assert scores.shape == (n,)
        assert np.ptp(scores) == pytest.approx(0.0)


def test_the_users_own_scores_are_checked(graph: Graph) -> None:
    scores = np.linspace(0, 1, 304)
    assert np.array_equal(centrality(graph, scores), scores)
    with pytest.raises(InputError, match=r"has shape \(3,\), expected \(304,\)"):
        centrality(graph, [1.0, 2.0, 3.0])
    scores[17] = np.inf
    with pytest.raises(InputError, match="is inf at node 17"):
        centrality(graph, scores)
    with pytest.raises(InputError, match="one number per node"):
        centrality(graph, ["a"] * 304)
    with pytest.raises(InputError, match="unknown centrality 'closeness': choose from betweenness, core"):
        centrality(graph, "closeness")
