from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from imgcl._core.errors import InputError
from imgcl.balance.clusters import assign, kmeans
from imgcl.balance.clusters.kmeans import mini_batch_centroids, plus_plus
from imgcl.balance.clusters.lloyd import ClusterSums, centroid_costs
from imgcl.balance.clusters.points import as_points


def blobs(sizes: list[int], dimensions: int = 8, distance: float = 6.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    centres = generator.normal(size=(len(sizes), dimensions)) * distance
    points = centres[truth] + generator.normal(size=(len(truth), dimensions))
    return points.astype(np.float32), truth


def true_inertia(points: np.ndarray, labels: np.ndarray) -> float:
    points = points.astype(np.float64)
    return sum(((points[labels == k] - points[labels == k].mean(axis=0)) ** 2).sum() for k in np.unique(labels))


def test_finds_clear_clusters() -> None:
    points, truth = blobs([300, 120, 60, 40])
    found = kmeans(points, 4)
    assert adjusted_rand_score(truth, found.labels) == 1.0
    assert found.inertia == pytest.approx(true_inertia(points, found.labels), rel=1e-5)
    for k in range(4):
        assert found.centroids[k] == pytest.approx(points[found.labels == k].mean(axis=0), abs=1e-4)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 60), k=st.integers(1, 8), tight=st.booleans(), bounded=st.booleans(), seed=st.integers(0, 99))
def test_sizes_stay_inside_the_bounds(n: int, k: int, tight: bool, bounded: bool, seed: int) -> None:
    k = min(k, n)
    points = np.random.default_rng(seed).exponential(size=(n, 3)) ** 3
    least = n // k if tight else 1
    most = -(-n // k) if bounded else None
    found = kmeans(points, k, min_size=least, max_size=most, seed=seed)
    sizes = np.bincount(found.labels, minlength=k)
    assert sizes.min() >= least
    assert most is None or sizes.max() <= most
    assert found.inertia == pytest.approx(true_inertia(points, found.labels), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_costs_no_more_than_k_means_constrained_from_the_same_start(seed: int) -> None:
    from k_means_constrained import KMeansConstrained

    points, _ = blobs([500, 150, 80, 40, 30], dimensions=16, distance=0.6, seed=seed)
    start = points[np.random.default_rng(seed).choice(len(points), 5, replace=False)]
    ours = kmeans(points, 5, min_size=80, start=start, max_iterations=10, tolerance=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = KMeansConstrained(5, size_min=80, init=start, n_init=1, max_iter=10, tol=0, random_state=0).fit(
            points
        )
    assert ours.inertia <= 1.001 * true_inertia(points, reference.labels_)
    assert np.bincount(ours.labels).min() >= 80


def test_each_iteration_lowers_the_cost() -> None:
    points, _ = blobs([200, 100, 50], distance=0.5, seed=3)
    start = points[:3]
    costs = [kmeans(points, 3, min_size=60, start=start, max_iterations=i, tolerance=0).inertia for i in range(1, 8)]
    assert all(after <= before * (1 + 1e-6) for before, after in pairwise(costs))
    assert costs[-1] < costs[0]


def test_a_warm_start_at_the_solution_stays_there() -> None:
    points, _ = blobs([200, 100, 50])
    first = kmeans(points, 3, seed=1)
    again = kmeans(points, 3, start=first.centroids, seed=2)
    assert np.array_equal(again.labels, first.labels)
    assert again.iterations <= 2


def test_the_same_seed_gives_the_same_clusters_and_another_one_another_start() -> None:
    points, _ = blobs([200, 200, 200], distance=0.2)
    assert np.array_equal(kmeans(points, 6, seed=3).labels, kmeans(points, 6, seed=3).labels)
    assert not np.array_equal(kmeans(points, 6, seed=3).labels, kmeans(points, 6, seed=4).labels)


def test_threads_do_not_change_the_result() -> None:
    points, _ = blobs([9000, 2000], dimensions=256, distance=0.1)
    threads = torch.get_num_threads()
    try:
        results = []
        for count in (1, 2):
            torch.set_num_threads(count)
            results.append(kmeans(points, 5, max_iterations=5, seed=1))
    finally:
        torch.set_num_threads(threads)
    assert np.array_equal(results[0].labels, results[1].labels)
    assert np.array_equal(results[0].centroids, results[1].centroids)


def test_sparse_and_dense_points_give_the_same_clusters() -> None:
    points = sp.random_array((300, 40), density=0.1, rng=np.random.default_rng(0), format="csr", dtype=np.float32)
    sparse, dense = kmeans(points, 4, min_size=20, seed=1), kmeans(points.toarray(), 4, min_size=20, seed=1)
    assert np.array_equal(sparse.labels, dense.labels)
    assert sparse.inertia == pytest.approx(dense.inertia, rel=1e-5)


def test_points_far_from_the_origin_keep_their_clusters() -> None:
    points, _ = blobs([100, 60, 30], distance=1.5)
    shifted = kmeans(points.astype(np.float64) + 1e5, 3, seed=2)
    assert adjusted_rand_score(kmeans(points, 3, seed=2).labels, shifted.labels) == 1.0
    assert shifted.centroids.mean() == pytest.approx(1e5, rel=1e-3)


def test_permuting_the_rows_permutes_the_labels_from_a_given_start() -> None:
    points, _ = blobs([150, 70, 30], distance=0.8)
    order = np.random.default_rng(0).permutation(len(points))
    plain = kmeans(points, 3, min_size=40, start=points[:3], tolerance=0)
    permuted = kmeans(points[order], 3, min_size=40, start=points[:3], tolerance=0)
    assert np.array_equal(permuted.labels, plain.labels[order])


def test_fewer_distinct_rows_than_clusters_leave_no_cluster_empty() -> None:
    found = kmeans(np.repeat([[0.0, 1.0], [2.0, 2.0]], 5, axis=0), 4)
    assert np.bincount(found.labels, minlength=4).min() >= 1
    assert found.inertia == pytest.approx(0.0, abs=1e-6)


def test_mini_batches_come_close_to_all_rows() -> None:
    points, _ = blobs([12_000, 4_000, 2_000, 600], distance=3.0)
    full = kmeans(points, 4, min_size=500, seed=1)
    batches = kmeans(points, 4, min_size=500, seed=1, mini_batch=True)
    assert batches.iterations <= 5
    assert np.bincount(batches.labels).min() >= 500
    assert batches.inertia <= 1.01 * full.inertia
    assert np.array_equal(batches.labels, kmeans(points, 4, min_size=500, seed=1, mini_batch=True).labels)
    # a warm start is used as it is
    warm = kmeans(points, 4, min_size=500, seed=2, mini_batch=True, start=points[:4], max_iterations=1)
    assert np.array_equal(warm.labels, assign(centroid_costs(points, points[:4]), 500))


def test_mini_batch_centroids_average_over_the_batches() -> None:
    points, truth = blobs([12_000, 4_000, 600], distance=3.0)
    means = np.stack([points[truth == k].mean(axis=0) for k in range(3)])
    found = mini_batch_centroids(points, means + 0.5, np.random.default_rng(0))
    # one batch has about 290 rows of the smallest group: their mean alone would be off by 0.06 per dimension
    assert np.sqrt(((found - means) ** 2).mean(axis=1)).max() < 0.02


def test_costs_are_squared_distances_less_the_rows_norms() -> None:
    generator = np.random.default_rng(0)
    points = generator.normal(size=(37, 5)).astype(np.float32)  # not a multiple of the rows taken together
    centroids = generator.normal(size=(3, 5))
    expected = ((points[:, None] - centroids) ** 2).sum(axis=2) - (points**2).sum(axis=1, keepdims=True)
    assert centroid_costs(points, centroids) == pytest.approx(expected, abs=1e-4)


def test_sums_follow_rows_that_change_cluster() -> None:
    generator = np.random.default_rng(0)
    points = generator.normal(size=(50, 4)).astype(np.float32)
    first, second = generator.integers(3, size=50), generator.integers(3, size=50)
    sums = ClusterSums(points, first, 3)
    assert sums.relabel(second) == (first != second).sum()
    assert sums.means() == pytest.approx(ClusterSums(points, second, 3).means(), abs=1e-5)


def test_the_start_takes_one_point_of_each_distant_group() -> None:
    points, truth = blobs([500, 5, 5, 5], distance=50.0)
    start = plus_plus(points, 4, np.random.default_rng(0))
    nearest = ((start[:, None] - points) ** 2).sum(axis=2).argmin(axis=1)
    assert sorted(truth[nearest]) == [0, 1, 2, 3]


def test_points_may_be_tensors_that_need_a_gradient_or_read_only_arrays() -> None:
    points, truth = blobs([40, 20])
    tensor = torch.from_numpy(points.copy()).requires_grad_()
    points.flags.writeable = False
    assert adjusted_rand_score(truth, kmeans(as_points(tensor), 2).labels) == 1.0
    assert adjusted_rand_score(truth, kmeans(points, 2).labels) == 1.0


@pytest.mark.parametrize(
    ("points", "arguments", "message"),
    [
        (np.zeros((3, 2)), {"n_clusters": 4}, "cannot make 4 clusters of 3 rows"),
        (np.zeros((3, 2)), {"n_clusters": 0}, "cannot make 0 clusters of 3 rows"),
        (np.zeros((5, 2)), {"n_clusters": 2, "min_size": 3}, "2 clusters of at least 3 rows need 6 rows"),
        (
            np.zeros((5, 2)),
            {"n_clusters": 2, "start": np.zeros((2, 3))},
            r"start has shape \(2, 3\), expected \(2, 2\)",
        ),
        (np.zeros((5, 2)), {"n_clusters": 2, "max_iterations": 0}, "at least one is needed"),
        (np.zeros(5), {"n_clusters": 2}, r"points have shape \(5,\)"),
        (np.array([["a"], ["b"]]), {"n_clusters": 2}, "they must be numbers"),
        (np.array([[0.0], [np.nan], [1.0]]), {"n_clusters": 2}, "1 of 3 rows to cluster are not finite, first row 1"),
        (np.array([[0.0], [3e19], [1.0]]), {"n_clusters": 2}, "row 1 to cluster has length 3e"),
    ],
)
def test_what_cannot_be_clustered_is_refused(points: np.ndarray, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        kmeans(points, **arguments)  # type: ignore[arg-type]
