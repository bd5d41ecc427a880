from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imgcl._core.errors import InputError
from imgcl.balance import node_probabilities, power, progressively_balanced

alphas = st.floats(0, 1)
sizes = st.lists(st.integers(1, 1000), min_size=1, max_size=12)


@st.composite
def labelled_nodes(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int]:
    """Labels without empty classes, centrality scores, number of classes."""
    counts = draw(st.lists(st.integers(1, 30), min_size=1, max_size=6))
    labels = np.repeat(np.arange(len(counts)), counts)
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = generator.pareto(1.5, size=len(labels))
    if draw(st.booleans()):
        scores = np.round(scores)  # many nodes at the minimum
    return generator.permutation(labels), scores, len(counts)


@given(sizes, alphas)
def test_eq_3_sums_to_one_and_lies_between_its_ends(counts: list[int], alpha: float) -> None:
    p = progressively_balanced(counts, alpha)
    natural, equal = np.array(counts) / sum(counts), 1 / len(counts)
    assert p.sum() == pytest.approx(1)
    assert p == pytest.approx(alpha * natural + (1 - alpha) * equal)


def test_eq_3_by_hand() -> None:
    assert progressively_balanced([8, 1, 1], 1.0).tolist() == [0.8, 0.1, 0.1]
    assert progressively_balanced([8, 1, 1], 0.0) == pytest.approx([1 / 3] * 3)
    assert progressively_balanced([8, 1, 1], 0.4) == pytest.approx([0.52, 0.24, 0.24])


def test_eq_2_by_hand() -> None:
    assert power([16, 1], 0.5).tolist() == [0.8, 0.2]
    assert power([16, 1], 0).tolist() == [0.5, 0.5]
    assert power([16, 1], 1) == pytest.approx([16 / 17, 1 / 17])


@given(sizes, alphas)
def test_eq_2_sums_to_one_and_keeps_the_order_of_sizes(counts: list[int], q: float) -> None:
    p = power(counts, q)
    assert p.sum() == pytest.approx(1)
    order = np.argsort(counts)
    assert np.all(np.diff(p[order]) >= -1e-12)


@given(labelled_nodes(), alphas, st.sampled_from(["median", 0.0, 1e-3, 10.0]))
def test_classes_get_their_share_exactly(
    nodes: tuple[np.ndarray, np.ndarray, int], alpha: float, floor: object
) -> None:
    labels, scores, k = nodes
    p_class = progressively_balanced(np.bincount(labels, minlength=k), alpha)
    p = node_probabilities(labels, scores, p_class, floor=floor)  # type: ignore[arg-type]
    assert p.sum() == pytest.approx(1)
    assert p.min() >= 0
    assert np.bincount(labels, p, minlength=k) == pytest.approx(p_class)


@given(labelled_nodes(), alphas, st.sampled_from(["class", "global"]))
def test_centrality_order_is_kept_inside_a_class(
    nodes: tuple[np.ndarray, np.ndarray, int], alpha: float, normalise: str
) -> None:
    labels, scores, k = nodes
    p_class = progressively_balanced(np.bincount(labels, minlength=k), alpha)
    p = node_probabilities(labels, scores, p_class, normalise=normalise)  # type: ignore[arg-type]
    assert p.sum() == pytest.approx(1)
    for j in range(k):
        inside = labels == j
        assert np.all(np.diff(p[inside][np.argsort(scores[inside], kind="stable")]) >= -1e-15)


@given(labelled_nodes(), alphas, st.sampled_from(["class", "global"]), st.integers(0, 99))
def test_permuting_the_nodes_permutes_the_probabilities(
    nodes: tuple[np.ndarray, np.ndarray, int], alpha: float, normalise: str, seed: int
) -> None:
    labels, scores, k = nodes
    order = np.random.default_rng(seed).permutation(len(labels))
    p_class = progressively_balanced(np.bincount(labels, minlength=k), alpha)
    p = node_probabilities(labels, scores, p_class, normalise=normalise)  # type: ignore[arg-type]
    permuted = node_probabilities(labels[order], scores[order], p_class, normalise=normalise)  # type: ignore[arg-type]
    assert permuted == pytest.approx(p[order])


def test_eq_5_by_hand_with_an_absolute_floor() -> None:
    # min-max scores 0, 0.25, 1 | 0.5, 0.75; p = 0.6, 0.4; weights max(score * p, 0.2)
    labels, scores = [0, 0, 0, 1, 1], [1.0, 2.0, 5.0, 3.0, 4.0]
    weights = np.array([0.2, 0.2, 0.6, 0.2, 0.3])
    literal = node_probabilities(labels, scores, [0.6, 0.4], normalise="global", floor=0.2)
    assert literal == pytest.approx(weights / 1.5)
    balanced = node_probabilities(labels, scores, [0.6, 0.4], floor=0.2)
    assert balanced == pytest.approx([0.12, 0.12, 0.36, 0.16, 0.24])


def test_the_relative_floor_lifts_the_lower_half_to_the_median() -> None:
    p = node_probabilities([0] * 5, [0.0, 1.0, 2.0, 4.0, 10.0], [1.0])
    assert p == pytest.approx(np.array([2, 2, 2, 4, 10]) / 20)


def test_the_relative_floor_is_the_mean_where_more_than_half_of_a_class_is_at_the_minimum() -> None:
    p = node_probabilities([0] * 4, [1.0, 1.0, 1.0, 5.0], [1.0])
    assert p == pytest.approx(np.array([0.25, 0.25, 0.25, 1.0]) / 1.75)


def test_global_normalisation_does_not_balance() -> None:
    labels = np.repeat([0, 1], [90, 10])
    p = node_probabilities(labels, np.ones(100), [0.5, 0.5], normalise="global")
    assert np.bincount(labels, p) == pytest.approx([0.9, 0.1])


def test_equal_scores_are_drawn_alike_and_so_is_a_class_without_weight() -> None:
    assert node_probabilities([0, 0, 1], [3.0, 3.0, 3.0], [0.5, 0.5]) == pytest.approx([0.25, 0.25, 0.5])
    p = node_probabilities([0, 0, 1, 1], [0.0, 0.0, 1.0, 3.0], [0.5, 0.5], floor=0.0)
    assert p == pytest.approx([0.25, 0.25, 0.125, 0.375])


def test_the_share_of_an_empty_class_goes_to_the_others_in_proportion() -> None:
    p = node_probabilities([0, 0, 2], [1.0, 1.0, 1.0], [0.4, 0.4, 0.2])
    assert p == pytest.approx([1 / 3, 1 / 3, 1 / 3])


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(InputError, match=r"alpha is 1.5: it must be in \[0, 1\]"):
        progressively_balanced([1, 2], 1.5)
    with pytest.raises(InputError, match=r"q is -1: it must be in \[0, 1\]"):
        power([1, 2], -1)
    with pytest.raises(InputError, match="every node has probability 0"):
        node_probabilities([0, 0], [1.0, 2.0], [0.0, 1.0])
