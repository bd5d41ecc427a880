"""CSV files: what is taken as it is written, what is understood, and which line is wrong."""

import pandas as pd
import pytest
from import_samples import EDGES, NODES, do_import

from imgcl._core.errors import InputError

TWO = pd.DataFrame({"src": ["a"], "dst": ["b"]})


def text(path, content):
    path.write_text(content, encoding="utf-8")
    return str(path)


# --------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("labels", "classes", "numbers"),
    [
        (["1.10", "1.1", "1.10"], ("1.1", "1.10"), [1, 0, 1]),
        (["yes", "no", "yes"], ("no", "yes"), [1, 0, 1]),
        (["TRUE", "false", "true"], ("TRUE", "false", "true"), [0, 1, 2]),
        (["007", "7", ""], ("007", "7"), [0, 1, -1]),
        (["10", "9", "-1"], ("9", "10"), [1, 0, -1]),  # names that are numbers, in the order of numbers
        (["2024-01-02", "2024-1-2", "NA"], ("2024-01-02", "2024-1-2"), [0, 1, -1]),
        (["9007199254740993", "9007199254740992", "1"], ("1", "9007199254740992", "9007199254740993"), [2, 1, 0]),
    ],
)
def test_labels_are_text(tmp_path, labels, classes, numbers):
    rows = "".join(f"{name},1,{label}\n" for name, label in zip("abc", labels, strict=True))
    _, graph = do_import(tmp_path, text(tmp_path / "n.csv", f"id,f,y\n{rows}"), TWO, label="y")
    assert graph.class_names == classes
    assert graph.y.tolist() == numbers


def test_labels_are_numbers_where_asked_for(tmp_path):
    nodes = text(tmp_path / "n.csv", "id,f,y\na,1,3.0\nb,1,3\nc,1,-1.0\nd,1,0.50\ne,1,<NA>\nf,1,NA\n")
    _, graph = do_import(tmp_path, nodes, TWO, label="y", numeric_label=True)
    assert graph.class_names == ("0.5", "3")
    assert graph.y.tolist() == [1, 1, -1, 0, -1, -1]


@pytest.mark.parametrize("label", ["x", "9007199254740993"])
def test_labels_that_are_no_numbers(tmp_path, label):
    nodes = text(tmp_path / "n.csv", f"id,f,y\na,1,3.0\nb,1,{label}\n")
    with pytest.raises(InputError, match=f"column 'y' is '{label}' in row 2, which is no number below 2"):
        do_import(tmp_path, nodes, TWO, label="y", numeric_label=True)


# -------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    "values", [("1,5", "2,25", "3"), ("1.234,5", "1,0", "7"), ("1,234.5", "2,000", "5"), (",5", "", "-0,1e3")]
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_numbers_with_commas_are_no_categories(tmp_path, kind, values):
    nodes = pd.DataFrame({"id": list("abc"), "f": values})
    with pytest.raises(InputError, match=r"column 'f' holds numbers with commas, such as .*decimal point"):
        do_import(tmp_path, nodes, TWO, kind, missing="zero")


def test_text_with_commas_is_a_category(tmp_path):
    nodes = pd.DataFrame({"id": list("abc"), "f": ["a,b", "1,5", "2"]})
    _, graph = do_import(tmp_path, nodes, TWO, "csv")
    assert graph.feature_names == ("f=1,5", "f=2", "f=a,b")


def test_numbers_stay_numbers_where_a_node_is_called_na(tmp_path):
    nodes = text(tmp_path / "n.csv", "id,f,colour,y\nNA,1.5,red,u\nb,NA,NA,NA\nc,2.5,blue,v\n")
    edges = pd.DataFrame({"src": ["NA"], "dst": ["b"]})
    _, graph = do_import(tmp_path, nodes, edges, "csv", features=("f", "colour"), label="y", missing="zero")
    assert graph.feature_names == ("f", "colour=blue", "colour=red")
    assert graph.x.tolist() == [[1.5, 0, 1], [0, 0, 0], [2.5, 1, 0]]
    assert graph.y.tolist() == [0, -1, 1]


def test_columns_in_another_order_in_another_file(tmp_path):
    text(tmp_path / "n-0.csv", "id,f,colour\na,1,red\n")
    text(tmp_path / "n-1.csv", "id,colour,f\nb,blue,2\n")
    _, graph = do_import(tmp_path, str(tmp_path / "n-*.csv"), TWO, features=("f", "colour"))
    assert graph.feature_names == ("f", "colour=blue", "colour=red")
    assert graph.x.tolist() == [[1, 0, 1], [2, 1, 0]]


@pytest.mark.parametrize("word", ["NA", "", "null"])
def test_missing_weights(tmp_path, word):
    edges = text(tmp_path / "e.csv", f"src,dst,w\nn7,n1,1\nn1,n3,{word}\n")
    report, graph = do_import(tmp_path, edges=edges, weight="w")
    assert (report.weightless, graph.n_edges) == (1, 1)


# ---------------------------------------------------------------------- lines


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("src,dst,w\nn7,n1,1\nn1,n3\n", r"e\.csv, line 3: it has 2 fields, but the header has 3: mend"),
        ("src,dst\nn7,n1\nn1,n3,9\n", r"e\.csv, line 3: it has 3 fields, but the header has 2"),
        ("src,dst\nn7,n1,1\nn1,n3,2\n", r"e\.csv, line 2: it has 3 fields, but the header has 2"),
        ("src,dst,w\n" + "n7,n1,1\n" * 30_000 + "n7\n", r"e\.csv, line 30002: it has 1 fields, but the header has 3"),
        ('src,dst\nn7,n1\nn1,"n3\n', r"e\.csv, line 3 cannot be read: .*unterminated quote"),
        ("", r"e\.csv is empty: the first line must name the columns"),
    ],
)
def test_lines_that_do_not_fit_the_header(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        do_import(tmp_path, edges=text(tmp_path / "e.csv", content))


def test_a_ragged_file_among_others(tmp_path):
    text(tmp_path / "e-0.csv", "src,dst\nn7,n1\n")
    text(tmp_path / "e-1.csv", "src,dst\nn7,n1\nn7,n1,n3\n")
    with pytest.raises(InputError, match=r"e-1\.csv, line 3: it has 3 fields"):
        do_import(tmp_path, edges=str(tmp_path / "e-*.csv"))


def test_a_value_of_another_type_far_down(tmp_path):
    nodes = "id,f\n" + "".join(f"n{i},{i}\n" for i in range(30_000)) + "n30000,many\n"
    with pytest.raises(InputError, match=r"n\.csv, line 30002: 'many' in column 'f' cannot be read as DOUBLE"):
        do_import(tmp_path, text(tmp_path / "n.csv", nodes))


def test_text_that_is_not_utf8(tmp_path):
    (tmp_path / "e.csv").write_bytes("src,dst\nn7,n1\né,n3\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"e\.csv, line \d cannot be read: .*not utf-8") as caught:
        do_import(tmp_path, edges=str(tmp_path / "e.csv"))
    assert "\n" not in str(caught.value)


# --------------------------------------------------------------------- header


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|", " "])
def test_delimiters(tmp_path, delimiter):
    edges = "\n".join(delimiter.join(row) for row in [("src", "dst"), *EDGES.itertuples(index=False)])
    report, _ = do_import(tmp_path, edges=text(tmp_path / "e.csv", edges + "\n"))
    assert (report.rows, report.edges) == (6, 2)


@pytest.mark.parametrize("before", ["", "\ufeff", "\n\n"])
def test_what_may_stand_before_a_header(tmp_path, before):
    report, _ = do_import(tmp_path, edges=text(tmp_path / "e.csv", f"{before}src, dst \nn7,n1\n"))
    assert report.edges == 1


def test_rows_that_look_like_comments_or_headers(tmp_path):
    nodes = text(tmp_path / "n.csv", "id,0,1\n#1,5,6\n#2,7,8\n3,9,10\n")
    _, graph = do_import(tmp_path, nodes, pd.DataFrame({"src": ["#1"], "dst": ["#2"]}), features=("0", "1"))
    assert list(graph.node_names) == ["#1", "#2", "3"]
    assert graph.x.tolist() == [[5, 6], [7, 8], [9, 10]]


def test_a_wide_header(tmp_path):
    names = [f"f{i}{'x' * 1_500}" for i in range(100)]  # longer than a field may be, whatever the delimiter
    nodes = pd.DataFrame(1.0, index=range(2), columns=names).assign(id=["a", "b"])
    report, _ = do_import(tmp_path, nodes, TWO, "csv")
    assert report.features == 100


def test_directories_are_no_columns(tmp_path):
    for kind in ("csv", "parquet"):
        folder = tmp_path / kind / "kind=z"
        folder.mkdir(parents=True)
        _, graph = do_import(folder, NODES, EDGES, kind, label="kind")
        assert graph.class_names == ("a", "b")


def test_a_fraction_far_down_is_not_rounded(tmp_path):
    nodes = "id,f\n" + "".join(f"n{i},{i % 7}\n" for i in range(30_000)) + "n30000,7.5\n"
    edges = pd.DataFrame({"src": ["n0"], "dst": ["n1"]})
    _, graph = do_import(tmp_path, text(tmp_path / "n.csv", nodes), edges)
    assert graph.x[-1].tolist() == [7.5]


def test_a_time_of_day_far_down_is_not_cut_off(tmp_path):
    nodes = "id,f\n" + "".join(f"n{i},2024-01-01\n" for i in range(30_000)) + "n30000,2024-01-01 10:00\n"
    edges = pd.DataFrame({"src": ["n0"], "dst": ["n1"]})
    _, graph = do_import(tmp_path, text(tmp_path / "n.csv", nodes), edges)
    assert list(graph.feature_names) == ["f=2024-01-01", "f=2024-01-01 10:00"]


@pytest.mark.parametrize(
    ("values", "odd"),
    [
        (["15", "2", "unknown"], "unknown"),
        (["15%", "2%", "3%"], "15%"),
        (["1 500", "2", "-"], "-"),
        (["a1", "b2", "3"], None),
        (["15", "2", ""], None),  # numbers, one of them missing
    ],
)
def test_numbers_that_words_make_text_are_reported(tmp_path, values, odd):
    rows = "".join(f"{name},{value}\n" for name, value in zip("abc", values, strict=True))
    report, _ = do_import(tmp_path, text(tmp_path / "n.csv", f"id,f\n{rows}"), TWO, missing="zero")
    assert report.numbers_as_text == ({} if odd is None else {"f": odd})
