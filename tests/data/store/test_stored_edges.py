"""The out-of-core CSR is that of the in-memory constructor, whatever the memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imgcl._core.errors import GraphError
from imgcl.data.store import PairFile, build_csr
from imgcl.graph.checks import directed_csr, symmetric_csr


def built(folder, pairs, n, **options):
    file = PairFile(folder / "pairs", n)
    for part in np.array_split(np.array(pairs, dtype=np.int64).reshape(-1, 2), 3):
        file.append(part[:, 0], part[:, 1])
    found = build_csr(file, folder / "indices.npy", **options)
    return found, np.load(folder / "indices.npy")


@settings(max_examples=40, deadline=None)
@given(
    pairs=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=40),
    memory=st.sampled_from([1, 16, 64, 1 << 20]),
)
def test_equals_the_csr_in_memory(tmp_path_factory, pairs, memory):
    found, indices = built(tmp_path_factory.mktemp("csr"), pairs, 7, memory=memory)
    indptr, expected, _, cleaning = symmetric_csr(np.array(pairs, dtype=np.int64).reshape(-1, 2).T, 7)
    assert found.indptr.tolist() == indptr.tolist()
    assert indices.tolist() == expected.tolist()
    assert found.cleaning == cleaning


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([0.5, 2.0, 3.0])), max_size=40),
    memory=st.sampled_from([1, 64, 1 << 20]),
    directed_as=st.sampled_from(["both", "mutual"]),
)
def test_weights_equal_those_in_memory(tmp_path_factory, rows, memory, directed_as):
    folder = tmp_path_factory.mktemp("csr")
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    pairs, weights = table[:, :2].astype(np.int64), table[:, 2]
    file = PairFile(folder / "pairs", 7, weighted=True)
    file.append(pairs[:, 0], pairs[:, 1], weights)
    files = {"out": folder / "indices.npy", "weights_out": folder / "edge_weight.npy"}
    found = build_csr(file, **files, memory=memory, directed_as=directed_as)
    _, expected, symmetric, cleaning = symmetric_csr(pairs.T, 7, weights, directed_as)
    assert np.load(folder / "indices.npy").tolist() == expected.tolist()
    stored = np.load(folder / "edge_weight.npy").tolist()
    assert stored == ([1.0] * len(stored) if symmetric is None else symmetric.tolist())
    assert symmetric is None or found.cleaning == cleaning


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([0.5, 2.0, 3.0])), max_size=40),
    directed_as=st.sampled_from(["in", "out"]),
)
def test_one_direction_equals_that_in_memory(tmp_path_factory, rows, directed_as):
    folder = tmp_path_factory.mktemp("csr")
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    pairs, weights = table[:, :2].astype(np.int64), table[:, 2]
    file = PairFile(folder / "pairs", 7, weighted=True)
    file.append(pairs[:, 0], pairs[:, 1], weights)
    files = {"out": folder / "indices.npy", "weights_out": folder / "edge_weight.npy"}
    found = build_csr(file, **files, memory=64, directed_as=directed_as)
    indptr, indices, values = directed_csr(pairs.T, 7, weights, directed_as)
    assert found.indptr.tolist() == indptr.tolist()
    assert np.load(folder / "indices.npy").tolist() == indices.tolist()
    stored = np.load(folder / "edge_weight.npy").tolist()
    assert stored == ([1.0] * len(stored) if values is None else values.tolist())


def test_mutual_keeps_what_points_both_ways(tmp_path):
    found, indices = built(tmp_path, [(0, 1), (1, 0), (1, 2), (2, 1), (2, 1), (2, 3)], 4, directed_as="mutual")
    assert found.indptr.tolist() == [0, 1, 3, 4, 4]
    assert indices.tolist() == [1, 0, 2, 1]
    assert found.cleaning.duplicates == 1
    assert str(found.cleaning) == "1 duplicate edges merged, 1 one-directional edges dropped"


def test_numbers_outside_are_refused(tmp_path):
    with pytest.raises(GraphError, match=r"1 edges name nodes outside 0\.\.2"):
        built(tmp_path, [(0, 1), (0, 3)], 3)


def test_progress_reaches_the_end(tmp_path):
    seen = []
    built(tmp_path, [(i, i + 1) for i in range(50)], 51, memory=40, on_progress=seen.append)
    assert len(seen) > 3
    assert seen == sorted(seen)
    assert seen[-1] == 1
