"""The archives of SNAP with MUSAE's graphs."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from imgcl._core.errors import DataNotFoundError, GraphError
from imgcl.data import load_graph
from imgcl.data.musae import read_musae

PARTS = {
    "large/musae_edges.csv": "id_1,id_2\n0,1\n1,2\n2,2\n",
    "large/musae_features.json": json.dumps({"2": [3, 0, 3], "0": [], "1": [1]}),
    "large/musae_target.csv": 'id,page,page_type\n1,"a, ""b""\n",tvshow\n0,x,company\n2,y,tvshow\n',
    "large/README.txt": "see citing.txt",
}


def write(path: Path, **changes: str | None) -> Path:
    """The archive; ``edges="..."`` replaces the file of that name, ``None`` leaves it out."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in PARTS.items():
            given = changes.get(name.split("_")[-1].split(".")[0], text)
            if given is not None:
                archive.writestr(name, given)
    return path


def test_edges_features_and_classes(tmp_path: Path) -> None:
    graph = load_graph(write(tmp_path / "pages.zip"))
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert not isinstance(graph.x, np.ndarray)
    np.testing.assert_array_equal(graph.x.toarray(), [[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 1]])
    assert graph.y is not None
    assert (graph.y.tolist(), graph.class_names) == ([0, 1, 1], ("company", "tvshow"))
    assert (graph.name, graph.cleaning.self_loops) == ("pages", 1)


def test_the_data_set_reads_either_file(tmp_path: Path) -> None:
    write(tmp_path / "facebook_large.zip")
    graph = load_graph("facebook-pages", data_dir=tmp_path)
    assert (graph.name, graph.n_nodes, graph.n_features) == ("facebook-pages", 3, 4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edges": None}, "it has 0 files that end in _edges.csv: expected one"),
        ({"edges": "id_1,id_2\n0,one\n"}, "is not an archive of edges, features and classes"),
        ({"edges": "id_1,id_2\n0,7\n"}, "node numbers must be 0..2"),
        ({"features": "[1, 2"}, "is not an archive of edges"),
        ({"features": json.dumps({"0": [0], "1": [0]})}, "is not an archive of edges"),
        ({"features": json.dumps({"0": [-1], "1": [0], "2": [0]})}, "features must be 0.."),
        ({"features": json.dumps({"0": [1 << 40], "1": [0], "2": [0]})}, "features must be 0.."),
        ({"target": "id,target\n5,1\n0,1\n1,1\n"}, "is not an archive of edges"),
    ],
)
def test_what_is_not_a_graph(tmp_path: Path, changes: dict[str, str | None], message: str) -> None:
    path = write(tmp_path / "bad.zip", **changes)
    with pytest.raises(GraphError, match=message) as caught:
        read_musae(path)
    assert str(path) in str(caught.value)


def test_no_file_and_no_archive(tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError, match="there is no file"):
        read_musae(tmp_path / "none.zip")
    (tmp_path / "text.zip").write_text("please log in")
    with pytest.raises(GraphError, match="is not an archive"):
        read_musae(tmp_path / "text.zip")
