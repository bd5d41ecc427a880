import numpy as np
import pytest
import torch

from imgcl._core.errors import InputError
from imgcl._core.sparse.kernels import mix
from imgcl.baselines import random_walks, skip_gram
from imgcl.graph import Graph
from imgcl.graph.structure.randomness import next_float, next_index, stream
from imgcl.graph.structure.skipgram import _alias_table, _train


def two_cliques() -> Graph:
    """Two cliques of eight nodes, joined by one edge."""
    first = np.array([(i, j) for i in range(8) for j in range(i)]).T
    return Graph.from_edges(np.concatenate([first, first + 8, [[0], [8]]], axis=1), x=np.ones((16, 1)))


def test_neighbours_come_together() -> None:
    walks = random_walks(two_cliques(), walks_per_node=60, length=20)
    Z = skip_gram(walks, 16, dim=8, window=3)
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    same = np.repeat([0, 1], 8)[:, None] == np.repeat([0, 1], 8)
    cosine = unit @ unit.T
    assert cosine[same].mean() > cosine[~same].mean() + 0.3


@pytest.mark.parametrize("threads", [1, 2])
def test_same_seed_same_embedding(threads: int) -> None:
    walks = random_walks(two_cliques(), walks_per_node=20, length=10)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        first, second, other = (skip_gram(walks, 16, dim=8, seed=seed) for seed in (0, 0, 1))
    finally:
        torch.set_num_threads(before)
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)
    assert first.dtype == np.float32


def test_one_window_by_hand() -> None:
    """A walk of two nodes, no chance of a useful negative: two updates that can be written down."""
    centre = np.array([[0.5, 0.0], [0.0, 1.0], [9.0, 9.0]], dtype=np.float32)
    context = np.array([[1.0, 0.0], [0.0, 2.0], [9.0, 9.0]], dtype=np.float32)
    expected_centre, expected_context = centre.copy().astype(np.float64), context.copy().astype(np.float64)
    rate = 0.1

    def sigmoid(x: float) -> float:
        return 1 / (1 + np.exp(-x))

    for middle, neighbour in ((0, 1), (1, 0)):
        row, target = expected_centre[neighbour].copy(), expected_context[middle].copy()
        gain = rate * (1 - sigmoid(row @ target))
        negative = expected_context[2].copy()
        # the only negative is node 2, a third time: certain to be wrong (logit above 6), so it is pushed away fully
        push = rate * (0 - 1) if row @ negative >= 6 else rate * (0 - sigmoid(row @ negative))
        expected_centre[neighbour] += gain * target + push * negative
        expected_context[middle] += gain * row
        expected_context[2] += push * row
    chance, other = np.array([0.0, 0.0, 1.0], dtype=np.float32), np.array([2, 2, 2], dtype=np.int32)
    walks = np.array([[0, 1, -1]], dtype=np.int32)
    part = np.array([0])
    _train(walks, part, centre, context, chance, other, 1, 1, rate, rate, np.uint64(0))
    assert centre == pytest.approx(expected_centre, abs=2e-3)  # the sigmoid is a table
    assert context == pytest.approx(expected_context, abs=2e-3)


def test_a_logit_just_below_certainty_stays_within_the_table() -> None:
    """5.9999995 + 6 is 12 in float32: one place beyond the table of the sigmoid."""
    centre, context = np.zeros((3, 1), dtype=np.float32), np.zeros((3, 1), dtype=np.float32)
    centre[1], context[0] = 1, np.nextafter(np.float32(6), np.float32(0))
    chance, other = np.array([0.0, 0.0, 1.0], dtype=np.float32), np.array([2, 2, 2], dtype=np.int32)
    walks, rate = np.array([[0, 1, -1]], dtype=np.int32), 1.0
    _train(walks, np.array([0]), centre, context, chance, other, 1, 1, rate, rate, np.uint64(0))
    assert centre[1, 0] == pytest.approx(1 + 6 / (1 + np.exp(6.0)), abs=1e-3)


def test_alias_table_gives_the_weights() -> None:
    weights = np.array([5.0, 1.0, 0.0, 3.0, 1.0])
    chance, other = _alias_table(weights)
    drawn = np.zeros(5)
    for slot in range(5):
        drawn[slot] += chance[slot] / 5
        drawn[other[slot]] += (1 - chance[slot]) / 5
    assert drawn == pytest.approx(weights / 10, abs=1e-6)


def test_random_streams_are_uniform_and_distinct() -> None:
    state = stream(np.uint64(1), 0)
    values, indices = [], []
    for _ in range(5000):
        state, value = next_float(np.uint64(state))
        values.append(value)
        state, index = next_index(np.uint64(state), 7)
        indices.append(index)
    assert 0 <= min(values) < 0.01
    assert 0.99 < max(values) < 1
    assert np.mean(values) == pytest.approx(0.5, abs=0.02)
    assert np.bincount(indices) / 5000 == pytest.approx([1 / 7] * 7, abs=0.02)
    assert stream(np.uint64(1), 0) != stream(np.uint64(1), 1) != stream(np.uint64(2), 1)
    # the published first output of SplitMix64 with seed 1234567
    assert mix(np.uint64(1234567) + np.uint64(0x9E3779B97F4A7C15)) == np.uint64(6457827717110365317)


def test_wrong_settings() -> None:
    with pytest.raises(InputError, match="window is 0"):
        skip_gram(np.zeros((1, 2), dtype=np.int32), 1, window=0)
