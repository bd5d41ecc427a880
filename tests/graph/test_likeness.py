"""How alike linked nodes are, against values computed by hand and against the whole graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from imgcl.data import synthetic_graph
from imgcl.graph import Graph, Likeness, likeness, linked_likeness


def test_labels_by_hand() -> None:
    """Edges 0-1, 1-2, 2-3 and 3-4, of which node 4 has no label: one of three joins equals; ends are 0 0 0 1 1 1."""
    graph = Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 4]], y=[0, 0, 1, 0, -1])
    found = linked_likeness(graph)
    assert found.same_label == pytest.approx(1 / 3)
    assert found.chance == pytest.approx((4 / 6) ** 2 + (2 / 6) ** 2)
    assert found.label_excess == pytest.approx((1 / 3 - 20 / 36) / (1 - 20 / 36))
    assert found.linked_cosine is None


def test_sparse_features_by_hand() -> None:
    x = sp.csr_array(np.array([[1.0, 0, 0], [1, 1, 0], [0, 0, 2], [0, 0, 0]]))
    found = linked_likeness(Graph.from_edges([[0, 2, 0], [1, 1, 3]], x=x))
    assert found.linked_cosine == pytest.approx((1 / np.sqrt(2) + 0 + 0) / 3)
    cosine = np.zeros((4, 4))
    cosine[0, 1] = cosine[1, 0] = 1 / np.sqrt(2)
    assert found.random_cosine == pytest.approx(cosine.sum() / 12, abs=0.01)
    assert found.same_label is None


def test_dense_features_are_standardised() -> None:
    """A large common part would make all nodes look alike."""
    graph = synthetic_graph(class_sizes=[200, 200], homophily=0.9, seed=0)
    found = linked_likeness(replace(graph, x=np.eye(2, dtype=np.float32)[graph.y] + 100))
    assert found.linked_cosine == pytest.approx(0.9 - 0.1, abs=0.02)
    assert found.random_cosine == pytest.approx(0, abs=0.03)


def test_a_sample_is_drawn_by_the_seed_and_near_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = synthetic_graph(class_sizes=[400, 200], homophily=0.8, mean_degree=20, seed=0)
    whole = linked_likeness(graph)
    monkeypatch.setattr(likeness, "LABEL_PAIRS", 2000)
    monkeypatch.setattr(likeness, "FEATURE_PAIRS", 2000)
    samples = [linked_likeness(graph, seed) for seed in (0, 0, 1)]
    assert samples[0] == samples[1] != samples[2]
    for name in ("linked_cosine", "random_cosine", "same_label", "chance"):
        assert getattr(samples[0], name) == pytest.approx(getattr(whole, name), abs=0.04)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Likeness(0.2, 0.0, 0.83, 0.2), "much alike: averaging neighbours helps"),
        (Likeness(0.2, 0.0, 0.8, 0.7), "only somewhat more often than by chance: averaging neighbours may hide"),
        (Likeness(0.2, 0.0, 0.81, 0.8), "hardly more often than by chance: averaging neighbours may hide"),
        (Likeness(None, None, 0.5, 0.5), "neighbours say little, features of the nodes would help"),
        (Likeness(0.2, 0.0), "labels would tell"),
        (Likeness(0.01, 0.0), "as different as random ones: averaging neighbours may hide"),
        (Likeness(), "no features and no labels"),
        (Likeness(0.2, 0.0, 1.0, 0.5, 3), "edges with a label at both ends: 3, too few to tell"),
        (Likeness(0.2, 0.0, 1.0, 0.5, 20), "much alike"),
        (Likeness(same_label=1.0, chance=1.0), "hardly more often than by chance"),
    ],
)
def test_what_it_means(found: Likeness, words: str) -> None:
    assert words in found.meaning
    assert found.facts()["meaning"] == found.meaning


def test_features_made_from_edges_are_not_compared() -> None:
    names = [f"structure/walk-{i}" for i in range(2)]
    graph = Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3)[:, :2], feature_names=names)
    assert linked_likeness(graph) == Likeness()


def test_nothing_to_compare() -> None:
    none = np.zeros((2, 0), dtype=np.int64)
    alone = Graph.from_edges(none, x=np.ones((1, 2)), y=[0])
    assert linked_likeness(alone) == Likeness()
    assert linked_likeness(Graph.from_edges([[0], [1]], y=[-1, 0])) == Likeness()
