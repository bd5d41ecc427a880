import numpy as np
import pytest
import torch

from imgcl.balance.strength import curriculum, tail_aware
from imgcl.data import load_graph
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.views import AdaptiveEdgeRemoving, EdgeRemoving
from imgcl.views.base import edge_probabilities

LABELS = np.repeat([0, 1, 2], [80, 20, 4])


def test_edges_of_small_classes_are_spared_in_proportion() -> None:
    assert np.unique(tail_aware(LABELS)).tolist() == pytest.approx([0.05, 0.25, 1.0])


@pytest.mark.parametrize(("progress", "expected"), [(0.0, [0.05, 0.25, 1]), (0.5, [0.525, 0.625, 1]), (1.0, [1])])
def test_the_curriculum_ends_with_everybody_alike(progress: float, expected: list[float]) -> None:
    assert np.unique(curriculum(LABELS, progress)).tolist() == pytest.approx(expected)


def block(strength: list[float] | None) -> Block:
    found = Block.from_graph(Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3)))
    return Block(found.adjacency, found.features, strength=None if strength is None else torch.tensor(strength))


def test_an_edge_has_the_weaker_of_its_ends() -> None:
    found = edge_probabilities(block([1.0, 0.5, 0.1]), 0.4)
    assert isinstance(found, torch.Tensor)
    assert found.tolist() == pytest.approx([0.2, 0.2, 0.04, 0.04])  # entries 0-1, 1-0, 1-2, 2-1
    assert edge_probabilities(block(None), 0.4) == 0.4


@pytest.mark.parametrize("view", [EdgeRemoving(0.9), AdaptiveEdgeRemoving(0.9, cutoff=0.9)])
def test_views_heed_the_strength(view) -> None:
    graph = load_graph("synthetic", class_sizes=[200, 200], mean_degree=10, homophily=1.0, seed=1)
    assert graph.y is not None
    whole = Block.from_graph(graph)
    spared = Block(whole.adjacency, whole.features, strength=torch.from_numpy((graph.y == 0).astype(np.float32)))
    kept = view(spared, torch.Generator().manual_seed(0)).adjacency.row_sums
    before = whole.adjacency.row_sums
    second = torch.from_numpy(graph.y == 1)
    assert torch.equal(kept[second], before[second])
    assert kept[~second].sum() < 0.6 * before[~second].sum()
