"""Columns may have any name: what is imported is what pandas finds in them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from import_samples import EDGES, NODES, do_import

from imgcl._core.errors import InputError
from imgcl.graph import Graph

HARD = [
    "#", "rowid", "Code", "code", "value", "VALUE", "class", "Class", "node", "id", "ID", "name", "label", "f0", "t",
    "c0", "nodes", "ids", "s", "u", "weighs", "select", "FROM", "NULL", "NA", "filename", "file_row_number", "column0",
    "a b", 'a"b', "a'b", "a.b", "t.c0", "a,b", "a;b", "0", "1", "x--", "x/*", "Größe", "größe", "名前", "🙂", "a=b",
    "a\nb",
]  # fmt: skip
LETTERS = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"], exclude_characters="*\ufeff")
NAMES = st.sampled_from(HARD) | st.text(LETTERS, min_size=1, max_size=8)


def expected_of(nodes, edges, roles):
    """The same graph by pandas alone."""
    parts, names = [], []
    for name in roles["features"]:
        values = nodes[name]
        if values.dtype.kind == "f":
            parts.append(values.fillna(0).to_numpy()[:, None])
            names.append(name)
            continue
        categories = sorted(values.dropna().unique())
        parts.append(np.stack([values == category for category in categories], axis=1).astype(float))
        names += [f"{name}={category}" for category in categories]
    numbers = {name: i for i, name in enumerate(nodes[roles["id"]])}
    pairs = [[numbers[end] for end in edges[roles[role]]] for role in ("src", "dst")]
    classes = sorted(nodes[roles["label"]].dropna().unique())
    y = [classes.index(value) if isinstance(value, str) else -1 for value in nodes[roles["label"]]]
    graph = Graph.from_edges(np.array(pairs), x=np.concatenate(parts, axis=1))
    return graph, y, classes, names, list(numbers)


def compare(folder, names, kind, edge_names):
    identifier, label, number, gaps, *texts = names
    nodes = pd.DataFrame(
        {
            number: [1.5, 2.5, -3.0, 4.0],
            identifier: ["2", "1", "0", "x"],
            texts[0]: ["red", "blue", "red", "green"],
            gaps: [7.0, np.nan, 8.0, np.nan],
            label: ["b", None, "a", "b"],
            texts[1]: [None, "u", "v", "u"],
        }
    )
    edges = pd.DataFrame(
        {edge_names[0]: ["2", "1", "x"], edge_names[2]: [1.0, 0.5, 2.0], edge_names[1]: ["1", "0", "2"]}
    )
    roles = {"id": identifier, "label": label, "features": (texts[0], gaps, number, texts[1])}
    roles |= {"src": edge_names[0], "dst": edge_names[1]}
    graph, y, classes, features, ids = expected_of(nodes, edges, roles)
    _, found = do_import(
        folder, nodes, edges, kind, id_column=identifier, label=label, features=roles["features"],
        src=edge_names[0], dst=edge_names[1], weight=edge_names[2], missing="zero",
    )  # fmt: skip
    assert list(found.node_names) == ids
    assert list(found.feature_names) == features
    assert found.x.tolist() == graph.x.tolist()
    assert found.y.tolist() == y
    assert list(found.class_names) == classes
    assert (found.indptr.tolist(), found.indices.tolist()) == (graph.indptr.tolist(), graph.indices.tolist())


@settings(max_examples=20, deadline=None)
@given(
    names=st.lists(NAMES, min_size=6, max_size=6, unique=True),
    edge_names=st.lists(NAMES, min_size=3, max_size=3, unique=True),
    kind=st.sampled_from(["csv", "tsv", "parquet"]),
)
@example(names=["#", "class", "value", "rowid", "code", "Code"], edge_names=["s", "S", "#"], kind="csv")
@example(names=["id", "rowid", "node", "value", "#", "CODE"], edge_names=["a", "b", "weighs"], kind="parquet")
@example(names=["Id", "ID", "iD", "id", "id_1", "ID_1"], edge_names=["u", "v", "U"], kind="parquet")
@example(names=["Id", "ID", "iD", "id", "id_1", "ID_1"], edge_names=["rowid", "ROWID", "Rowid"], kind="csv")
@example(names=["NA", "NULL", "nan", "null", "N/A", "NaN"], edge_names=["NULL", "NA", "null"], kind="csv")
def test_any_names_of_columns(tmp_path_factory, names, edge_names, kind):
    compare(tmp_path_factory.mktemp("names"), names, kind, edge_names)


@pytest.mark.parametrize("label", ["class", "value", "rowid", "#", "code", "node", "label"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_names_of_labels(tmp_path, kind, label):
    _, graph = do_import(tmp_path, NODES.rename(columns={"kind": label}), kind=kind, label=label)
    assert graph.class_names == ("a", "b")
    assert graph.y.tolist() == [1, 0, -1, 1]


def test_case_matters_when_a_column_is_asked_for(tmp_path):
    with pytest.raises(InputError, match=r"has no column 'Kind' \(`label`\): did you mean 'kind'"):
        do_import(tmp_path, label="Kind")


def test_two_columns_of_the_same_name(tmp_path):
    (tmp_path / "n.csv").write_text("id,f,f\na,1,2\nb,3,4\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"n\.csv has 2 columns named 'f': give each a name of its own"):
        do_import(tmp_path, str(tmp_path / "n.csv"), EDGES)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("csv", r"the files have different columns: .*n-1\.csv has no 'f'"),
        ("parquet", "differ from 'f' in upper and lower case only"),
    ],
)
def test_names_that_differ_in_case_in_several_files(tmp_path, kind, message):
    for number, names in enumerate((["id", "f", "F"], ["id", "F", "f"])):
        frame = pd.DataFrame([[f"n{number}", 1.0, 2.0]], columns=names)
        path = tmp_path / f"n-{number}.{kind}"
        frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    with pytest.raises(InputError, match=message):
        do_import(tmp_path, str(tmp_path / f"n-*.{kind}"), EDGES, features=("f",))


def test_parts_of_nested_columns_are_no_columns(tmp_path):
    nodes = NODES.assign(nested=[{"f9": 1, "deep": {"f8": 2}}] * 4, f3=[5.0, 6.0, 7.0, 8.0])
    _, graph = do_import(tmp_path, nodes)
    assert graph.feature_names == ("f1", "f2", "f3")
    assert graph.x[:, 2].tolist() == [5, 6, 7, 8]
