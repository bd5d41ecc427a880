"""Tables of pandas as a graph in memory, by the rules of an import."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from pydantic import ValidationError

from imgcl._core.errors import InputError
from imgcl._core.words import choices_in, did_you_mean
from imgcl.data.importing.remarks import remarks
from imgcl.data.importing.settings import ImportSettings
from imgcl.data.importing.tables import import_tables
from imgcl.data.store import open_store
from imgcl.data.store.names import StoredNames
from imgcl.graph import Graph


def from_frames(
    nodes: pd.DataFrame | None,
    edges: pd.DataFrame,
    *,
    id: str | None = "id",
    src: str = "src",
    dst: str = "dst",
    features: str | Sequence[str] | None = (),
    label: str | None = None,
    name: str = "graph",
    **rules: Any,
) -> Graph:
    """What :meth:`imgcl.Graph.from_frames` is; the import itself goes through a store in a temporary directory.

    Example:
        >>> nodes = pd.DataFrame({"id": ["a", "b", "c"], "age": [30, 40, 50], "kind": ["tea", None, "salt"]})
        >>> edges = pd.DataFrame({"src": ["a", "b"], "dst": ["b", "c"]})
        >>> graph = from_frames(nodes, edges, features="age", label="kind")
        >>> graph, graph.y.tolist(), graph.class_names
        (Graph('graph', nodes=3, edges=2, features=1, classes=2), [1, -1, 0], ('salt', 'tea'))
    """
    _check_frames(nodes, edges)
    if nodes is not None and id is None:
        nodes, id = _with_index(nodes)
    columns = {"id_column": str(id), "src": str(src), "dst": str(dst), "features": _feature_names(features)}
    columns |= {} if label is None else {"label": str(label)}
    settings = _settings({"nodes": nodes, "edges": edges, "name": name}, columns, rules)
    with tempfile.TemporaryDirectory() as folder, _own_words():
        report = import_tables(settings, Path(folder) / "graph.store")
        for remark in remarks(report):
            warnings.warn(remark, stacklevel=3)  # where Graph.from_frames was called
        return _in_memory(open_store(report.path, verify=False))


@contextmanager
def _own_words() -> Iterator[None]:
    """Messages of an import with the names of this function's parameters."""
    try:
        yield
    except InputError as error:
        message = str(error).replace("`id_column`", "`id`")  # what the parameter is called here
        raise type(error)(message) from None


def _check_frames(nodes: Any, edges: Any) -> None:
    for what, frame in (("nodes", nodes), ("edges", edges)):
        if not isinstance(frame, pd.DataFrame) and not (what == "nodes" and frame is None):
            raise InputError(f"`{what}` is a {type(frame).__name__}: give a pandas DataFrame")


def _with_index(nodes: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The nodes with their index as a column, and its name."""
    if nodes.index.nlevels > 1:
        raise InputError(f"the index of `nodes` has {nodes.index.nlevels} levels: name a column instead, as id")
    named = nodes.reset_index(names="index" if nodes.index.name is None else str(nodes.index.name))
    return named, str(named.columns[0])


def _feature_names(features: Any) -> tuple[str, ...]:
    chosen = [features] if isinstance(features, str) else list(features or ())
    return tuple(str(name) for name in chosen)


def _settings(tables: dict[str, Any], columns: dict[str, Any], rules: dict[str, Any]) -> ImportSettings:
    """The settings of the import; columns that are the default count as not given, which matters with ``like``."""
    known = [name for name in ImportSettings.model_fields if name not in (*tables, *columns, "label")]
    for rule in rules:
        if rule not in known:
            every = ["id", "src", "dst", "features", "label", "name", *known]
            raise InputError(f"from_frames has no parameter {rule!r}{did_you_mean(rule, every)}")
    given = {key: value for key, value in columns.items() if value != ImportSettings.model_fields[key].default}
    try:
        return ImportSettings(**tables, **given, **rules)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        if first["type"] == "literal_error":
            hint = did_you_mean(first["input"], choices_in(first["ctx"]["expected"]))
            raise InputError(f"`{where}` is {first['input']!r}{hint}") from None
        raise InputError(f"`{where}` is {first['input']!r}: {first['msg'].lower()}") from None


def _in_memory(graph: Graph) -> Graph:
    """The graph without the files that its arrays are mapped from."""
    return replace(graph, **{field.name: _loaded(getattr(graph, field.name)) for field in fields(graph)})


def _loaded(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.array(value)
    if isinstance(value, sp.csr_array):
        return value.copy()
    return tuple(value) if isinstance(value, StoredNames) else value
