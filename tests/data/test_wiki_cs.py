"""The layout of Wiki-CS, on a small file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imgcl._core.errors import DataNotFoundError, GraphError
from imgcl.data import load_graph
from imgcl.data.wiki_cs import read_wiki_cs

SMALL = {
    "features": [[0.5, -1.0], [1.0, 0.0], [0.0, 2.0]],
    "labels": [0, 1, 0],
    "links": [[1, 1], [0, 2], []],
    "train_masks": [[True, False, False]],
    "test_mask": [False, False, True],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data.json"
    path.write_text(json.dumps(SMALL))
    return path


def check(graph: Any) -> None:
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    np.testing.assert_array_equal(graph.x, SMALL["features"])
    np.testing.assert_array_equal(graph.y, [0, 1, 0])


@pytest.mark.parametrize("name", ["data.json", "wiki-cs.json", "wiki_cs.json", "wikics.json", "WikiCS/raw/data.json"])
def test_found_in_the_data_directory(file: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "data" / name
    target.parent.mkdir(parents=True)
    file.rename(target)
    graph = load_graph("wiki-cs", data_dir=tmp_path / "data")
    assert graph.name == "wiki-cs"
    check(graph)


def test_read_by_path(file: Path) -> None:
    check(load_graph(file))
    with pytest.raises(DataNotFoundError, match="there is no file"):
        read_wiki_cs(file.with_name("other.json"))


def test_a_node_without_links_and_no_links_at_all(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(json.dumps({**SMALL, "links": [[], [], []]}))
    assert read_wiki_cs(path).n_edges == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not readable JSON"),
        ("[1, 2]", "the list 'features' is missing"),
        ({**SMALL, "links": None}, "the list 'links' is missing"),
        ({**SMALL, "links": [[1], [0]]}, "links has length 2 but features has 3 rows"),
        ({**SMALL, "links": [[1], [0], [7]]}, r"edge 2 is \(2, 7\)"),
        ({**SMALL, "links": [[1], [0], 5]}, "links must be a list of node numbers"),
        ({**SMALL, "links": [[1], [0], ["a"]]}, "node numbers must be integers"),
        ({**SMALL, "features": [[1], [1, 2], [3]]}, "rows differ in length"),
        ({**SMALL, "features": [[1], [float("nan")], [3]]}, r"x\[1, 0\] is nan"),
        ({**SMALL, "labels": [0, 1]}, "labels have shape"),
    ],
)
def test_bad_files(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "data.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(GraphError, match=message) as caught:
        read_wiki_cs(path)
    assert str(path) in str(caught.value)
