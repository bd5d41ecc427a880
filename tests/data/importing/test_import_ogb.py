"""OGB's node data sets from disk, in both layouts, with the same graph as result."""

import gzip

import numpy as np
import pytest

from imgcl._core.errors import DataNotFoundError, GraphError, InputError
from imgcl.data.importing import import_ogb, ogb_files
from imgcl.data.store import open_store

FEATURES = "0.5,1\n1.5,2\n2.5,3\n"


def write_tables(folder, labels="0\nnan\n2\n", count="3\n", edges="0,1\n1,2\n1,0\n", features=FEATURES):
    raw = folder / "ogbn_tiny" / "raw"
    raw.mkdir(parents=True)
    files = {"edge": edges, "node-feat": features, "node-label": labels, "num-node-list": count}
    for name, text in files.items():
        with gzip.open(raw / f"{name}.csv.gz", "wt") as handle:
            handle.write(text)
    return raw.parent


def write_arrays(folder, save=np.savez, dtype=np.float32, **changes):
    raw = folder / "ogbn_tiny" / "raw"
    raw.mkdir(parents=True)
    arrays = {
        "edge_index": np.array([[0, 1, 1], [1, 2, 0]]),
        "node_feat": np.array([[0.5, 1], [1.5, 2], [2.5, 3]], dtype),
        "num_nodes_list": np.array([3]),
        "num_edges_list": np.array([3]),
    }
    save(raw / "data.npz", **(arrays | changes))
    save(raw / "node-label.npz", node_label=np.array([[0], [np.nan], [2]], np.float32))
    return raw.parent


def write_zipped(folder):
    return write_arrays(folder, np.savez_compressed)


@pytest.mark.parametrize("write", [write_tables, write_arrays, write_zipped])
@pytest.mark.parametrize("at_once", [1, 2, 1 << 20])
def test_both_layouts(tmp_path, monkeypatch, write, at_once):
    monkeypatch.setattr(ogb_files, "VALUES_AT_ONCE", at_once)
    seen = []
    report = import_ogb(write(tmp_path), tmp_path / "tiny.store", on_progress=lambda *step: seen.append(step))
    graph = open_store(report.path)
    assert (graph.name, report.rows, graph.n_edges, graph.y.tolist()) == ("ogbn-tiny", 3, 2, [0, -1, 2])
    assert graph.indices.tolist() == [1, 0, 2, 1]
    assert (graph.x.tolist(), graph.x.dtype) == ([[0.5, 1], [1.5, 2], [2.5, 3]], np.float32)
    assert {("features", 3, 3), ("edges", 3, None), ("neighbour lists", 100, 100)} <= set(seen)


def test_half_precision_stays(tmp_path):
    graph = open_store(import_ogb(write_arrays(tmp_path, dtype=np.float16), tmp_path / "tiny.store").path)
    assert graph.x.dtype == np.float16


def test_a_directory_without_a_data_set(tmp_path):
    with pytest.raises(DataNotFoundError, match=r"has no edge\.csv\.gz \(nor data\.npz\)"):
        import_ogb(tmp_path, tmp_path / "x.store")
    raw = write_arrays(tmp_path) / "raw"
    (raw / "node-label.npz").unlink()
    with pytest.raises(DataNotFoundError, match=r"has no node-label\.npz"):
        import_ogb(raw, tmp_path / "x.store")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": "4\n"}, "node-label has 3 rows but num-node-list says 4"),
        ({"count": "2\n"}, "node-label has 3 rows but num-node-list says 2"),
        ({"count": "3\n3\n"}, "holds 2 graphs"),
        ({"edges": "0,1\n0,3\n"}, r"1 edges name nodes outside 0\.\.2"),
        ({"edges": "0,1\n0,4294967297\n"}, r"1 edges name nodes outside 0\.\.2"),  # 1, if it were cut to 32 bits
        ({"count": "0\n"}, "the graph is empty"),
        ({"count": "1000000000000000\n"}, "y takes 8,000,000,000,000,000 bytes, "),
        ({"labels": "0\n1\n-7\n"}, "node-label holds -7.0: labels must be"),
        ({"labels": "0\n1\n0.5\n"}, "node-label holds 0.5"),
        ({"labels": "0\n1\n1e300\n"}, "node-label holds 1e"),
        ({"features": "1,2\n1,inf\n1,2\n"}, "node-feat of node 1 is not finite"),
        ({"features": "1,2\n1,\n1,2\n"}, "node-feat of node 1 is not finite"),
        ({"features": "1,2\n1,-2e15\n1,2\n"}, r"node-feat of node 1 is -2e\+15 in column 1: .* up to 1e\+15; scale"),
    ],
)
def test_tables_that_do_not_fit(tmp_path, changes, message):
    with pytest.raises(GraphError, match=message):
        import_ogb(write_tables(tmp_path, **changes), tmp_path / "x.store")
    assert not (tmp_path / "x.store").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": "many\n"}, r"num-node-list\.csv\.gz is no table of numbers"),
        ({"count": "2.5\n"}, r"num-node-list\.csv\.gz holds 2\.5 where a whole number belongs"),
        ({"edges": "0\n1\n"}, r"edge\.csv\.gz is no table of numbers in 2 column"),
        ({"edges": "0,1\n1,\n"}, r"edge\.csv\.gz holds nan where a whole number belongs"),
        ({"edges": "0,1\n1,1.5\n"}, r"edge\.csv\.gz holds 1\.5 where"),
        ({"features": "1,a\n1,b\n1,c\n"}, r"node-feat\.csv\.gz is no table of numbers"),
    ],
)
def test_tables_of_something_else(tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        import_ogb(write_tables(tmp_path, **changes), tmp_path / "x.store")
    assert not (tmp_path / "x.store").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"node_feat": np.ones((2, 2), np.float32)}, "node-feat has 2 rows"),
        ({"node_feat": np.array([["a"]] * 3, dtype=object)}, r"data\.npz: array 'node_feat' .* pickled"),
        ({"node_feat": np.array([["a"]] * 3)}, r"node_feat has shape \(3, 1\) of <U1: expected numbers"),
        ({"node_feat": np.ones((3, 2, 2))}, "node_feat has shape"),
        ({"edge_index": np.array([0, 1])}, r"edge_index has shape \(2,\)"),
        ({"edge_index": np.zeros((3, 2), int)}, "expected two rows, where edges begin and end"),
        ({"edge_index": np.array([[0.5], [1]])}, r"holds 0\.5 where a whole number belongs"),
        ({"num_nodes_list": np.array(3)}, r"num_nodes_list has shape \(\)"),
    ],
)
def test_arrays_that_do_not_fit(tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        import_ogb(write_arrays(tmp_path, **changes), tmp_path / "x.store")


def test_arrays_that_were_cut_short(tmp_path):
    raw = write_arrays(tmp_path) / "raw"
    (raw / "data.npz").write_bytes((raw / "data.npz").read_bytes()[:-300])
    with pytest.raises(InputError, match=r"data\.npz: is not a readable \.npz file .*get the file again"):
        import_ogb(raw, tmp_path / "x.store")
