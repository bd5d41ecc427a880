"""``Graph.from_frames`` is an import without files: the same graph, whatever the columns are made of."""

import datetime
import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from import_samples import EDGES, NODES, do_import
from typer.testing import CliRunner

import imgcl
from imgcl import Graph, InputError
from imgcl.cli import app
from imgcl.data.importing import ImportSettings, import_tables

PAIR = pd.DataFrame({"src": ["a", "b"], "dst": ["b", "c"]})


def same(one: Graph, other: Graph) -> None:
    """Equal in everything but the last digit of means that DuckDB adds up in any order."""
    np.testing.assert_array_equal(one.indptr, other.indptr)
    np.testing.assert_array_equal(one.indices, other.indices)
    np.testing.assert_allclose(one.x, other.x, rtol=1e-6, atol=1e-6)
    assert (one.y is None) == (other.y is None)
    assert one.y is None or one.y.tolist() == other.y.tolist()
    for names in ("node_names", "feature_names", "class_names"):
        assert list(getattr(one, names) or ()) == list(getattr(other, names) or ())
    assert one.cleaning == other.cleaning


def features(values, **rules):
    """The features of three nodes whose one column has these values."""
    nodes = pd.DataFrame({"id": ["a", "b", "c"], "f": values})
    graph = Graph.from_frames(nodes, PAIR, features="f", **rules)
    return list(graph.feature_names), graph.x.tolist()


def labels(values, **rules):
    """The labels of three nodes and the classes."""
    nodes = pd.DataFrame({"id": ["a", "b", "c"], "f": [1, 2, 3], "kind": values})
    graph = Graph.from_frames(nodes, PAIR, features="f", label="kind", **rules)
    return graph.y.tolist(), graph.class_names


def test_the_graph_is_that_of_an_import(tmp_path):
    rules = {"features": ("f*", "colour"), "label": "kind", "missing": "mean"}
    _, stored = do_import(tmp_path, kind="csv", **rules)
    graph = Graph.from_frames(NODES, EDGES, **rules, name="mine")
    same(graph, stored)
    assert graph.fingerprint == stored.fingerprint
    assert graph.name == "mine"
    assert graph.node_names == ("n7", "n1", "n3", "n2")  # a tuple: nothing of the scratch directory is left
    assert not isinstance(graph.x.base, np.memmap)


def test_the_command_line_gives_the_same(tmp_path):
    NODES.to_csv(tmp_path / "nodes.csv", index=False)
    EDGES.to_csv(tmp_path / "edges.csv", index=False)
    command = ["import", "--edges", f"{tmp_path}/edges.csv", "--nodes", f"{tmp_path}/nodes.csv", "--features", "f1,f2"]
    done = CliRunner().invoke(app, [*command, "--label", "kind", "--standardise", "--out", f"{tmp_path}/g.store"])
    assert done.exit_code == 0, done.output
    graph = Graph.from_frames(NODES, EDGES, features=["f1", "f2"], label="kind", standardise=True)
    same(graph, imgcl.load_graph(tmp_path / "g.store"))


words = st.sampled_from(["red", "blue", "grün", "a b", "x,y", 'quo"te'])
columns = st.one_of(
    st.lists(st.integers(-5, 5), min_size=6, max_size=6),
    st.lists(st.one_of(st.none(), st.floats(-100, 100, width=32)), min_size=6, max_size=6),
    st.lists(st.one_of(st.none(), words), min_size=6, max_size=6),
    st.lists(st.booleans(), min_size=6, max_size=6),
).filter(lambda values: any(value is not None for value in values))
classes = st.one_of(
    st.lists(st.one_of(st.none(), words), min_size=6, max_size=6).map(pd.Series),
    st.lists(words, min_size=6, max_size=6).map(lambda values: pd.Series(values, dtype="category")),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=6, max_size=6).map(lambda v: pd.Series(v, dtype="boolean")),
    st.lists(st.sampled_from([None, 2, 10]), min_size=6, max_size=6).map(lambda v: pd.Series(v, dtype="Int64")),
)


@settings(max_examples=8, deadline=None)
@given(
    columns=st.lists(columns, min_size=1, max_size=3),
    label=st.one_of(st.none(), classes),
    ends=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12),
    missing=st.sampled_from(["mean", "zero"]),
    standardise=st.booleans(),
)
def test_any_table_is_read_as_its_csv_file(columns, label, ends, missing, standardise):
    nodes = pd.DataFrame({"id": [f"n{i}" for i in range(6)]} | {f"f{i}": each for i, each in enumerate(columns)})
    if label is not None:
        nodes["kind"] = label
    edges = pd.DataFrame([(f"n{u}", f"n{v}") for u, v in ends], columns=["src", "dst"])
    rules = {"features": ("f*",), "label": None if label is None else "kind", "missing": missing}
    rules["standardise"] = standardise
    with tempfile.TemporaryDirectory() as folder:
        nodes.to_csv(f"{folder}/nodes.csv", index=False)
        edges.to_csv(f"{folder}/edges.csv", index=False)
        chosen = ImportSettings(edges=f"{folder}/edges.csv", nodes=f"{folder}/nodes.csv", **rules)
        stored = imgcl.load_graph(import_tables(chosen, Path(folder) / "g.store").path)
        same(Graph.from_frames(nodes, edges, **rules), stored)


@pytest.mark.parametrize(
    ("values", "names", "rows"),
    [
        (pd.Series([3, 1, 2], dtype="category"), ["f=1", "f=2", "f=3"], [[0, 0, 1], [1, 0, 0], [0, 1, 0]]),
        (np.array([1.5, 2.5, 3.5], dtype=np.float16), ["f"], [[1.5], [2.5], [3.5]]),
        (np.array([1, 2, 3], dtype=">i4"), ["f"], [[1], [2], [3]]),
        (pd.array([1, 0, 1], dtype="Sparse[int]"), ["f"], [[1], [0], [1]]),
        (pd.array([True, False, True], dtype="boolean"), ["f"], [[1], [0], [1]]),
        (pd.Series([1, 2.5, 3], dtype=object), ["f"], [[1], [2.5], [3]]),
        (pd.Series([Decimal("1.5"), Decimal(2), Decimal(3)], dtype=object), ["f"], [[1.5], [2], [3]]),
        (pd.Series([1, "x", 1.0], dtype=object), ["f=1", "f=x"], [[1, 0], [0, 1], [1, 0]]),
        (pd.to_datetime(["2024-02-01", "2024-01-01", "2024-02-01"]),
         ["f=2024-01-01", "f=2024-02-01"], [[0, 1], [1, 0], [0, 1]]),
        (pd.Series([datetime.date(2024, 1, 1)] * 3, dtype=object), ["f=2024-01-01"], [[1], [1], [1]]),
    ],
)  # fmt: skip
def test_what_columns_become(values, names, rows):
    assert features(values) == (names, rows)


def test_missing_values_of_every_kind():
    for absent in (None, np.nan, pd.NA):
        assert features(pd.Series([1.0, absent, 3.0], dtype=object), missing="mean")[1] == [[1], [2], [3]]
        assert features(pd.Series(["x", absent, "y"], dtype=object), missing="zero")[1] == [[1, 0], [0, 0], [0, 1]]
    with pytest.raises(InputError, match=r"column 'f' has 1 missing values: fill them with `missing='mean'`"):
        features(pd.array([1, None, 3], dtype="Int64"))


@pytest.mark.parametrize(
    ("values", "numbers", "names"),
    [
        (["tea", None, "salt"], [1, -1, 0], ("salt", "tea")),
        ([True, None, False], [1, -1, 0], ("False", "True")),
        (pd.Series([10, 2, -1]), [1, 0, -1], ("2", "10")),
        (pd.Series([10.0, np.nan, 2.0]), [1, -1, 0], ("2", "10")),
        (pd.Series(["b", None, "a"], dtype=pd.CategoricalDtype(["z", "b", "a"])), [1, -1, 0], ("a", "b")),
        (pd.Series([10, 2, 10], dtype="category"), [1, 0, 1], ("2", "10")),
        (pd.Series(["NA", "", "nan"]), [0, -1, -1], ("NA",)),  # typed text: Namibia is a country
    ],
)
def test_labels_of_every_kind(values, numbers, names):
    assert labels(values) == (numbers, names)


def test_ids_are_a_column_or_the_index():
    nodes = pd.DataFrame({"age": [1.0, 2.0, 3.0]}, index=pd.Index([70, 80, 90], name="user"))
    edges = pd.DataFrame({"from": [70, 80], "to": [80, 90]})
    graph = Graph.from_frames(nodes, edges, id=None, src="from", dst="to", features="*")
    assert graph.node_names == ("70", "80", "90")
    assert graph.feature_names == ("age",)
    same(graph, Graph.from_frames(nodes.reset_index(), edges, id="user", src="from", dst="to", features="*"))


def test_edges_alone_and_numbers_as_column_names():
    graph = Graph.from_frames(None, pd.DataFrame({0: ["x", "y"], 1: ["y", "z"]}), src=0, dst=1)
    assert graph.node_names == ("x", "y", "z")
    assert graph.feature_names[0].startswith("structure/")


def test_the_order_of_many_rows_is_kept():
    n = 300_000
    nodes = pd.DataFrame({"id": np.arange(n)[::-1], "f": np.arange(n, dtype=np.float64)})
    graph = Graph.from_frames(nodes, pd.DataFrame({"src": [0], "dst": [n - 1]}), features="f")
    np.testing.assert_array_equal(graph.x[:, 0], np.arange(n, dtype=np.float32))
    assert graph.indices.tolist() == [n - 1, 0]


def test_a_store_of_frames_and_its_like(tmp_path):
    report = import_tables(
        ImportSettings(nodes=NODES, edges=EDGES, features=("f1", "colour"), missing="mean", standardise=True),
        tmp_path / "first.store",
    )
    again = Graph.from_frames(NODES.iloc[::-1], EDGES, like=report.path)
    first = imgcl.load_graph(report.path)
    assert again.feature_names == tuple(first.feature_names)
    np.testing.assert_array_equal(again.x[::-1], first.x)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": "g"}, r"`nodes` has no column 'g' \(`features`\): it has id, f1, f2, colour, kind"),
        ({"label": "class"}, r"`nodes` has no column 'class' \(`label`\)"),
        ({"edges": EDGES.assign(dst="n9")}, "`edges`: 6 edges name nodes that `nodes` does not have, for example 'n9'"),
        ({"nodes": NODES.assign(id="n1")}, "`nodes`: the id 'n1' is there 4 times: ids must be unique"),
        ({"nodes": NODES[:0]}, "`nodes` has no rows: the graph is empty"),
        ({"nodes": NODES.to_dict()}, "`nodes` is a dict: give a pandas DataFrame"),
        ({"edges": None}, "`edges` is a NoneType: give a pandas DataFrame"),
        ({"featurs": "age"}, "from_frames has no parameter 'featurs': did you mean 'features'"),
        ({"standardize": True}, "from_frames has no parameter 'standardize': did you mean 'standardise'"),
        ({"missing": "median"}, r"`missing` is 'median': did you mean 'mean'\? \(choose from error, mean, zero\)"),
        ({"id": "account"}, r"`nodes` has no column 'account' \(`id`\)"),
        ({"edges": EDGES.assign(dst=None)}, "`edges`: 6 rows have no 'src' or no 'dst': use `on_dangling='drop'`"),
        ({"nodes": NODES.assign(f1=[[1]] * 4)}, r"column 'f1' has type VARCHAR\[\]: features must be numbers or text"),
        ({"nodes": NODES.assign(kind=["a", {}, "b", None]), "label": "kind"},
         r"`nodes`: column 'kind' is \{\} in row 2: give numbers or text"),
        ({"nodes": NODES.assign(f1=pd.Timestamp("2024-01-01 10:00"))}, "column 'f1' has type TIMESTAMP"),
        ({"nodes": NODES.set_index(["id", "f2"]), "id": None}, "the index of `nodes` has 2 levels"),
    ],
)  # fmt: skip
def test_what_is_refused(changes, message):
    chosen = {"nodes": NODES, "edges": EDGES, "features": ["f1"], **changes}
    with pytest.raises(InputError, match=message):
        Graph.from_frames(chosen.pop("nodes"), chosen.pop("edges"), **chosen)


def test_no_features_may_be_said_in_either_way():
    assert Graph.from_frames(NODES, EDGES, features=None).feature_names == Graph.from_frames(NODES, EDGES).feature_names


def test_columns_that_are_not_needed_may_hold_anything():
    nodes = NODES.assign(notes=[[1], {}, None, object()])
    assert Graph.from_frames(nodes, EDGES, features="f1").n_features == 1


def test_the_frames_stay_as_they_are():
    nodes, edges = NODES.copy(deep=True), EDGES.copy(deep=True)
    Graph.from_frames(nodes, edges, features="f1", label="kind")
    pd.testing.assert_frame_equal(nodes, NODES)
    pd.testing.assert_frame_equal(edges, EDGES)


@pytest.mark.parametrize("number", [int, Decimal])
def test_large_whole_numbers_among_others_are_not_rounded(number):
    labels = pd.Series([number(2**53), number(2**53 + 1), number(1) if number is Decimal else 1.0], dtype=object)
    nodes = pd.DataFrame({"id": list("abc"), "f": [1.0, 2.0, 3.0], "y": labels})
    graph = Graph.from_frames(nodes, PAIR, features="f", label="y")
    assert (graph.y.tolist(), graph.class_names) == ([1, 2, 0], ("1", str(2**53), str(2**53 + 1)))


@pytest.mark.parametrize(("kind", "large"), [(np.float64, 2**53), (np.float32, 2**24)])
def test_floats_that_merge_ids_are_refused_without_a_table_of_nodes_too(kind, large):
    edges = pd.DataFrame({"src": np.array([1, 2], dtype=kind), "dst": np.array([2, large], dtype=kind)})
    with pytest.raises(InputError, match=f"column 'dst' holds floats .*, which cannot tell ids such as {large} from"):
        Graph.from_frames(None, edges)
    assert Graph.from_frames(None, edges[:1]).n_nodes == 2
