"""Sampled neighbours: distinct, real, uniform, and the same wherever they are asked for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from imgcl._core.errors import InputError
from imgcl.data import synthetic_graph
from imgcl.graph import Graph
from imgcl.training.sampling import NeighbourSampler
from imgcl.training.sampling.permutation import permuted


def star(leaves):
    return Graph.from_edges([[0] * leaves, list(range(1, leaves + 1))], x=np.ones((leaves + 1, 1)))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**62), fanout=st.lists(st.integers(1, 6), min_size=1, max_size=3), n=st.integers(1, 12))
def test_lists_are_distinct_neighbours(seed, fanout, n):
    graph = synthetic_graph(n_nodes=80, mean_degree=7, n_features=1, seed=1)
    anchors = np.random.default_rng(seed).choice(80, n, replace=False)
    found = NeighbourSampler(graph).sample(anchors, fanout, seed)
    assert found.nodes[:n].tolist() == anchors.tolist()
    assert len(np.unique(found.nodes)) == len(found.nodes) == found.reach[-1] == len(found.indptr) - 1
    neighbours = [set(graph.indices[graph.indptr[v] : graph.indptr[v + 1]]) for v in range(80)]
    hop_of = np.searchsorted(found.reach, np.arange(len(found.nodes)), side="right")
    for i, node in enumerate(found.nodes):
        listed = found.nodes[found.indices[found.indptr[i] : found.indptr[i + 1]]].tolist()
        assert len(set(listed)) == len(listed)
        assert set(listed) <= neighbours[node]
        expected = min(fanout[hop_of[i]], len(neighbours[node])) if hop_of[i] < len(fanout) else 0
        assert len(listed) == expected
        # a node's neighbours are at most one step further than itself
        assert (hop_of[found.indices[found.indptr[i] : found.indptr[i + 1]]] <= hop_of[i] + 1).all()


@pytest.mark.parametrize(("leaves", "k"), [(7, 3), (30, 10), (2, 1)])
def test_every_neighbour_is_as_likely_as_any_other(leaves, k):
    """Chi-square of single neighbours and of pairs; a fixed range of seeds makes the test one fact, not a lottery."""
    sampler, draws = NeighbourSampler(star(leaves)), 4000
    single, pairs = np.zeros(leaves), np.zeros((leaves, leaves))
    for seed in range(draws):
        chosen = np.zeros(leaves)
        chosen[sampler.sample(np.array([0]), [k], seed).nodes[1:] - 1] = 1
        single += chosen
        pairs += np.outer(chosen, chosen)
    assert single.sum() == draws * k
    # counts of a sample without replacement vary less than independent ones, by the factor (leaves - k)/(leaves - 1)
    statistic = ((single - draws * k / leaves) ** 2).sum() / (draws * k / leaves) / ((leaves - k) / (leaves - 1))
    assert 0.001 < stats.chi2.sf(statistic, leaves - 1) < 0.999
    if k > 1:
        together = pairs[np.triu_indices(leaves, 1)]
        expected = draws * k * (k - 1) / (leaves * (leaves - 1))
        assert abs(together - expected).max() < 5 * np.sqrt(expected)


def test_a_node_has_the_same_sample_from_everywhere():
    graph = synthetic_graph(n_nodes=200, mean_degree=20, n_features=1, seed=0)
    sampler = NeighbourSampler(graph)
    lists = []
    for anchors in ([3, 5, 9], [9, 4]):
        found = sampler.sample(np.array(anchors), [5, 4], seed=11)
        at = found.nodes.tolist().index(9)
        lists.append(set(found.nodes[found.indices[found.indptr[at] : found.indptr[at + 1]]]))
    assert lists[0] == lists[1]
    other = sampler.sample(np.array([9]), [5], seed=12)
    assert set(other.nodes[1:]) != lists[0]


def test_the_sampler_forgets_what_it_did():
    graph = synthetic_graph(n_nodes=80, mean_degree=6, n_features=1)
    sampler = NeighbourSampler(graph)
    first = sampler.sample(np.arange(5), [3, 3], seed=1)
    sampler.sample(np.arange(20, 30), [3, 3], seed=2)
    again = sampler.sample(np.arange(5), [3, 3], seed=1)
    assert first.nodes.tolist() == again.nodes.tolist()
    assert first.indices.tolist() == again.indices.tolist()


def test_isolated_anchors_and_bad_fanouts():
    graph = Graph.from_edges([[0], [1]], x=np.ones((3, 1)))
    found = NeighbourSampler(graph).sample(np.array([2]), [3, 3], seed=0)
    assert (found.nodes.tolist(), found.indptr.tolist(), found.reach) == ([2], [0, 0], (1, 1, 1))
    for fanout in ([], [0], [3, -1]):
        with pytest.raises(InputError, match="fanout"):
            NeighbourSampler(graph).sample(np.array([0]), fanout, seed=0)


@given(n=st.integers(1, 700), seed=st.integers(0, 2**62))
@settings(max_examples=40, deadline=None)
def test_the_permutation_is_one(n, seed):
    assert sorted(permuted(np.arange(n), n, seed).tolist()) == list(range(n))


def test_the_permutation_is_random():
    n, draws = 12, 3000
    counts = np.zeros((n, n))
    for seed in range(draws):
        counts[np.arange(n), permuted(np.arange(n), n, seed)] += 1
    assert stats.chisquare(counts, axis=None).pvalue > 1e-3
    assert abs(counts - draws / n).max() < 5 * np.sqrt(draws / n)
