"""Tables of edges into a store: leftovers that are counted, weights, and one direction."""

import numpy as np
import pandas as pd
import pytest
from import_samples import EDGES, NODES, do_import, parquet

from imgcl._core.errors import InputError
from imgcl.graph import Graph
from imgcl.graph.structure import structural_features


def test_dangling_edges(tmp_path):
    edges = pd.concat([EDGES, pd.DataFrame({"src": ["n1", "who"], "dst": ["nobody", "n1"]})])
    with pytest.raises(InputError, match=r"2 edges name nodes that .*, for example '(nobody|who)': use `on_dangling"):
        do_import(tmp_path, edges=edges)
    report, graph = do_import(tmp_path, edges=edges, on_dangling="drop")
    assert (report.rows, report.dangling, graph.n_edges) == (8, 2, 2)


def test_missing_ends_are_dangling(tmp_path):
    edges = pd.DataFrame({"src": ["n7", None], "dst": ["n1", "n1"]})
    report, graph = do_import(tmp_path, edges=edges, on_dangling="drop")
    assert (report.dangling, graph.n_edges) == (1, 1)


def test_weights_and_direction(tmp_path):
    edges = EDGES.assign(w=[1.0, 2.0, 0.0, 1.0, 1.0, np.nan])
    report, graph = do_import(tmp_path, edges=edges, weight="w", directed_as="mutual")
    assert (report.weightless, graph.n_edges) == (2, 1)  # n7 -> n3 points one way only
    assert graph.indices.tolist() == [1, 0]
    assert graph.edge_weight.tolist() == [1.5, 1.5]  # 1 one way, 2 the other
    assert report.weights == (1.5, 1.5, 1.5)


@pytest.mark.parametrize("directed_as", ["in", "out"])
def test_one_direction(tmp_path, directed_as):
    edges = pd.DataFrame({"src": ["n7", "n7", "n1", "n3"], "dst": ["n1", "n1", "n3", "n1"], "w": [1.0, 2.5, 4.0, 6.0]})
    report, graph = do_import(tmp_path, edges=edges, weight="w", directed_as=directed_as)
    seen = {"in": [[0, 0, 0], [3.5, 0, 6], [0, 4, 0]], "out": [[0, 3.5, 0], [0, 0, 4], [0, 6, 0]]}[directed_as]
    assert graph.messages.adjacency.toarray()[:3, :3].tolist() == seen
    assert graph.adjacency.toarray()[:3, :3].tolist() == [[0, 3.5, 0], [3.5, 0, 5], [0, 5, 0]]
    assert "mirrored" not in str(report.cleaning)
    expected = Graph.from_edges(
        [[0, 0, 1, 2], [1, 1, 2, 1]], x=graph.x, edge_weight=edges["w"], directed_as=directed_as
    )
    assert graph.fingerprint == expected.fingerprint
    assert graph.summary()["direction"] == expected.summary()["direction"]


def test_one_direction_and_relations_exclude_each_other(tmp_path):
    changes = {"directed_as": "in", "relation": "kind", "relations": "side-by-side"}
    with pytest.raises(InputError, match=r"`directed_as='in'` and `relations='side-by-side'`: a relation's edges link"):
        do_import(tmp_path, edges=EDGES.assign(kind="a"), **changes)


def test_weights_of_rows_that_join_the_same_nodes_are_summed(tmp_path):
    edges = pd.DataFrame({"src": ["n7", "n7", "n1", "n3"], "dst": ["n1", "n1", "n3", "n1"], "w": [1.0, 2.5, 4.0, 4.0]})
    report, graph = do_import(tmp_path, edges=edges, weight="w")
    assert graph.adjacency.toarray()[:3, :3].tolist() == [[0, 3.5, 0], [3.5, 0, 4], [0, 4, 0]]
    assert str(report.cleaning) == (
        "1 duplicate edges merged and their weights summed, 1 one-directional edges mirrored"
    )


def test_weights_of_1_are_none(tmp_path):
    report, graph = do_import(tmp_path, edges=EDGES.assign(w=1).iloc[:2], weight="w")
    assert report.weights is None
    assert graph.edge_weight is None


def test_structural_features_walk_by_weight(tmp_path):
    edges = EDGES.assign(w=[1.0, 2.0, 3.0, 1.0, 1.0, 5.0])
    _, graph = do_import(tmp_path, edges=edges, nodes=NODES[["id"]], weight="w", features=())
    assert graph.x == pytest.approx(structural_features(graph))


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ("-0.5", "weights must be above 0 and finite; leave out edges that are none"),
        ("inf", "weights must be above 0 and finite"),
        ("1e-40", "weights must lie between 1e-15 and 1e+15; scale them first"),
        ("much", "weights must be numbers"),
    ],
)
def test_weights_that_are_refused(tmp_path, value, rule):
    edges = EDGES.assign(w=["1", value, value, "2", "", "1"])
    with pytest.raises(InputError) as caught:
        do_import(tmp_path, edges=edges, kind="csv", weight="w")
    assert str(caught.value).startswith(
        f"{tmp_path}/edges.csv: column 'w' (`weight`) is {value!r} (2 such rows): {rule}"
    )


def test_weights_that_are_no_numbers(tmp_path):
    edges = parquet(
        tmp_path / "w.parquet",
        ("'n7'", "'n1'", "'nan'::DOUBLE"), ("'n1'", "'n3'", "0.5"), ("'n3'", "'n2'", "NULL"),
        columns="src, dst, w",
    )  # fmt: skip
    text = parquet(tmp_path / "text.parquet", ("'n7'", "'n1'", "'much'"), columns="src, dst, w")
    with pytest.raises(
        InputError, match=r"text\.parquet: column 'w' \(`weight`\) is 'much' \(1 such rows\): weights must"
    ):
        do_import(tmp_path, edges=text, weight="w")
    report, graph = do_import(tmp_path, edges=edges, weight="w")
    assert (report.weightless, graph.indices.tolist()) == (2, [2, 1])


def test_a_file_that_goes_wrong_far_down(tmp_path):
    edges = pd.DataFrame({"src": "n7", "dst": "n1", "w": ["1"] * 300_000 + ["much"]})
    with pytest.raises(InputError, match=r"edges\.csv: column 'w' \(`weight`\) is 'much'"):
        do_import(tmp_path, edges=edges, kind="csv", weight="w")
