"""A relation column: the union by default, every relation by itself where it is asked for, also in a later import."""

import numpy as np
import pandas as pd
import pytest
from import_samples import do_import

from imgcl import Graph, InputError
from imgcl.data.importing import ImportSettings, import_tables
from imgcl.data.store import open_store, verify_store

NODES = pd.DataFrame({"id": list("abcd"), "f": [1.0, 2.0, 3.0, 4.0]})
EDGES = pd.DataFrame(
    {"src": list("abcad"), "dst": list("bcdba"), "kind": ["p", "p", "p", "s", "s"], "w": [1.0, 1.0, 1.0, 2.0, 5.0]}
)
KINDS = {"p": np.array([[0, 1, 2], [1, 2, 3]]), "s": np.array([[0, 3], [1, 0]])}


def test_union(tmp_path):
    report, graph = do_import(tmp_path, NODES, EDGES, features=("f",), relation="kind")
    assert report.relations == ("p", "s")
    assert (graph.n_edges, graph.relations) == (4, ())
    assert graph.summary()["relations"] == "union of p, s"


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_side_by_side(tmp_path, kind):
    _, graph = do_import(
        tmp_path, NODES, EDGES, kind, features=("f",), relation="kind", relations="side-by-side", weight="w"
    )
    expected = Graph.from_relations(
        KINDS, x=NODES[["f"]].to_numpy(), edge_weight={"s": [2.0, 5.0]}, relations="side-by-side"
    )
    assert graph.fingerprint == expected.fingerprint
    assert graph.relation("p").edge_weight is None
    verify_store(tmp_path / "g.store")


def test_like_keeps_the_relations_of_the_first(tmp_path):
    report, _ = do_import(tmp_path, NODES, EDGES, features=("f",), relation="kind", relations="side-by-side")
    new = pd.DataFrame({"src": list("ab"), "dst": list("cd"), "kind": ["p", "t"]})
    new.to_csv(tmp_path / "new.csv", index=False)
    NODES.to_csv(tmp_path / "nodes.csv", index=False)
    settings = ImportSettings(edges=str(tmp_path / "new.csv"), nodes=str(tmp_path / "nodes.csv"), like=report.path)
    again = import_tables(settings, tmp_path / "new.store")
    graph = open_store(again.path)
    assert [each.name for each in graph.relations] == ["p", "s"]
    assert (graph.n_edges, graph.relation("p").n_edges, graph.relation("s").n_edges) == (2, 1, 0)
    assert again.new_relations == ("t",)


@pytest.mark.parametrize(
    ("edges", "changes", "message"),
    [
        (EDGES, {"relation": "sort"}, "has no column 'sort' (`relation`): it has src, dst, kind, w"),
        (EDGES, {"relations": "side-by-side"}, "`relations` needs the column that names them: give it (`relation`)"),
        (EDGES, {"relation": "src"}, "`src` and `relation` are the same column 'src'"),
        (EDGES.assign(kind=["p", None, "p", "s", "s"]), {"relation": "kind"}, "is missing in some rows"),
        (
            pd.DataFrame({"src": ["a"] * 17, "dst": ["b"] * 17, "kind": [f"k{i}" for i in range(17)]}),
            {"relation": "kind", "relations": "side-by-side"},
            "has more than 16 different values: that many cannot be kept side by side; use `relations='union'`",
        ),
    ],
)
def test_what_is_refused(tmp_path, edges, changes, message):
    with pytest.raises(InputError) as caught:
        do_import(tmp_path, NODES, edges, features=("f",), **changes)
    assert message in str(caught.value)
