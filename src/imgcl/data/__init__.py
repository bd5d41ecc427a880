"""Where graphs come from: data set names, files, and other libraries' graph objects."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imgcl._core.errors import DataNotFoundError, InputError
from imgcl._core.words import did_you_mean
from imgcl.data.benchmark_npz import read_benchmark_npz
from imgcl.data.built_in import BUILT_IN
from imgcl.data.digits import digits_graph
from imgcl.data.edge_npz import read_npz
from imgcl.data.features import FeatureChoice, choose_features, split_features
from imgcl.data.musae import read_musae
from imgcl.data.public import PUBLIC, READERS, load_public
from imgcl.data.store import is_store, open_store
from imgcl.data.synthetic import synthetic_graph
from imgcl.data.table import DatasetRow, about, dataset_table
from imgcl.data.wiki_cs import read_wiki_cs
from imgcl.graph import Graph

TABLES = (".csv", ".tsv", ".parquet")

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

__all__ = [
    "DatasetRow",
    "about",
    "dataset_table",
    "digits_graph",
    "load_graph",
    "read_benchmark_npz",
    "read_musae",
    "read_npz",
    "read_wiki_cs",
    "synthetic_graph",
]

NAMES = ("name", "node_names", "feature_names", "class_names")


def load_graph(
    source: str | Path | Graph | Data | nx.Graph,
    *,
    features: FeatureChoice = "auto",
    data_dir: str | Path | None = None,
    cache_dir: str | Path | None = None,
    **options: Any,
) -> Graph:
    """Get a graph from wherever it is.

    Args:
        source: a data set name (:func:`dataset_table` lists them; options may follow a built-in one, as in
            ``synthetic:homophily=0.9,class_sizes=60/30/10``), the path of an ``.npz`` file (:func:`read_npz`), of a
            ``.json`` file in the layout of Wiki-CS, of a ``.zip`` file in that of MUSAE or of a graph store
            (``imgcl import``), a ``torch_geometric.data.Data``, a networkx graph, or a :class:`~imgcl.graph.Graph`,
            returned as it is. ``:features=structure`` at the end of a text is the same as the parameter.
        features: ``own``: as they are, perhaps none; ``structure``: made from the edges
            (:func:`imgcl.graph.structure.structural_features`); ``auto``: made from the edges if there are none.
        data_dir: where raw files of public data sets lie; by default the environment variable ``IMGCL_DATA``. A file
            found there is used without any download, under its original name or that of the data set.
        cache_dir: where downloads go; by default ``IMGCL_CACHE``, else the platform's cache directory.
        **options: for what the source is: parameters of :func:`synthetic_graph` and :func:`digits_graph`,
            ``binarise`` and ``name`` of files, arguments of ``Graph.from_pyg`` and ``Graph.from_networkx``.

    Raises:
        DataNotFoundError: when the data set or file is not there and cannot be downloaded.
        InputError: when the name is unknown, or an option does not exist.
        GraphError: when the content is not a graph.

    Example:
        >>> load_graph("synthetic", class_sizes=[30, 10], mean_degree=4)
        Graph('synthetic', nodes=40, edges=80, features=32, classes=2)
    """
    if isinstance(source, str):
        source, given = split_features(source)
        features = given or features  # type: ignore[assignment]
    return choose_features(_load(source, data_dir, cache_dir, options), features)


def _load(source: Any, data_dir: str | Path | None, cache_dir: str | Path | None, options: dict[str, Any]) -> Graph:
    """The graph with the features that it has."""
    if isinstance(source, Graph):
        return _call(lambda: source, "a Graph", options)
    if not isinstance(source, str | os.PathLike):
        return _from_object(source, options)
    name = str(source).strip().lower().replace("_", "-")
    built_in, colon, text = str(source).strip().lower().partition(":")
    if built_in in BUILT_IN and colon:
        name, options = built_in, {**_read_options(text), **options}
    if name in BUILT_IN:
        return _call(BUILT_IN[name].make, f"data set {name!r}", options)
    if name in PUBLIC:
        return _call(lambda: load_public(name, data_dir=data_dir, cache_dir=cache_dir), f"data set {name!r}", options)
    path = Path(source).expanduser()
    reader = _read_store if is_store(path) else READERS.get(path.suffix.lower())
    if reader is None:
        raise _unknown(str(source), path)
    return _call(lambda **chosen: reader(path, **chosen), str(path), options, like=reader)


def _read_store(path: Path, *, name: str | None = None) -> Graph:
    graph = open_store(path)
    return graph if name is None else replace(graph, name=name)


def _read_options(text: str) -> dict[str, Any]:
    """Options written as ``key=value,key=value``: numbers, lists such as ``60/30/10``, ``none``."""
    options: dict[str, Any] = {}
    for part in text.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        try:
            options[key] = [_read_number(piece) for piece in value.split("/")] if "/" in value else _read_number(value)
        except ValueError:
            equals = ""
        if not equals or not key:
            raise InputError(f"option {part!r}: write key=value with a number, none, or a list such as 60/30/10")
    return options


def _read_number(text: str) -> int | float | None:
    if text == "none":
        return None
    try:
        return int(text)
    except ValueError:
        return float(text)


def _from_object(source: Any, options: dict[str, Any]) -> Graph:
    """A graph of another library, recognised without importing that library."""
    for module, kind, convert, allowed in (
        ("torch_geometric.data", "Data", Graph.from_pyg, ("weighted", "directed_as", *NAMES)),
        ("torch_geometric.data", "HeteroData", Graph.from_pyg, ("weighted", "directed_as", "relations", *NAMES)),
        ("networkx", "Graph", Graph.from_networkx, ("x", "y", "feature", "label", "weight", "directed_as", *NAMES)),
    ):
        loaded = sys.modules.get(module)
        if loaded is not None and isinstance(source, getattr(loaded, kind)):
            _check_options(f"a {module.partition('.')[0]} {kind}", options, allowed)
            return convert(source, **options)
    raise InputError(
        f"a {type(source).__name__} is not a graph: give a data set name, a path, a torch_geometric Data, "
        "a networkx graph or an imgcl Graph"
    )


def _call(
    make: Callable[..., Graph], what: str, options: dict[str, Any], like: Callable[..., Graph] | None = None
) -> Graph:
    allowed = [p.name for p in inspect.signature(like or make).parameters.values() if p.kind is p.KEYWORD_ONLY]
    _check_options(what, options, allowed)
    return make(**options)


def _check_options(what: str, options: dict[str, Any], allowed: Sequence[str]) -> None:
    unknown = [option for option in options if option not in allowed]
    if unknown:
        hint = did_you_mean(unknown[0], allowed, "" if allowed else "it takes none")
        raise InputError(f"{what} has no option {unknown[0]!r}{hint}")


def _unknown(source: str, path: Path) -> InputError:
    known = [*PUBLIC, *BUILT_IN]
    if source and path.exists():
        expected = f"expected one ending in {' or '.join(READERS)}, or a graph store"
        hint = "; imgcl import makes a store of tables" if path.suffix in TABLES else ""
        return InputError(f"{source} is not a graph file: {expected}{hint}")
    if path.suffix or path.parent != Path():
        return DataNotFoundError(f"there is no file {source}, and no data set of that name ({', '.join(known)})")
    return InputError(f"unknown data set {source!r}{did_you_mean(source, known, more='or give a path')}")
