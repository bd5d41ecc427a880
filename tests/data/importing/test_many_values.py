"""Text columns with many values: the most common ones are features, the others share one, also in a later import."""

import numpy as np
import pandas as pd
import pytest
from import_samples import do_import

import imgcl
from imgcl.data.importing import ImportSettings, import_tables
from imgcl.data.store import open_store

TOWNS = ["york"] * 5 + ["bath"] * 3 + ["hull"] * 2 + [f"t{i}" for i in range(60)] + [None]
NODES = pd.DataFrame({"id": np.arange(len(TOWNS)), "town": TOWNS})
EDGES = pd.DataFrame({"src": NODES["id"][:-1].to_numpy(), "dst": NODES["id"][1:].to_numpy()})


@pytest.fixture
def imported(tmp_path):
    return do_import(tmp_path, NODES, EDGES, features=("town",), missing="zero", most_values=2)


def test_the_most_common_values_and_the_others(imported):
    report, graph = imported
    assert list(graph.feature_names) == ["town=bath", "town=york", "town=(other)"]
    assert report.limited == {"town": 63}
    assert graph.x.sum(axis=0).tolist() == [3, 5, 62]
    assert graph.x[0].tolist() == [0, 1, 0]
    assert graph.x[8].tolist() == [0, 0, 1]
    assert graph.x[-1].tolist() == [0, 0, 0]  # missing


def test_fifty_is_the_limit(tmp_path):
    report, graph = do_import(tmp_path, NODES, EDGES, features=("town",), missing="zero")
    assert graph.n_features == 51
    few = NODES.assign(town=[f"t{i % 50}" for i in range(len(NODES))])
    (tmp_path / "few").mkdir()
    report, graph = do_import(tmp_path / "few", few, EDGES, features=("town",))
    assert (graph.n_features, report.limited) == (50, {})


def test_new_values_are_others_too(imported, tmp_path):
    new = NODES.assign(town=["york", "leeds", *["bath"] * (len(NODES) - 2)])
    new.to_csv(tmp_path / "new.csv", index=False)
    settings = ImportSettings(
        edges=str(tmp_path / "edges.parquet"), nodes=str(tmp_path / "new.csv"), like=imported[0].path
    )
    report = import_tables(settings, tmp_path / "new.store")
    graph = open_store(report.path)
    assert list(graph.feature_names) == ["town=bath", "town=york", "town=(other)"]
    assert graph.x[:3].tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert (report.unseen, report.limited) == ({}, {})


def test_ties_are_broken_by_name(tmp_path):
    nodes = pd.DataFrame({"id": range(4), "town": ["b", "a", "d", "c"]})
    _, graph = do_import(tmp_path, nodes, EDGES[:3], features=("town",), most_values=3)
    assert list(graph.feature_names) == ["town=a", "town=b", "town=c", "town=(other)"]


def test_frames_say_it_too():
    with pytest.warns(UserWarning, match=r"column 'town' is text with 63 different values.*`most_values`") as said:
        imgcl.Graph.from_frames(NODES, EDGES, features="town", missing="zero")
    assert [each.filename for each in said] == [__file__]
