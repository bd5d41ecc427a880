"""Features in a few columns: by hand where narrow, against an exact decomposition where wide."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from imgcl._core.errors import InputError
from imgcl.data.store import open_store, write_store
from imgcl.graph import Graph, Reduction

PATH = np.array([[1 / 2, 6**-0.5, 0], [6**-0.5, 1 / 3, 6**-0.5], [0, 6**-0.5, 1 / 2]])  # S of 0-1-2


def random_graph(n: int = 120, width: int = 40, *, sparse: bool = False, seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 12)) * np.geomspace(8, 0.5, 12) @ rng.standard_normal((12, width))
    x = x * (rng.random((n, width)) < 0.3) if sparse else x
    return Graph.from_edges(rng.integers(0, n, (2, 3 * n)), sp.csr_array(x) if sparse else x)


def propagated(graph: Graph, hops: int) -> np.ndarray:
    """S^hops X as a dense matrix, from its definition."""
    loops = graph.adjacency.toarray().astype(np.float64) + np.eye(graph.n_nodes)
    root = 1 / np.sqrt(loops.sum(axis=1))
    x = graph.x if isinstance(graph.x, np.ndarray) else graph.x.toarray()
    return np.linalg.matrix_power(root[:, None] * loops * root, hops) @ x.astype(np.float64)


def test_narrow_features_are_standardised_by_hand() -> None:
    graph = Graph.from_edges([[0, 1], [1, 2]], x=[[1.0, 5.0], [2.0, 5.0], [6.0, 5.0]])
    expected = np.array([[-2, 0], [-1, 0], [3, 0]]) / 7**0.5  # mean 3, variance (4 + 1 + 9) / 2
    assert Reduction.fit(graph).apply(graph) == pytest.approx(expected, abs=1e-6)
    twice = Reduction.fit(graph, hops=2).apply(graph)
    assert twice == pytest.approx(PATH @ PATH @ expected, abs=1e-6)
    assert twice.dtype == np.float32


def test_a_new_graph_is_read_by_the_statistics_of_the_fitted_one() -> None:
    fitted = Graph.from_edges([[0], [1]], x=[[0.0, 1.0], [2.0, 1.0]])
    other = Graph.from_edges([[0], [1]], x=[[5.0, 3.0], [1.0, 9.0]])
    assert Reduction.fit(fitted).apply(other) == pytest.approx(np.array([[4, 0], [0, 0]]) / 2**0.5)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("hops", [0, 2])
def test_wide_features_have_the_leading_singular_vectors(hops: int, sparse: bool) -> None:
    graph = random_graph(sparse=sparse)
    made = Reduction.fit(graph, width=5, hops=hops).apply(graph)
    left, values, _ = np.linalg.svd(propagated(graph, hops), full_matrices=False)
    assert np.linalg.norm(made, axis=0) == pytest.approx(values[:5], rel=1e-3)
    exact = left[:, :5] * values[:5]
    assert np.abs(np.sum(made * exact, axis=0)) == pytest.approx(values[:5] ** 2, rel=1e-2)  # the same directions


def test_components_are_orthonormal_and_their_largest_entry_is_positive() -> None:
    components = Reduction.fit(random_graph(), width=6).components
    assert components is not None
    assert components.T @ components == pytest.approx(np.eye(6), abs=1e-5)
    assert (components.max(axis=0) >= -components.min(axis=0)).all()


def test_the_same_seed_gives_the_same_bits() -> None:
    graph = random_graph()
    one, two, other = (Reduction.fit(graph, width=5, random_state=seed).components for seed in (3, 3, 4))
    assert one is not None
    assert np.array_equal(one, two)  # type: ignore[arg-type]
    assert not np.array_equal(one, other)  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [5, 256])
def test_blocks_of_rows_and_scratch_files_change_nothing(
    width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph()
    whole = [Reduction.fit(graph, width=width, hops=hops).apply(graph) for hops in (0, 2)]
    monkeypatch.setattr("imgcl.graph.reduction.NUMBERS_AT_ONCE", 40 * 7)
    monkeypatch.setattr("imgcl.graph.rows.ROWS_AT_ONCE", 11)
    monkeypatch.setattr("imgcl.graph.reduction.ON_DISK_FROM", 0)
    for hops, expected in zip((0, 2), whole, strict=True):
        reduction = Reduction.fit(graph, width=width, hops=hops, scratch=tmp_path)
        made = reduction.apply(graph, scratch=tmp_path)
        assert isinstance(made, np.memmap)
        assert made == pytest.approx(expected, abs=1e-2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sparse", [False, True])
def test_a_store_is_read_like_the_graph_it_was_written_from(sparse: bool, tmp_path: Path) -> None:
    graph = random_graph(sparse=sparse)
    write_store(graph, tmp_path / "g.store")
    for width in (5, 256):
        made = [
            Reduction.fit(each, width=width, hops=2).apply(each) for each in (graph, open_store(tmp_path / "g.store"))
        ]
        assert np.array_equal(*made)


def test_half_precision_features_are_read_as_single() -> None:
    graph = random_graph()
    half = replace(graph, x=graph.x.astype(np.float16))
    single = replace(graph, x=half.x.astype(np.float32))
    for width in (5, 256):
        assert np.array_equal(*(Reduction.fit(each, width=width).apply(each) for each in (half, single)))


@pytest.mark.parametrize("sparse", [False, True])
def test_columns_in_another_order(sparse: bool) -> None:
    graph, order = random_graph(sparse=sparse), np.random.default_rng(1).permutation(40)
    moved = replace(graph, x=graph.x[:, np.argsort(order)])  # column j of the graph is column order[j] of moved
    for width in (5, 256):
        reduction = Reduction.fit(graph, width=width, hops=2)
        assert np.array_equal(reduction.apply(moved, order), reduction.apply(graph))


def test_sparse_features_are_never_made_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(sparse=True)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("made dense")

    for name in ("toarray", "todense"):
        monkeypatch.setattr(sp.csr_array, name, refuse)
    assert Reduction.fit(graph, width=5, hops=2).apply(graph).shape == (120, 5)


@given(st.sampled_from([1e-25, 1e-12, 1.0, 1e12]))
def test_the_scale_of_wide_features_is_kept_and_does_not_matter(scale: float) -> None:
    graph = random_graph(40, 20)
    scaled = replace(graph, x=graph.x * np.float32(scale))
    made, expected = (Reduction.fit(each, width=4).apply(each) for each in (scaled, graph))
    assert made / np.float32(scale) == pytest.approx(expected, rel=1e-2, abs=1e-2)


def test_few_nodes_and_empty_features() -> None:
    graph = random_graph(4, 300)
    assert Reduction.fit(graph).apply(graph).shape == (4, 4)
    zeros = replace(graph, x=np.zeros((4, 300), dtype=np.float32))
    assert np.array_equal(Reduction.fit(zeros, hops=2).apply(zeros), np.zeros((4, 4)))


def test_what_is_refused() -> None:
    graph = random_graph()
    with pytest.raises(InputError, match="width is 0 and hops is -1"):
        Reduction.fit(graph, width=0, hops=-1)
    with pytest.raises(InputError, match="has 40 features, the reduction was fitted on 30"):
        Reduction.fit(random_graph(width=30)).apply(graph)
    with pytest.raises(InputError, match="has no features"):
        Reduction.fit(replace(graph, x=np.zeros((120, 0), dtype=np.float32)))


def test_features_too_wide_for_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imgcl._core.capacity.machine_memory", lambda: 1000)
    with pytest.raises(InputError, match=r"reducing 40 features needs .* keep the learned block alone"):
        Reduction.fit(random_graph(), width=5)


@pytest.mark.parametrize("width", [16, 512])
def test_features_of_a_store_are_never_in_memory_as_a_whole(
    width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n, columns = 8000, 400
    x = np.random.default_rng(0).random((n, columns), dtype=np.float32).astype(np.float16)
    write_store(Graph.from_edges(np.stack([np.arange(n), np.roll(np.arange(n), 1)]), x), tmp_path / "g.store")
    graph = open_store(tmp_path / "g.store", verify=False)
    monkeypatch.setattr("imgcl.graph.reduction.NUMBERS_AT_ONCE", 1 << 16)
    monkeypatch.setattr("imgcl.graph.rows.ROWS_AT_ONCE", 1 << 8)
    monkeypatch.setattr("imgcl.graph.reduction.ROWS_AT_ONCE", 1 << 8)
    monkeypatch.setattr("imgcl.graph.reduction.ON_DISK_FROM", 0)
    tracemalloc.start()
    try:
        Reduction.fit(graph, width=width).apply(graph)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < n * columns * 4 / 3
