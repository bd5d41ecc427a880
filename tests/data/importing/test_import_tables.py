"""Tables into a store: ids of any kind, counted leftovers, features of any kind, clear refusals."""

import gzip
import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from import_samples import EDGES, NODES, do_import, parquet, write

from imgcl._core.errors import GraphError, InputError
from imgcl.data.importing import ImportSettings, import_tables, parse_size
from imgcl.graph import Graph


@pytest.mark.parametrize("kind", ["parquet", "csv", "tsv"])
def test_the_graph_of_the_tables(tmp_path, kind):
    report, graph = do_import(tmp_path, kind=kind, label="kind")
    assert list(graph.node_names) == ["n7", "n1", "n3", "n2"]  # numbers are the order of the node table
    expected = Graph.from_edges([[0, 1, 2, 0, 0, 2], [1, 0, 0, 2, 0, 0]], x=NODES[["f1", "f2"]].to_numpy())
    assert graph.indptr.tolist() == expected.indptr.tolist()
    assert graph.indices.tolist() == expected.indices.tolist()
    assert graph.x.tolist() == expected.x.tolist()
    assert graph.cleaning == expected.cleaning
    assert (report.rows, report.nodes, report.edges, report.dangling) == (6, 4, 2, 0)
    assert graph.y.tolist() == [1, 0, -1, 1]
    assert graph.class_names == ("a", "b")
    assert graph.feature_names == ("f1", "f2")
    assert graph.name == "g"
    assert sorted(os.listdir(tmp_path)) == sorted([f"edges.{kind}", f"nodes.{kind}", "g.store"])  # no scratch is left


def test_integer_ids_and_labels(tmp_path):
    nodes = pd.DataFrame({"id": [10**12, 5, 7], "f": [1.0, 2.0, 3.0], "label": [40, -1, 3]})
    edges = pd.DataFrame({"src": [5, 7], "dst": [10**12, 5]})
    _, graph = do_import(tmp_path, nodes, edges, label="label")
    assert list(graph.node_names) == [str(10**12), "5", "7"]
    assert graph.indices.tolist() == [1, 0, 2, 1]
    assert graph.y.tolist() == [1, -1, 0]
    assert graph.class_names == ("3", "40")


def test_more_columns_than_one_query_takes(tmp_path):
    values = np.arange(4 * 600).reshape(4, 600) / 7
    nodes = NODES[["id"]].join(pd.DataFrame(values, columns=[f"w{i}" for i in range(600)]))
    nodes["town"] = ["york", "bath", "york", "hull"]
    _, graph = do_import(tmp_path, nodes, features=("town", "w*"))
    np.testing.assert_allclose(graph.x, np.hstack([[[0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 0]], values]), rtol=1e-6)
    assert list(graph.feature_names) == ["town=bath", "town=hull", "town=york", *(f"w{i}" for i in range(600))]


def test_numbers_that_are_no_label(tmp_path):
    nodes = parquet(
        tmp_path / "nan.parquet",
        ("'a'", "1", "'nan'::DOUBLE"), ("'b'", "2", "3"), ("'c'", "3", "-1"), ("'d'", "4", "0.5"), ("'e'", "5", "NULL"),
        columns="id, f, label",
    )  # fmt: skip
    _, graph = do_import(tmp_path, nodes, pd.DataFrame({"src": ["a"], "dst": ["b"]}), label="label")
    assert graph.y.tolist() == [-1, 1, -1, 0, -1]
    assert graph.class_names == ("0.5", "3")


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_patterns_leave_out_label_and_ids(tmp_path, kind):
    nodes = NODES.rename(columns={"kind": "fraud", "id": "fid"}).drop(columns="colour")
    report, graph = do_import(tmp_path, nodes, kind=kind, id_column="fid", label="fraud", features=("f*",))
    assert graph.feature_names == ("f1", "f2")
    assert report.features == 2


@pytest.mark.parametrize(("column", "option"), [("kind", "label"), ("id", "id_column")])
def test_label_and_ids_are_no_features(tmp_path, column, option):
    with pytest.raises(InputError, match=f"column '{column}' is given by `{option}`: it cannot be a feature as well"):
        do_import(tmp_path, label="kind", features=("f1", column))


@pytest.mark.parametrize("absent", ["NA", "NaN", "N/A", "null", ""])
def test_how_other_programs_write_a_missing_number(tmp_path, absent):
    (tmp_path / "nodes.csv").write_text(f"id,f1,kind\na,1.5,a\nb,{absent},{absent}\nc,2.5,b\n", encoding="utf-8")
    edges = pd.DataFrame({"src": ["a"], "dst": ["b"]})
    nodes = str(tmp_path / "nodes.csv")
    with pytest.raises(InputError, match="column 'f1' has 1 missing values"):
        do_import(tmp_path, nodes, edges, label="kind")
    _, graph = do_import(tmp_path, nodes, edges, label="kind", missing="zero")
    assert graph.x.tolist() == [[1.5], [0.0], [2.5]]
    assert graph.y.tolist() == [0, -1, 1]


def test_a_node_may_be_called_na(tmp_path):
    (tmp_path / "nodes.csv").write_text("id,f1\nNA,1.5\nDE,2.5\n", encoding="utf-8")
    edges = pd.DataFrame({"src": ["NA"], "dst": ["DE"]})
    _, graph = do_import(tmp_path, str(tmp_path / "nodes.csv"), edges)
    assert list(graph.node_names) == ["NA", "DE"]


def test_text_that_is_no_label(tmp_path):
    _, graph = do_import(tmp_path, NODES.assign(kind=["b", "-1", "a", "-1"]), label="kind")
    assert graph.y.tolist() == [1, -1, 0, -1]
    assert graph.class_names == ("a", "b")


def test_an_empty_csv_id(tmp_path):
    (tmp_path / "nodes.csv").write_text('id,f1\na,1\n,2\n"",3\n', encoding="utf-8")
    with pytest.raises(InputError, match="2 rows have no 'id'"):
        do_import(tmp_path, str(tmp_path / "nodes.csv"), pd.DataFrame({"src": ["a"], "dst": ["a"]}))


def test_a_label_column_of_names(tmp_path, monkeypatch):
    monkeypatch.setattr("imgcl.data.importing.labels.MOST_CATEGORIES", 3)
    with pytest.raises(InputError, match=r"column 'id' has 4 different values \(`label`\): that is a name"):
        do_import(tmp_path, label="id")


def test_integers_on_one_side_and_text_on_the_other(tmp_path):
    nodes = pd.DataFrame({"id": ["1", "2"], "f": [1.0, 2.0]})
    _, graph = do_import(tmp_path, nodes, pd.DataFrame({"src": [1], "dst": [2]}))
    assert graph.n_edges == 1


def test_leading_zeros_of_csv_ids_are_kept(tmp_path):
    nodes = pd.DataFrame({"id": ["007", "7"], "f": [1.0, 2.0]})
    _, graph = do_import(tmp_path, nodes, pd.DataFrame({"src": ["007"], "dst": ["7"]}), kind="csv")
    assert list(graph.node_names) == ["007", "7"]
    assert graph.n_edges == 1


def test_globs_and_gzip(tmp_path):
    half = len(EDGES) // 2
    for number, part in enumerate((EDGES[:half], EDGES[half:])):
        with gzip.open(tmp_path / f"part-{number}.csv.gz", "wt") as handle:
            part.to_csv(handle, index=False)
    report, _ = do_import(tmp_path, edges=str(tmp_path / "part-*.csv.gz"))
    assert (report.rows, report.edges) == (6, 2)


def test_categories(tmp_path):
    _, graph = do_import(tmp_path, features=("colour", "f2"), missing="zero")
    assert graph.feature_names == ("colour=blue", "colour=red", "f2")
    assert graph.x.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0], [0, 0, 1]]


def test_missing_numbers(tmp_path):
    nodes = NODES.assign(f1=[1.0, np.nan, 3.0, np.nan])
    with pytest.raises(InputError, match="column 'f1' has 2 missing values: fill them with `missing='mean'`"):
        do_import(tmp_path, nodes)
    assert do_import(tmp_path, nodes, missing="mean")[1].x[:, 0].tolist() == [1, 2, 3, 2]


@pytest.mark.parametrize("rules", [{}, {"missing": "mean"}, {"missing": "zero", "standardise": True}])
def test_an_infinite_feature_is_refused_and_not_filled_as_a_missing_one(tmp_path, rules):
    with pytest.raises(InputError, match="column 'f1' is -inf in row 4: features must be finite"):
        do_import(tmp_path, NODES.assign(f1=[1.0, np.nan, 3.0, -np.inf]), **rules)


def test_the_report_counts_the_labels_of_every_class(tmp_path):
    report, _ = do_import(tmp_path, NODES.assign(kind=["b", None, "a", "b"]), label="kind")
    assert report.class_sizes == {"b": 2, "a": 1}


def test_standardise_and_half_precision(tmp_path):
    _, graph = do_import(tmp_path, standardise=True, dtype="float16")
    assert graph.x.dtype == np.float16
    np.testing.assert_allclose(graph.x.astype(float).mean(axis=0), 0, atol=1e-3)
    np.testing.assert_allclose(graph.x.astype(float).std(axis=0), 1, atol=1e-3)
    os.rename(tmp_path / "g.store", tmp_path / "other.store")
    with pytest.raises(
        InputError, match=r"column 'f1' is 1e\+06 in row 1 \(id 'n7'\): float16 features must be .* 65504; use `dtype"
    ):
        do_import(tmp_path, NODES.assign(f1=1e6), dtype="float16")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id_column": "key"}, r"has no column 'key' \(`id_column`\): it has id, f1"),
        ({"src": "from"}, r"has no column 'from' \(`src`\)"),
        ({"label": "class"}, r"has no column 'class' \(`label`\)"),
        ({"features": ("g*",)}, r"has no column 'g\*' \(`features`\)"),
        ({"nodes": "nodes.xlsx"}, r"nodes.xlsx: the name must end in \.parquet"),
        ({"edges": "nowhere/e.parquet"}, "there is no file nowhere/e.parquet"),
        ({"nodes": "nowhere/*.csv"}, r"there is no file nowhere/\*\.csv"),
    ],
)
def test_refusals(tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        do_import(tmp_path, **changes)
    assert not (tmp_path / "g.store").exists()
    assert {".parquet"} >= {os.path.splitext(name)[1] for name in os.listdir(tmp_path)}


def test_ids_that_are_missing_or_not_unique(tmp_path):
    with pytest.raises(InputError, match="the id 'n7' is there 2 times"):
        do_import(tmp_path, pd.concat([NODES, NODES[:1]]))
    with pytest.raises(InputError, match="1 rows have no 'id'"):
        do_import(tmp_path, NODES.assign(id=["a", None, "c", "d"]), on_dangling="drop")
    with pytest.raises(GraphError, match="has no rows"):
        do_import(tmp_path, NODES[:0])


def test_a_damaged_file(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match=r"bad.parquet cannot be read"):
        do_import(tmp_path, nodes=str(tmp_path / "bad.parquet"))


def test_text_columns_with_too_many_values(tmp_path, monkeypatch):
    monkeypatch.setattr("imgcl.data.importing.columns.MOST_CATEGORIES", 1)
    with pytest.raises(InputError, match="'colour' is text with more than 1 different values"):
        do_import(tmp_path, features=("colour",), missing="zero")


def test_a_list_is_no_feature(tmp_path):
    nodes = NODES.assign(f3=[[1], [2], [3], [4]])
    with pytest.raises(InputError, match="column 'f3' has type"):
        do_import(tmp_path, nodes)


def test_progress(tmp_path):
    seen = []
    write(NODES, tmp_path / "n.parquet")
    write(EDGES, tmp_path / "e.parquet")
    chosen = ImportSettings(
        edges=str(tmp_path / "e.parquet"),
        nodes=str(tmp_path / "n.parquet"),
        id_column="id",
        src="src",
        dst="dst",
        features=("f1",),
    )
    import_tables(chosen, tmp_path / "g.store", lambda *step: seen.append(step))
    assert ("features", 4, 4) in seen
    assert ("edges", 6, 6) in seen
    assert seen[-1] == ("neighbour lists", 100, 100)


@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_any_ids_give_the_same_graph_as_numbers(tmp_path_factory, data):
    ids = data.draw(
        st.lists(
            st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1),
            min_size=2,
            unique=True,
            max_size=6,
        )
    )
    ends = st.integers(0, len(ids) - 1)
    pairs = data.draw(st.lists(st.tuples(ends, ends), min_size=1, max_size=12))
    nodes = pd.DataFrame({"id": ids, "f": np.arange(len(ids), dtype=float)})
    edges = pd.DataFrame([(ids[a], ids[b]) for a, b in pairs], columns=["src", "dst"])
    _, graph = do_import(tmp_path_factory.mktemp("ids"), nodes, edges)
    expected = Graph.from_edges(np.array(pairs).T, x=nodes[["f"]].to_numpy())
    assert list(graph.node_names) == ids
    assert graph.fingerprint == expected.fingerprint


@pytest.mark.parametrize("text", ["2", "x", "1 XB", "10MB"])
def test_bad_sizes(text):
    with pytest.raises(InputError, match="memory limit"):
        parse_size(text)


@pytest.mark.parametrize("address", ["https://example.org/nodes.csv", "s3://bucket/nodes.parquet"])
def test_an_address_neither_loads_code_nor_reaches_the_network(tmp_path, address):
    with pytest.raises(InputError, match=r"cannot be read: .*httpfs"):
        do_import(tmp_path, nodes=address)


@pytest.mark.parametrize("value", [1.1e15, -3e20, 1e300])
def test_numbers_that_no_encoder_can_use(tmp_path, value):
    message = r"column 'f1' is .* in row 4 \(id 'n2'\): features must be numbers up to 1e\+15; use `standardise=True`"
    with pytest.raises(InputError, match=message):
        do_import(tmp_path, nodes=NODES.assign(f1=[1.0, 2.0, 1e15, value]))
    assert not (tmp_path / "g.store").exists()


def test_large_numbers_are_standardised(tmp_path):
    times = [1_700_000_000_000_000_000 + i for i in (0, 10**12, 2 * 10**12, 3 * 10**12)]  # nanoseconds
    _, graph = do_import(tmp_path, nodes=NODES.assign(f1=times), standardise=True)
    np.testing.assert_allclose(graph.x[:, 0], np.array([-3, -1, 1, 3]) / np.sqrt(5), atol=1e-3)


def test_numbers_that_cannot_be_standardised(tmp_path):
    with pytest.raises(InputError, match=r"is 1e\+300 in row 4 .* up to 1e\+100; scale the column"):
        do_import(tmp_path, nodes=NODES.assign(f1=[1.0, 2.0, 3.0, 1e300]), standardise=True)


@pytest.mark.parametrize("missing", ["mean", "zero"])
def test_missing_values_are_filled_after_standardising(tmp_path, missing):
    values = np.array([100.0, np.nan, 104.0, 108.0])
    _, graph = do_import(tmp_path, nodes=NODES.assign(f1=values), standardise=True, missing=missing)
    expected = np.nan_to_num((values - np.nanmean(values)) / np.nanstd(values))
    np.testing.assert_allclose(graph.x[:, 0], expected, rtol=1e-6)


@pytest.mark.parametrize(("ids", "floats"), [("id", ["src", "dst"]), ("src", ["id"]), ("dst", ["src"])])
@pytest.mark.parametrize(("width", "first"), [("DOUBLE", 2**53), ("FLOAT", 2**24)])
def test_floats_that_cannot_tell_ids_apart(tmp_path, ids, floats, width, first):
    kinds = {name: width if name in floats else "BIGINT" for name in ("id", "src", "dst")}
    nodes = parquet(
        tmp_path / "n.parquet",
        *((f"{first + 2 * i}::{kinds['id']}", "1.0") for i in range(2)),
        columns="id, f",
    )
    edges = parquet(
        tmp_path / "e.parquet", (f"{first}::{kinds['src']}", f"{first + 2}::{kinds['dst']}"), columns="src, dst"
    )
    message = rf"[ne]\.parquet: column '({'|'.join(floats)})' holds floats \({width}\), .* as integers or text"
    with pytest.raises(InputError, match=message):
        do_import(tmp_path, nodes, edges)


def test_floats_below_that_are_ids(tmp_path):
    nodes = pd.DataFrame({"id": [2**53 - 1, 5], "f": [1.0, 2.0]})
    edges = pd.DataFrame({"src": [float(2**53 - 1), 5.0], "dst": [5.0, float(2**53)]})
    report, graph = do_import(tmp_path, nodes, edges, on_dangling="drop")
    assert (report.dangling, graph.n_edges) == (1, 1)


def test_an_id_that_is_nan(tmp_path):
    nodes = parquet(tmp_path / "n.parquet", ("1.0::DOUBLE", "1"), ("'nan'::DOUBLE", "2"), columns="id, f")
    with pytest.raises(InputError, match="1 rows have no 'id'"):
        do_import(tmp_path, nodes, pd.DataFrame({"src": [1], "dst": [1]}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dst": "src"}, "`src` and `dst` are the same column 'src': give two columns"),
        ({"weight": "dst"}, "`dst` and `weight` are the same column 'dst'"),
    ],
)
def test_one_column_for_two_things(tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        do_import(tmp_path, **changes)


def test_features_of_the_same_name(tmp_path):
    nodes = NODES.assign(**{"colour=red": 1.0})
    with pytest.raises(InputError, match="2 features would be called 'colour=red': rename a column"):
        do_import(tmp_path, nodes, features=("colour*",), missing="zero")
