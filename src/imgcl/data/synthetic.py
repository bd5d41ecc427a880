"""A degree-corrected block model: a graph whose imbalance, homophily and degree tail are chosen by the caller.

Edges are drawn in two bags. A homophily share of them lies inside classes, class k receiving in proportion to the
degrees its nodes should have; the rest joins two nodes of different classes. Within a bag an end is drawn in
proportion to its node's weight. Draws are repeated until each bag has exactly its number of distinct edges, so
homophily and the number of edges come out as asked; everything is O(edges).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from imgcl._core.apportion import apportion
from imgcl._core.capacity import check_memory
from imgcl._core.errors import InputError
from imgcl._core.seeding import generator
from imgcl.data.options import check_number, whole_number
from imgcl.graph import Graph
from imgcl.graph.checks import LARGEST

FILL = 0.5  # at most this share of the possible edges of a bag: beyond it repeated draws hardly find new ones
WEIGHTED_ROUNDS = 30
ROWS_AT_ONCE = 1 << 16
MOST_NODES = 2**31 - 1  # node numbers are 32-bit integers

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def synthetic_graph(
    *,
    n_nodes: int = 1000,
    n_classes: int = 5,
    class_ratio: float = 1.0,
    class_sizes: Sequence[int] | None = None,
    homophily: float = 0.8,
    mean_degree: float = 10.0,
    degree_exponent: float | None = 3.0,
    degree_by_class: float = 0.0,
    n_features: int = 32,
    feature_signal: float = 2.0,
    seed: int = 0,
) -> Graph:
    """A random graph with classes, from a degree-corrected block model.

    Args:
        n_nodes: number of nodes.
        n_classes: number of classes; class 0 is the largest.
        class_ratio: size of the largest class over that of the smallest; sizes fall exponentially in between.
        class_sizes: explicit class sizes; then ``n_nodes``, ``n_classes`` and ``class_ratio`` are not used.
        homophily: share of the edges that join nodes of one class, 0..1.
        mean_degree: mean number of neighbours; the number of edges is ``round(n_nodes * mean_degree / 2)``.
        degree_exponent: exponent of the power law that expected degrees follow, above 2 (the smaller, the heavier
            the tail); ``None`` gives every node the same expected degree.
        degree_by_class: expected degrees of a class are proportional to its size to this power: 0 for no relation
            between degree and class, positive where large classes are better connected, negative for the opposite.
        n_features: number of features; they are Gaussian with unit variance around a class centre.
        feature_signal: distance between any two class centres (up to chance when there are more classes than
            features), in standard deviations of the noise.
        seed: the same seed gives the same graph.

    Raises:
        InputError: when the parameters are out of range, or ask for more edges than fit.

    Example:
        >>> graph = synthetic_graph(class_sizes=[60, 30, 10], homophily=0.7, mean_degree=6, seed=1)
        >>> graph.n_edges, graph.class_sizes.tolist()
        (300, [60, 30, 10])
    """
    n_features, seed = whole_number("n_features", n_features), whole_number("seed", seed)
    _check(homophily, mean_degree, degree_exponent, degree_by_class, n_features, feature_signal)
    sizes = _class_sizes(n_nodes, n_classes, class_ratio, class_sizes, mean_degree, n_features)
    n = int(sizes.sum())
    total = _n_edges(n, mean_degree)
    inside_total = round(homophily * total)

    weights = _degree_weights(sizes, mean_degree, degree_exponent, degree_by_class, seed)
    bounds = np.concatenate([[0], np.cumsum(sizes)])  # nodes are drawn in class order and shuffled at the end
    inside = _edges_inside(weights, bounds, inside_total, generator(seed, "synthetic", "inside"))
    between = _edges_between(weights, bounds, total - inside_total, generator(seed, "synthetic", "between"))

    place = generator(seed, "synthetic", "order").permutation(n)
    labels = np.empty(n, dtype=np.int64)
    labels[place] = np.repeat(np.arange(len(sizes)), sizes)
    indptr, indices = _csr(np.concatenate([inside, between]), place)
    x = _features(labels, len(sizes), n_features, feature_signal, generator(seed, "synthetic", "features"))
    return Graph(indptr, indices, x, labels, name="synthetic")


def _class_sizes(
    n_nodes: int, n_classes: int, ratio: float, sizes: Sequence[int] | None, mean_degree: float, n_features: int
) -> Ints:
    """The size of every class; refused where the graph does not fit into memory."""
    if sizes is not None:
        given = _given_sizes(sizes)
        _check_size(sum(given), len(given), mean_degree, n_features)
        return np.array(given, dtype=np.int64)
    n_nodes, n_classes = whole_number("n_nodes", n_nodes), whole_number("n_classes", n_classes)
    if n_classes < 1 or n_nodes < n_classes:
        raise InputError(f"{n_nodes} nodes cannot have {n_classes} classes: give 1 or more classes of 1 or more nodes")
    check_number("class_ratio", ratio)
    if not 1 <= ratio < np.inf:
        raise InputError(f"class_ratio is {ratio}: it is largest over smallest class, 1 or more")
    _check_size(n_nodes, n_classes, mean_degree, n_features)
    return apportion(float(ratio) ** (-np.arange(n_classes) / max(1, n_classes - 1)), n_nodes, least=1)


def _given_sizes(sizes: Sequence[int]) -> list[int]:
    """Class sizes as Python's whole numbers, which do not overflow when they are added."""
    with suppress(InputError, TypeError):  # not a sequence
        given = [whole_number("a class size", size) for size in sizes]
        if given and min(given) >= 1:
            return given
    raise InputError(f"class_sizes is {sizes!r}: give one positive whole number per class")


def _check_size(n: int, n_classes: int, mean_degree: float, n_features: int) -> None:
    """Refuse a graph that does not fit into memory; only the arrays that are there in the end are counted."""
    if n > MOST_NODES:
        raise InputError(f"a synthetic graph has at most {MOST_NODES:,} nodes: ask for a smaller one")
    edges = _n_edges(n, mean_degree)
    needed = 4 * n * n_features + 8 * n_classes * max(n_features, n_classes) + 8 * n + 24 * edges
    what = f"a synthetic graph of {n:,} nodes, {edges:,} edges, {n_features:,} features and {n_classes:,} classes"
    check_memory(what, needed, "ask for a smaller one")


def _n_edges(n: int, mean_degree: float) -> int:
    """Number of edges to draw; more than all pairs of nodes do not fit in any case."""
    return round(min(n * mean_degree, n * n) / 2)


def _check(
    homophily: float, mean_degree: float, exponent: float | None, by_class: float, n_features: int, signal: float
) -> None:
    numbers = {
        "homophily": homophily,
        "mean_degree": mean_degree,
        "degree_by_class": by_class,
        "feature_signal": signal,
    }
    for name, value in numbers.items() if exponent is None else [*numbers.items(), ("degree_exponent", exponent)]:
        check_number(name, value)
    for wrong, message in (
        (not 0 <= homophily <= 1, f"homophily is {homophily}: it is a share, 0..1"),
        (not 0 <= mean_degree < np.inf, f"mean_degree is {mean_degree}: it must be 0 or more"),
        (exponent is not None and not exponent > 2, f"degree_exponent is {exponent}: above 2, or None for no tail"),
        (not abs(by_class) < np.inf, f"degree_by_class is {by_class}: it must be finite"),
        (n_features < 1, f"n_features is {n_features}: give at least 1"),
        (not 0 <= signal <= float(LARGEST), f"feature_signal is {signal}: it must be 0..{LARGEST:g}"),
    ):
        if wrong:
            raise InputError(message)


def _degree_weights(sizes: Ints, mean_degree: float, exponent: float | None, by_class: float, seed: int) -> Floats:
    """Expected degree of each node up to scale, nodes in class order."""
    n = int(sizes.sum())
    weights = np.repeat((sizes / sizes.mean()) ** float(by_class), sizes)
    if exponent is None:
        return weights
    uniform = 1.0 - generator(seed, "synthetic", "degrees").random(n)
    tail = uniform ** (-1 / (exponent - 1))
    # the structural cutoff: a simple graph cannot give a node an expected degree far above sqrt(n * mean degree)
    cutoff = tail.mean() * np.sqrt(n / max(mean_degree, 1.0))
    return np.asarray(weights * np.minimum(tail, max(1.0, cutoff)))


def _edges_inside(weights: Floats, bounds: Ints, total: int, rng: np.random.Generator) -> Ints:
    """``total`` distinct pairs within classes, as keys ``u * n + v`` with u < v."""
    n, sizes = len(weights), np.diff(bounds)
    cumulative = np.concatenate([[0.0], np.cumsum(weights)])
    low, high = cumulative[bounds[:-1]], cumulative[bounds[1:]]
    room = np.where(sizes < 4, sizes * (sizes - 1) // 2, np.floor(FILL * sizes * (sizes - 1) / 2)).astype(np.int64)
    if total > room.sum():
        raise InputError(
            f"{total:,} edges inside classes do not fit (room for {room.sum():,}): lower mean_degree or homophily"
        )
    wanted = apportion(high - low, total, most=room)

    keys: Ints = np.zeros(0, dtype=np.int64)
    rounds = 0
    while len(keys) < total:
        missing = wanted - np.bincount(np.searchsorted(bounds, keys // n, side="right") - 1, minlength=len(sizes))
        of_class = np.repeat(np.arange(len(sizes)), missing)
        ends = []
        for _ in range(2):
            if rounds < WEIGHTED_ROUNDS:
                point = low[of_class] + rng.random(len(of_class)) * (high - low)[of_class]
                end = np.searchsorted(cumulative, point, side="right") - 1
                end = np.clip(end, bounds[of_class], bounds[of_class + 1] - 1)  # rounding at a class's edge
            else:
                end = rng.integers(bounds[of_class], bounds[of_class + 1])
            ends.append(end)
        keys = _merge(keys, ends[0], ends[1], n)
        rounds += 1
    return keys


def _edges_between(weights: Floats, bounds: Ints, total: int, rng: np.random.Generator) -> Ints:
    """``total`` distinct pairs of nodes of different classes, as keys."""
    n, sizes = len(weights), np.diff(bounds)
    room = int(FILL * (n * n - int((sizes**2).sum())) / 2)
    if total > room:
        raise InputError(
            f"{total:,} edges between classes do not fit (room for {room:,}): lower mean_degree or raise homophily"
        )
    cumulative = np.cumsum(weights)
    share = np.add.reduceat(weights, bounds[:-1]) / cumulative[-1]
    rejected = float((share**2).sum())  # both ends in one class

    keys: Ints = np.zeros(0, dtype=np.int64)
    rounds = 0
    while len(keys) < total:
        draws = int((total - len(keys)) / max(1 - rejected, 0.01)) + 16
        if rounds < WEIGHTED_ROUNDS:
            u, v = (np.searchsorted(cumulative, rng.random(draws) * cumulative[-1], side="right") for _ in range(2))
            u, v = np.minimum(u, n - 1), np.minimum(v, n - 1)
        else:
            u, v = rng.integers(n, size=draws), rng.integers(n, size=draws)
        differ = np.searchsorted(bounds, u, side="right") != np.searchsorted(bounds, v, side="right")
        u, v = u[differ], v[differ]
        keys = _merge(keys, u[: total - len(keys)], v[: total - len(keys)], n)
        rounds += 1
    return keys


def _merge(keys: Ints, u: Ints, v: Ints, n: int) -> Ints:
    """The sorted distinct keys with those of the new pairs; pairs of a node with itself are left out."""
    proper = u != v
    new = np.minimum(u, v)[proper] * n + np.maximum(u, v)[proper]
    new.sort()
    both = np.concatenate([keys, new])
    both.sort(kind="stable")  # two sorted runs: a merge (np.unique hashes, which is many times slower here)
    return both[np.concatenate([[True], both[1:] != both[:-1]])] if len(both) else both


def _csr(keys: Ints, place: Ints) -> tuple[np.ndarray, np.ndarray]:
    """Both directions of the pairs, nodes moved to their places, as sorted CSR."""
    n = len(place)
    u, v = place[keys // n].astype(np.int32), place[keys % n].astype(np.int32)
    ones = np.ones(2 * len(keys), dtype=np.int8)
    matrix = sp.coo_array((ones, (np.concatenate([u, v]), np.concatenate([v, u]))), shape=(n, n)).tocsr()
    matrix.sort_indices()
    return matrix.indptr, matrix.indices


def _features(labels: Ints, n_classes: int, n_features: int, signal: float, rng: np.random.Generator) -> np.ndarray:
    directions = rng.standard_normal((max(n_features, n_classes), n_classes))
    if n_features >= n_classes:
        centres = np.linalg.qr(directions)[0].T  # orthonormal: any two lie sqrt(2) apart
    else:
        centres = directions[:n_features].T / np.linalg.norm(directions[:n_features].T, axis=1, keepdims=True)
    centres = (centres * signal / np.sqrt(2)).astype(np.float32)
    x = rng.standard_normal((len(labels), n_features), dtype=np.float32)
    for start in range(0, len(labels), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        x[rows] += centres[labels[rows]]
    return x
