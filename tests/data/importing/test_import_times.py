"""Times of edges and nodes: dates or numbers, edges up to a date, times that a store keeps."""

import numpy as np
import pandas as pd
import pytest
from import_samples import do_import

from imgcl import InputError
from imgcl.data.importing import ImportSettings, import_tables
from imgcl.data.store import open_store, verify_store, write_store

N = 20
DAYS = pd.date_range("2020-02-20", periods=N)
NODES = pd.DataFrame({"id": range(N), "f": np.arange(N, dtype=float), "joined": DAYS, "kind": ["a", "b"] * 10})
EDGES = pd.DataFrame({"src": range(N - 1), "dst": range(1, N), "when": DAYS[1:] + pd.Timedelta("12h"), "year": 2001})
EDGES["year"] += np.arange(N - 1)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("as_of", "kept"),
    [
        ("2020-02-25", 5),
        ("20200225", 5),
        ("2020-W09-2", 5),
        ("9999-12-31", 19),
        ("2020-02-25 11:59", 4),
        ("2020-02-25T12:00:00", 5),
        ("2020-02-25T13:00+02:00", 4),
        ("2030-01-01", 19),
    ],
)
def test_edges_up_to_a_date(tmp_path, kind, as_of, kept):
    report, graph = do_import(tmp_path, NODES, EDGES, kind, features=("f",), time="when", as_of=as_of)
    assert (graph.n_edges, report.late, report.rows) == (kept, N - 1 - kept, N - 1)
    assert graph.n_nodes == N
    assert graph.summary()["edge time"] == (
        f"2020-02-21 12:00:00 to 2020-03-10 12:00:00 (column 'when'), edges up to {as_of}"
    )


def test_times_that_are_numbers_and_rows_without_one(tmp_path):
    edges = EDGES.assign(year=EDGES["year"].where(EDGES.index > 2))
    report, graph = do_import(tmp_path, NODES, edges, "csv", features=("f",), time="year", as_of="2010")
    assert (graph.n_edges, report.late) == (7, 12)  # 2004 .. 2010 of 2004 .. 2019; three rows have no year
    assert "2004 to 2019" in graph.summary()["edge time"]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_store_keeps_the_times_of_nodes(tmp_path, kind):
    nodes = NODES.assign(joined=NODES["joined"].where(NODES.index != 4))
    _, graph = do_import(tmp_path, nodes, EDGES, kind, features=("f",), node_time="joined")
    assert graph.node_time.column == "joined"
    assert graph.node_time.dates
    assert graph.node_time.text(graph.node_time.values[0]) == "2020-02-20"
    assert np.flatnonzero(np.isnan(graph.node_time.values)).tolist() == [4]
    assert graph.summary()["node time"] == "2020-02-20 to 2020-03-10 (column 'joined')"
    assert graph.subgraph([3, 0]).node_time.values.tolist() == graph.node_time.values[[3, 0]].tolist()
    verify_store(write_store(graph, tmp_path / "copy.store"))
    assert open_store(tmp_path / "copy.store").node_time.range == graph.node_time.range


def test_like_repeats_the_columns_and_not_the_date(tmp_path):
    report, first = do_import(
        tmp_path, NODES, EDGES, features=("f",), time="when", as_of="2020-02-25", node_time="joined"
    )
    tables = {"edges": str(tmp_path / "edges.parquet"), "nodes": str(tmp_path / "nodes.parquet")}
    again = import_tables(ImportSettings(**tables, like=report.path, as_of="2020-02-26"), tmp_path / "again.store")
    graph = open_store(again.path)
    assert (first.n_edges, graph.n_edges) == (5, 6)
    assert graph.node_time.column == "joined"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"as_of": "2020-01-01"}, "`as_of` needs the column of the edges' times: give it (`time`)"),
        ({"time": "when", "as_of": "soon"}, "`as_of` is 'soon': write a date such as 2024-05-31"),
        ({"time": "year", "as_of": "soon"}, "`as_of` is 'soon': column 'year' holds numbers, so give one"),
        ({"time": "moment"}, "has no column 'moment' (`time`): it has src, dst, when, year"),
        ({"node_time": "kind"}, "column 'kind' (`node_time`) is 'a' (20 such rows): write dates as 2024-05-31"),
        ({"node_time": "f", "features": ("f",)}, "column 'f' is given by `node_time`: it cannot be a feature as well"),
    ],
)
def test_what_is_refused(tmp_path, changes, message):
    with pytest.raises(InputError) as caught:
        do_import(tmp_path, NODES, EDGES, "csv", **{"features": ("f",), **changes})
    assert message in str(caught.value)


def test_times_of_nodes_need_a_table_of_nodes(tmp_path):
    EDGES.to_csv(tmp_path / "edges.csv", index=False)
    settings = ImportSettings(edges=str(tmp_path / "edges.csv"), node_time="joined")
    with pytest.raises(InputError, match="`node_time` is a column of the nodes, and there is no table of nodes"):
        import_tables(settings, tmp_path / "g.store")


def test_a_date_that_cannot_be_read(tmp_path):
    edges = EDGES.assign(when=EDGES["when"].astype(str).where(EDGES.index != 7, "last week"))
    with pytest.raises(InputError, match=r"column 'when' \(`time`\) is 'last week' \(1 such rows\): write dates as"):
        do_import(tmp_path, NODES, edges, "csv", features=("f",), time="when")


@pytest.mark.parametrize("as_of", ["nan", "inf", "1e999", "2020-02-25"])
def test_a_last_number_must_be_one(tmp_path, as_of):
    with pytest.raises(InputError, match="column 'year' holds numbers, so give one"):
        do_import(tmp_path, NODES, EDGES, "csv", features=("f",), time="year", as_of=as_of)


@pytest.mark.parametrize("day", ["20-02-21", "12020-02-21"])
def test_a_year_has_four_digits(tmp_path, day):
    with pytest.raises(InputError, match=f"is '{day}' .*: write dates as 2024-05-31"):
        do_import(tmp_path, NODES, EDGES.assign(when=day), "csv", features=("f",), time="when")
