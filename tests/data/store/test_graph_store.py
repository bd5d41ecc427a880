"""A store gives back what was put in, at once, and notices when it is no longer that."""

import json
import os

import numpy as np
import pytest
import scipy.sparse as sp

from imgcl._core.errors import GraphError, InputError
from imgcl.data import load_graph, synthetic_graph
from imgcl.data.store import StoreWriter, open_store, verify_store, write_store
from imgcl.data.store import reader as store_reader
from imgcl.graph import Graph


def named_graph(x=None):
    return Graph.from_edges(
        [[0, 1, 1], [1, 2, 0]],
        np.eye(3) if x is None else x,
        [0, 1, -1],
        name="three",
        node_names=["a", "zwölf", ""],
        feature_names=["f", "g", "h"],
        class_names=["x", "y"],
    )


def assert_same(ours, theirs):
    for name in ("indptr", "indices"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    dense = [g.x if isinstance(g.x, np.ndarray) else g.x.toarray() for g in (ours, theirs)]
    np.testing.assert_array_equal(*dense)
    assert ours.fingerprint == theirs.fingerprint
    assert (ours.name, ours.cleaning, ours.class_names) == (theirs.name, theirs.cleaning, theirs.class_names)


@pytest.mark.parametrize("x", [np.eye(3), np.eye(3, dtype=np.float16), sp.csr_array(np.eye(3)), sp.csr_array((3, 2))])
def test_round_trip(tmp_path, x):
    graph = named_graph(x) if x.shape[1] == 3 else Graph.from_edges([[0], [1]], x)
    opened = open_store(write_store(graph, tmp_path / "g.store"))
    assert_same(opened, graph)
    assert opened.x.dtype == graph.x.dtype
    if graph.node_names is not None:
        assert list(opened.node_names) == ["a", "zwölf", ""]
        assert opened.feature_names == ("f", "g", "h")
        np.testing.assert_array_equal(opened.y, [0, 1, -1])
    fresh = Graph(opened.indptr, opened.indices, opened.x, opened.y)
    assert fresh.fingerprint == opened.fingerprint  # what the manifest says is what the content gives


def test_the_arrays_are_mapped_and_cannot_be_written(tmp_path):
    graph = open_store(write_store(named_graph(), tmp_path / "g.store"))
    base = graph.indices
    while getattr(base, "base", None) is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        graph.x[0, 0] = 1


def test_load_graph_opens_it(tmp_path):
    write_store(named_graph(), tmp_path / "g.store")
    assert load_graph(tmp_path / "g.store").n_nodes == 3
    assert load_graph(str(tmp_path / "g.store"), name="other").name == "other"
    with pytest.raises(InputError, match="has no option 'binarise'"):
        load_graph(tmp_path / "g.store", binarise=True)


def test_an_existing_path_is_not_overwritten(tmp_path):
    write_store(named_graph(), tmp_path / "g.store")
    with pytest.raises(GraphError, match="already exists"):
        write_store(named_graph(), tmp_path / "g.store")


def test_a_link_that_leads_nowhere_is_something_that_exists(tmp_path):
    (tmp_path / "g.store").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(GraphError, match="already exists"):
        StoreWriter(tmp_path / "g.store")
    assert [path.name for path in tmp_path.iterdir()] == ["g.store"]


def write_badly(path):
    with StoreWriter(path) as writer:
        writer.array("indptr", np.zeros(2, np.int64))
        writer.array("indices", np.zeros(0, np.int32))
        writer.commit("g")


def test_a_failed_write_leaves_nothing(tmp_path):
    with pytest.raises(GraphError, match="lacks features"):
        write_badly(tmp_path / "g.store")
    assert os.listdir(tmp_path) == []


@pytest.fixture
def store(tmp_path):
    return write_store(named_graph(), tmp_path / "g.store")


@pytest.mark.parametrize("name", ["indptr", "indices", "x", "y", "node_names", "node_names_ends"])
def test_truncation_is_noticed_at_opening(store, name):
    file = store / f"{name}.npy"
    os.truncate(file, file.stat().st_size - 1)
    with pytest.raises(GraphError, match=f"{name}.npy has .* bytes instead of .*: it was cut short"):
        open_store(store, verify=False)


@pytest.mark.parametrize("name", ["indptr", "indices", "x", "y", "node_names"])
def test_a_flipped_bit_is_noticed_by_the_checksum(store, name):
    file = store / f"{name}.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(GraphError, match=f"{name}.npy is damaged"):
        verify_store(store)
    with pytest.raises(GraphError, match="damaged"):
        open_store(store)  # so small a store is verified whenever it is opened


def test_a_large_store_is_verified_on_request_only(store, monkeypatch):
    monkeypatch.setattr(store_reader, "VERIFY_BELOW", 0)
    content = bytearray((store / "x.npy").read_bytes())
    content[-1] ^= 1
    (store / "x.npy").write_bytes(content)
    assert open_store(store).n_nodes == 3
    with pytest.raises(GraphError, match=r"x\.npy is damaged"):
        verify_store(store)


def test_missing_files_and_manifests(store):
    manifest = store / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"three"', '"four"'))
    with pytest.raises(GraphError, match=r"manifest.json is damaged \(its checksum"):
        open_store(store)
    manifest.write_text(text[:-20])
    with pytest.raises(GraphError, match=r"manifest\.json is damaged"):
        open_store(store)
    manifest.write_text(json.dumps({**json.loads(text), "format": "imgcl-graph-store-9"}))
    with pytest.raises(GraphError, match="has format 'imgcl-graph-store-9', this version reads"):
        open_store(store)
    manifest.write_text(text)
    (store / "y.npy").unlink()
    with pytest.raises(GraphError, match=r"incomplete: y.npy is missing"):
        open_store(store)
    manifest.unlink()
    with pytest.raises(GraphError, match="is not a graph store"):
        open_store(store)
    with pytest.raises(InputError, match="is not a graph"):
        load_graph(store)


def test_a_larger_graph(tmp_path):
    graph = synthetic_graph(n_nodes=3000, n_features=4)
    assert_same(open_store(write_store(graph, tmp_path / "s.store")), graph)
