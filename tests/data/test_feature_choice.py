"""A graph without features gets structural ones, said in one line; any graph on request."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl.data import about, load_graph
from imgcl.graph import Graph
from imgcl.graph.structure import is_structural

EDGES = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])


def parts() -> dict[str, Any]:
    """A ring of five nodes in the layout of gnn-benchmark, without features."""
    return {"adj_data": np.ones(5), "adj_indices": EDGES[1], "adj_indptr": np.arange(6), "adj_shape": [5, 5]}


def test_said_once_where_there_are_none(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    np.savez(tmp_path / "ring.npz", **parts(), labels=[0, 1, 0, 1, 0])
    with caplog.at_level(logging.WARNING, "imgcl"):
        graph = load_graph(tmp_path / "ring.npz")
    assert (graph.n_nodes, graph.n_edges, graph.n_features) == (5, 5, 65)
    assert caplog.messages == [
        "graph 'ring' has no features: structural ones (64 of random walks, and the log degree) are used"
    ]


def test_nothing_is_said_or_made_where_it_was_chosen(caplog: pytest.LogCaptureFixture) -> None:
    bare = Graph.from_edges(EDGES)
    with caplog.at_level(logging.WARNING, "imgcl"):
        assert load_graph(bare, features="own") is bare
        made = load_graph(bare, features="structure")
    assert (bare.n_features, made.n_features, caplog.messages) == (0, 65, [])
    assert load_graph(made, features="structure") is made


def test_own_features_are_kept_unless_replaced() -> None:
    assert load_graph("synthetic").n_features == 32
    made = load_graph("synthetic:n_nodes=200,features=structure")
    assert (made.n_nodes, is_structural(made.feature_names)) == (200, True)
    assert made.fingerprint == load_graph("synthetic", n_nodes=200, features="structure").fingerprint
    with pytest.raises(InputError, match="features is 'walks': choose from auto, own, structure"):
        load_graph("synthetic:features=walks")
    assert about("digits:features=structure") == about("digits")


def test_every_source_may_have_no_features(tmp_path: Path) -> None:
    np.savez(tmp_path / "list.npz", edges=EDGES.T)
    for source in (tmp_path / "list.npz", nx.cycle_graph(5), Graph.from_edges(EDGES, n_nodes=5)):
        assert load_graph(source, features="own").x.shape == (5, 0)


@pytest.mark.parametrize(
    ("name", "file"), [("lastfm-asia", "lastfm_asia.npz"), ("wiki-cs-structure", "wikics_nofeat.npz")]
)
def test_public_graphs_without_features(tmp_path: Path, name: str, file: str) -> None:
    """Features that a download brings are left out: the name means the same graph everywhere."""
    np.savez(tmp_path / file, edges=EDGES.T, features=np.eye(5), target=[0, 0, 1, 1, 1])
    with_features = load_graph(name, data_dir=tmp_path, features="own")
    np.savez(tmp_path / file, **parts(), labels=[0, 0, 1, 1, 1])
    assert load_graph(name, data_dir=tmp_path, features="own").fingerprint == with_features.fingerprint
    assert with_features.n_features == 0
