"""The table of ``docs/own_graph.md`` that says what "no label" is, row by row, for everything that labels come from."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from torch_geometric.data import Data

import imgcl
from imgcl._core.errors import InputError
from imgcl.data.importing import ImportSettings, import_tables
from imgcl.evaluation import align_labels, read_labels
from imgcl.evaluation.labels import encode_labels

PAGE = Path(__file__).parents[2] / "docs" / "own_graph.md"
BEGIN, END = "<!-- unlabelled: begin -->", "<!-- unlabelled: end -->"
NAMES = {"pd": pd, "np": np}
WORDS = {"no label": False, "a class": True, "refused": None}  # what a source makes of the value: labelled or not


def read_table() -> list[tuple[str, str, str]]:
    lines = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0].strip().splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [(value.strip("`"), typed, text) for value, typed, text in rows]


TABLE = read_table()


# ---------------------------------------------------------------------- sources: is the value a label beside others?


def among(value: Any) -> list[Any]:
    """The value among labels of its kind."""
    if isinstance(value, bytes):
        return [b"a", value, b"b"]
    return ["a", value, "b"] if isinstance(value, str) else [1, value, 2]


def plain(value: Any) -> Any:
    """The value in words of pandas and Arrow, which know no masked one."""
    return None if value is np.ma.masked else value


def encoded(y: Any) -> bool:
    return bool(encode_labels(y).codes[1] >= 0)


def as_series(dtype: str, first: Any, last: Any) -> Callable[[Any], bool]:
    return lambda value: encoded(pd.Series([first, value, last], dtype=dtype))


def from_edges(value: Any) -> bool:
    return bool(imgcl.Graph.from_edges([[0], [1]], np.eye(3), [0, value, 1]).y[1] >= 0)


def from_networkx(value: Any) -> bool:
    graph = nx.path_graph(3)
    for node, label in enumerate([1, value, 2]):
        graph.nodes[node].update(x=[1.0], y=label)
    return bool(imgcl.load_graph(graph).y[1] >= 0)


def from_pyg(value: Any) -> bool:
    y = torch.tensor([0, value, 1]) if isinstance(value, int | float) else [0, value, 1]
    data = Data(x=torch.eye(3), edge_index=torch.tensor([[0], [1]]), y=y)
    return bool(imgcl.load_graph(data).y[1] >= 0)


def masked(value: Any) -> bool:
    return encoded(np.ma.MaskedArray([1, 7, 2], mask=[False, value is np.ma.masked, False]))


def imported(folder: Path, nodes: Path) -> list[bool]:
    """Which nodes have a label."""
    pd.DataFrame({"src": ["n1"], "dst": ["n2"]}).to_csv(folder / "edges.csv", index=False)
    files = {"edges": str(folder / "edges.csv"), "nodes": str(nodes)}
    settings = ImportSettings(**files, id_column="id", src="src", dst="dst", features=("f",), label="y")
    with tempfile.TemporaryDirectory(dir=folder) as store:
        import_tables(settings, Path(store) / "graph.store")
        return (np.array(imgcl.load_graph(Path(store) / "graph.store").y) >= 0).tolist()


def from_parquet(values: list[Any], folder: Path) -> list[bool]:
    """Values of one type, among two labels."""
    kind = next((type(value) for value in values if value is not None), type(None))
    others = {
        str: ["a", "b"],
        bytes: [b"a", b"b"],
        float: [1.5, 2.5],
        datetime: [datetime(2020, 1, 1), datetime(2021, 1, 1)],
    }
    labels = [*others.get(kind, [1, 2]), *values]
    names = [f"n{i}" for i in range(len(labels))]
    pq.write_table(pa.table({"id": names, "f": np.ones(len(names)), "y": pa.array(labels)}), folder / "nodes.parquet")
    return imported(folder, folder / "nodes.parquet")[2:]


def from_csv(texts: list[str], folder: Path, others: tuple[str, str] = ("a", "b"), called: str = "n0") -> list[bool]:
    cells = [*others, *texts]
    rows = [[f"n{i}" if i else called, 1, cell] for i, cell in enumerate(cells)]
    with (folder / "nodes.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["id", "f", "y"], *rows])
    return imported(folder, folder / "nodes.csv")[2:]


def from_labels_file(texts: list[str], folder: Path) -> list[bool]:
    names = [f"n{i}" for i in range(len(texts) + 2)]
    with (folder / "labels.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["node", "label"], *zip(names, ["a", "b", *texts], strict=True)])
    labels = encode_labels(align_labels(read_labels(folder / "labels.csv", names), len(names), names))
    return (labels.codes >= 0).tolist()[2:]


PYTHON: dict[str, Callable[[Any], bool]] = {
    "list": lambda value: encoded(among(value)),
    "tuple": lambda value: encoded(tuple(among(value))),
    "object array": lambda value: encoded(np.array(among(value), dtype=object)),
    "object series": lambda value: encoded(pd.Series(among(value), dtype=object)),
    "category series": lambda value: encoded(pd.Series(among(plain(value)), dtype=object).astype("category")),
    "graph": from_edges,
    "networkx": from_networkx,
    "torch_geometric": from_pyg,
}
TYPED: dict[str, tuple[Callable[[Any], bool], tuple[type, ...]]] = {  # a column of this type and what it can hold
    "float array": (lambda value: encoded(np.array([1.0, value, 2.0])), (int, float)),
    "text array": (lambda value: encoded(np.array(["a", value, "b"])), (str,)),
    "bytes array": (lambda value: encoded(np.array([b"a", value, b"b"])), (bytes,)),
    "string series": (as_series("string", "a", "b"), (str, type(None), type(pd.NA))),
    "str series": (as_series("str", "a", "b"), (str, type(None))),
    "Int64 series": (as_series("Int64", 1, 2), (int, type(None), type(pd.NA))),
    "Float64 series": (as_series("Float64", 1.0, 2.0), (float, type(pd.NA))),
    "boolean series": (as_series("boolean", True, False), (type(None), type(pd.NA))),
    "datetime series": (as_series("datetime64[ns]", pd.Timestamp(0), pd.Timestamp(1)), (type(pd.NaT), type(None))),
    "masked array": (masked, (type(np.ma.masked),)),
}
FILES: dict[str, Callable[[list[str], Path], list[bool]]] = {
    "CSV": from_csv,
    "CSV of numbers": partial(from_csv, others=("1", "2")),
    "CSV with a node called NA": partial(from_csv, called="NA"),
    "labels file": from_labels_file,
}
GRAPHS = ("graph", "networkx", "torch_geometric")  # classes are numbers here: text is refused


def check(source: Callable[[], bool], documented: str) -> None:
    expected = WORDS[documented]
    if expected is None:
        with pytest.raises(InputError, match=r"inf"):
            source()
    else:
        assert source() == expected


def test_the_table_has_every_answer() -> None:
    assert len(TABLE) > 20
    assert {typed for _, typed, _ in TABLE} == set(WORDS)


@pytest.mark.parametrize("source", PYTHON)
@pytest.mark.parametrize(("value", "typed"), [(value, typed) for value, typed, _ in TABLE])
def test_values_in_python(value: str, typed: str, source: str) -> None:
    given = eval(value, NAMES)
    if source in GRAPHS and isinstance(given, str) and typed == "a class":
        with pytest.raises(InputError, match="labels must be integers"):
            PYTHON[source](given)
    else:
        check(lambda: PYTHON[source](given), typed)


@pytest.mark.parametrize("source", TYPED)
def test_values_in_columns_of_one_type(source: str) -> None:
    read, kinds = TYPED[source]
    rows = [(eval(value, NAMES), typed) for value, typed, _ in TABLE]
    fitting = [(value, typed) for value, typed in rows if isinstance(value, kinds)]
    assert fitting
    for value, typed in fitting:
        check(lambda value=value: read(value), typed)


def check_together(source: Callable[[list[Any], Path], list[bool]], rows: list[tuple[Any, str]], folder: Path) -> None:
    """Values in one column, but for those that are refused."""
    fine = [(value, documented) for value, documented in rows if WORDS[documented] is not None]
    assert source([value for value, _ in fine], folder) == [WORDS[documented] for _, documented in fine]
    for value, documented in rows:
        if WORDS[documented] is None:
            with pytest.raises(InputError, match="inf"):
                source([value], folder)


@pytest.mark.parametrize("kind", [str, bytes, int, float, type(None), type(pd.NaT)])
def test_values_in_parquet(kind: type, tmp_path: Path) -> None:
    rows = [(eval(value, NAMES), typed) for value, typed, _ in TABLE]
    rows = [(value, typed) for value, typed in rows if isinstance(value, kind)]
    assert rows
    if kind is type(pd.NaT):
        rows = [(datetime(2022, 1, 1), "a class"), (None, "no label")]  # how a column of times has it
    check_together(from_parquet, rows, tmp_path)


@pytest.mark.parametrize("source", FILES)
def test_values_in_files(source: str, tmp_path: Path) -> None:
    check_together(FILES[source], [(str(eval(value, NAMES)), text) for value, _, text in TABLE if text], tmp_path)
