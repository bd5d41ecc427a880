"""One function for every source, and helpful words when it cannot."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch

from imgcl._core.errors import DataNotFoundError, GraphError, InputError
from imgcl.data import about, dataset_table, load_graph
from imgcl.graph import Graph

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # torch_geometric still uses torch.jit at import
    from torch_geometric.data import Data


@pytest.fixture(autouse=True)
def nothing_from_outside(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test but those marked ``realdata`` sees the machine's own data, and none its cache."""
    if "realdata" not in request.keywords:
        monkeypatch.delenv("IMGCL_DATA", raising=False)
    monkeypatch.setenv("IMGCL_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def arrays() -> dict[str, Any]:
    """Two linked nodes in the layout of gnn-benchmark."""
    adjacency = {"adj_data": [1.0], "adj_indices": [1], "adj_indptr": [0, 1, 1], "adj_shape": [2, 2]}
    return {**adjacency, "attr_matrix": [[0.5, 0.0], [0.0, 3.0]], "labels": [0, 1]}


def test_a_graph_is_returned_as_it_is() -> None:
    graph = Graph.from_edges([[0], [1]], x=np.ones((2, 1)))
    assert load_graph(graph) is graph
    with pytest.raises(InputError, match="a Graph has no option 'seed': it takes none"):
        load_graph(graph, seed=1)


def test_other_libraries_objects() -> None:
    data = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, 2]]))
    network = nx.path_graph(3)
    for graph in (load_graph(data, name="p"), load_graph(network, x=np.ones((3, 1)), name="p")):
        assert (graph.name, graph.n_nodes, graph.n_edges) == ("p", 3, 2)


@pytest.mark.parametrize("option", ["foo", "n_nodes"])
def test_an_option_that_other_libraries_objects_do_not_have(option: str) -> None:
    data = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, 2]]))
    with pytest.raises(InputError, match=f"torch_geometric Data has no option '{option}': choose from weighted, dir"):
        load_graph(data, **{option: 3})
    with pytest.raises(InputError, match=f"a networkx Graph has no option '{option}': choose from x, y, feature"):
        load_graph(nx.path_graph(3), **{option: "club"})


def test_objects_are_recognised_without_importing_their_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch_geometric.data")
    monkeypatch.delitem(sys.modules, "networkx")
    with pytest.raises(InputError, match="a dict is not a graph: give a data set name"):
        load_graph({})  # type: ignore[arg-type]


def test_paths(tmp_path: Path, arrays: dict[str, Any]) -> None:
    np.savez(tmp_path / "Mine.npz", **arrays)
    assert load_graph(tmp_path / "Mine.npz").name == "Mine"
    assert load_graph(str(tmp_path / "Mine.npz"), binarise=True, name="x").x.max() == 1
    with pytest.raises(InputError, match="has no option 'binarize': did you mean 'binarise'"):
        load_graph(tmp_path / "Mine.npz", binarize=True)
    with pytest.raises(DataNotFoundError, match=r"there is no file .*other\.npz"):
        load_graph(tmp_path / "other.npz")
    with pytest.raises(DataNotFoundError, match="there is no file some/thing, and no data set"):
        load_graph("some/thing")
    (tmp_path / "mine.csv").touch()
    with pytest.raises(InputError, match=r"mine.csv is not a graph file: expected one ending in \.npz or \.json"):
        load_graph(tmp_path / "mine.csv")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("amazon", "did you mean 'amazon-computers' or 'amazon-photo' or 'amazon-fraud'?"),
        ("wikics", "did you mean 'wiki-cs'"),
        ("Coraa", "did you mean 'cora'?"),
        ("dlbp", "did you mean 'dblp'"),
        ("nothing-like-it", "choose from amazon-computers,"),
        ("", "choose from amazon-computers,"),
    ],
)
def test_unknown_names(name: str, hint: str) -> None:
    with pytest.raises(InputError, match=re.escape(hint)):
        load_graph(name)


def test_names_are_forgiving(tmp_path: Path, arrays: dict[str, Any]) -> None:
    np.savez(tmp_path / "amazon_photo.npz", **arrays)
    assert load_graph("Amazon_Photo", data_dir=tmp_path).name == "amazon-photo"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("amazon-computers", "amazon_electronics_computers.npz"),
        ("amazon-photo", "Amazon/Photo/raw/amazon_electronics_photo.npz"),
        ("coauthor-cs", "ms_academic_cs.npz"),
        ("coauthor-physics", "coauthor-physics.npz"),
        ("dblp", "dblp.npz"),
    ],
)
@pytest.mark.parametrize("how", ["argument", "variable"])
def test_raw_files_in_the_data_directory(
    tmp_path: Path, arrays: dict[str, Any], monkeypatch: pytest.MonkeyPatch, name: str, file: str, how: str
) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    np.savez(tmp_path / file, **arrays)
    if how == "variable":
        monkeypatch.setenv("IMGCL_DATA", str(tmp_path))
        graph = load_graph(name)
    else:
        graph = load_graph(name, data_dir=tmp_path)
    assert graph.name == name
    np.testing.assert_array_equal(np.unique(graph.x), [0, 1])  # binarised
    row = next(row for row in dataset_table(data_dir=tmp_path) if row.name == name)
    assert row.present
    assert row.to_dict()["path"] == str(tmp_path / file)


def test_another_graph_of_the_same_file_name(tmp_path: Path) -> None:
    n = 19793
    pointers = np.zeros(n + 1, dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    parts = {"data": none, "indices": none, "indptr": pointers}
    arrays = {f"{prefix}_{part}": value for prefix in ("adj", "attr") for part, value in parts.items()}
    np.savez(tmp_path / "cora.npz", **arrays, adj_shape=[n, n], attr_shape=[n, 5])
    with pytest.raises(GraphError, match=r"holds CoraFull \(19793 nodes\), but 'cora' here is the graph with 2708"):
        load_graph("cora", data_dir=tmp_path)
    assert load_graph(tmp_path / "cora.npz").n_nodes == n


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("pubmed", "pubmed.npz"),
        ("facebook-pages", "facebook_pagepage.npz"),
        ("tolokers", "tolokers.npz"),
        ("amazon-fraud", "amazon_fraud_upu.npz"),
        ("uai2010", "uai2010.npz"),
        ("johns-hopkins", "johns_hopkins.npz"),
    ],
)
def test_features_that_torch_geometric_leaves_alone(
    tmp_path: Path, arrays: dict[str, Any], name: str, file: str
) -> None:
    np.savez(tmp_path / file, **arrays)
    graph = load_graph(name, data_dir=tmp_path)
    np.testing.assert_array_equal(graph.x, arrays["attr_matrix"])


def test_classes_get_the_names_that_the_file_does_not_have(tmp_path: Path, arrays: dict[str, Any]) -> None:
    np.savez(tmp_path / "tolokers.npz", **arrays)
    assert load_graph("tolokers", data_dir=tmp_path).class_names == ("ok", "banned")
    np.savez(tmp_path / "tolokers.npz", **arrays, class_names=["good", "bad"])
    assert load_graph("tolokers", data_dir=tmp_path).class_names == ("good", "bad")


def test_a_graph_that_is_in_the_data_directory_alone(tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError, match=r"has no address .* put amazon_fraud_upu.npz into a directory"):
        load_graph("amazon-fraud", data_dir=tmp_path)
    row = next(row for row in dataset_table() if row.name == "amazon-fraud")
    assert (row.origin, row.file, row.present) == (None, "amazon_fraud_upu.npz", False)
    assert "votes that define the class" in row.about


def test_table_lists_everything() -> None:
    rows = {row.name: row for row in dataset_table()}
    assert len(rows) == 18
    assert rows["dblp"].nodes == 17716
    assert not rows["dblp"].present
    assert rows["digits"].present
    assert all(row.about for row in rows.values())
    digits = load_graph("digits")
    assert (rows["digits"].edges, rows["digits"].features) == (digits.n_edges, digits.n_features)


def test_only_data_sets_are_known_by_their_names(tmp_path: Path) -> None:
    assert about("Amazon_Photo") == about("amazon-photo") is not None
    assert about("digits.npz") is None
    assert about(str(tmp_path / "digits")) is None


@pytest.mark.realdata
@pytest.mark.parametrize(
    "name",
    [
        *("amazon-computers", "amazon-photo", "dblp", "cora", "citeseer", "pubmed", "facebook-pages", "tolokers"),
        *("amazon-fraud", "uai2010", "johns-hopkins"),
    ],
)
def test_real_graphs_have_their_published_sizes(name: str) -> None:
    row = next(row for row in dataset_table() if row.name == name)
    if row.path is None:
        pytest.skip(f"{row.file} is not in IMGCL_DATA")
    graph = load_graph(name)
    assert (graph.n_nodes, graph.n_edges, graph.n_features, graph.n_classes) == (
        row.nodes,
        row.edges,
        row.features,
        row.classes,
    )
    assert isinstance(graph.x, np.ndarray) == (name.startswith("amazon") or name in ("pubmed", "tolokers", "uai2010"))
    values = graph.x if isinstance(graph.x, np.ndarray) else graph.x.data
    assert (set(np.unique(values)) <= {0.0, 1.0}) == (name not in ("pubmed", "tolokers", "amazon-fraud"))


def test_options_may_follow_the_name_of_a_built_in_graph() -> None:
    graph = load_graph("synthetic:class_sizes=60/30/10,homophily=0.7, mean_degree=6,degree_exponent=none,seed=1")
    same = load_graph("synthetic", class_sizes=[60, 30, 10], homophily=0.7, mean_degree=6, degree_exponent=None, seed=1)
    assert graph.fingerprint == same.fingerprint
    assert load_graph("synthetic:seed=1", seed=2).fingerprint == load_graph("synthetic:seed=2").fingerprint


def test_whole_numbers_may_be_written_as_floats() -> None:
    assert load_graph("synthetic:n_nodes=1e3").n_nodes == 1000
    assert load_graph("synthetic:class_sizes=1e2/50").class_sizes.tolist() == [100, 50]
    assert load_graph("digits:neighbours=5.0").fingerprint == load_graph("digits", neighbours=5).fingerprint
    for options in ("neighbours=none", "neighbours=2.5"):
        with pytest.raises(InputError, match=r"neighbours is .*: give a whole number"):
            load_graph(f"digits:{options}")


@pytest.mark.parametrize("options", ["", "seed", "seed=one", "class_sizes=1/x", "=3"])
def test_options_that_cannot_be_read(options: str) -> None:
    with pytest.raises(InputError, match="write key=value with a number"):
        load_graph(f"synthetic:{options}")
