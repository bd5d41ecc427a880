"""Features from edges alone: by seed, the same for any number of threads, and near for nodes that are near."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from imgcl._core.errors import GraphError, InputError
from imgcl.data import synthetic_graph
from imgcl.graph import Graph
from imgcl.graph.structure import is_structural, structural_features, with_structure
from imgcl.graph.structure.features import check_memory_of_structure


@pytest.fixture
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def communities() -> Graph:
    return synthetic_graph(class_sizes=[60, 60], homophily=0.95, mean_degree=8, seed=0)


def test_the_seed_decides_and_the_number_of_threads_does_not(communities: Graph, threads: None) -> None:
    found = []
    for count in (1, 3):
        torch.set_num_threads(count)
        found.append(structural_features(communities, dim=8, seed=1))
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], structural_features(communities, dim=8, seed=2))


def test_nodes_of_a_community_are_alike(communities: Graph) -> None:
    z = structural_features(communities, dim=16)[:, :-1]
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    assert communities.y is not None
    same = communities.y[:, None] == communities.y
    cosine = z @ z.T
    assert cosine[same].mean() > cosine[~same].mean() + 0.2


def test_walks_have_unit_size_and_degrees_are_standardised(communities: Graph) -> None:
    x = structural_features(communities, dim=8)
    assert x.dtype == np.float32
    assert np.mean(x[:, :-1] ** 2) == pytest.approx(1, rel=1e-4)
    logs = np.log1p(communities.degree)
    np.testing.assert_allclose(x[:, -1], (logs - logs.mean()) / logs.std(), rtol=1e-4, atol=1e-5)


def test_equal_degrees_and_isolated_nodes() -> None:
    ring = Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]], n_nodes=4)
    assert (structural_features(ring, dim=2)[:, -1] == 0).all()
    alone = Graph.from_edges([[0], [1]], n_nodes=3)
    assert np.isfinite(structural_features(alone, dim=2)).all()


def test_own_features_do_not_matter_and_everything_else_is_kept(communities: Graph) -> None:
    made = with_structure(communities, dim=4)
    bare = with_structure(replace(communities, x=np.zeros((120, 0), np.float32)), dim=4)
    assert made.fingerprint == bare.fingerprint != communities.fingerprint
    assert made.y is not None
    assert (made.n_features, made.name, made.y.tolist()) == (5, communities.name, communities.y.tolist())  # type: ignore[union-attr]
    assert is_structural(made.feature_names)
    assert not is_structural(communities.feature_names)


def test_what_cannot_be_done() -> None:
    with pytest.raises(GraphError, match="neither features nor edges"):
        structural_features(Graph.from_edges(np.zeros((2, 0), dtype=np.int64), n_nodes=3))
    with pytest.raises(InputError, match="dim is 0"):
        structural_features(Graph.from_edges([[0], [1]]), dim=0)
    with pytest.raises(
        InputError, match=r"for 50,000,000 nodes needs at least 208 GB of memory, there are 16: give the"
    ):
        check_memory_of_structure(50_000_000, available=16 * 10**9)
