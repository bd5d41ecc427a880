"""OGB's node data sets from disk, in both layouts, with the same graph as result."""

import gzip

import numpy as np
import pytest

from imgcl.errors import DataNotFoundError, GraphError, InputError
from imgcl.ingest import import_ogb, ogb_files
from imgcl.store import open_store


def write_tables(folder, labels="0\nnan\n2\n", count="3\n", edges="0,1\n1,2\n1,0\n"):
    raw = folder / "ogbn_tiny" / "raw"
    raw.mkdir(parents=True)
    files = {"edge": edges, "node-feat": "0.5,1\n1.5,2\n2.5,3\n", "node-label": labels, "num-node-list": count}
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
    ],
)
def test_tables_that_do_not_fit(tmp_path, changes, message):
    with pytest.raises(GraphError, match=message):
        import_ogb(write_tables(tmp_path, **changes), tmp_path / "x.store")
    assert not (tmp_path / "x.store").exists()


def test_arrays_that_do_not_fit(tmp_path):
    with pytest.raises(GraphError, match="node-feat has 2 rows"):
        import_ogb(write_arrays(tmp_path / "a", node_feat=np.ones((2, 2), np.float32)), tmp_path / "x.store")
    with pytest.raises(InputError, match=r"data\.npz cannot be read .*download the data set again"):
        import_ogb(write_arrays(tmp_path / "b", node_feat=np.array([["a"]] * 3, dtype=object)), tmp_path / "x.store")
    raw = write_arrays(tmp_path / "c") / "raw"
    (raw / "data.npz").write_bytes((raw / "data.npz").read_bytes()[:-300])
    with pytest.raises(InputError, match=r"data\.npz cannot be read"):
        import_ogb(raw, tmp_path / "x.store")
