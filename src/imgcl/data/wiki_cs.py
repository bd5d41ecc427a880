"""The raw file of Wiki-CS (``data.json`` of pmernyei/wiki-cs-dataset)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from imgcl._core.documents import JSON_GROWTH, parse_json, read_bytes
from imgcl._core.errors import DataNotFoundError, GraphError
from imgcl._core.npy import memory_limit
from imgcl.graph import Graph


def read_wiki_cs(path: str | Path, *, name: str | None = None) -> Graph:
    """Read a graph in the layout of Wiki-CS.

    Args:
        path: a JSON file, one object with ``features`` (a list of numbers per node), ``labels`` (a class per node)
            and ``links`` (a list of neighbours per node). Its own splits are left alone.
        name: what to call the graph; by default the file's name.

    Raises:
        GraphError: when a part is missing or does not fit the others.
    """
    path = Path(path)
    if not path.is_file():
        raise DataNotFoundError(f"there is no file {path}")
    size, limit = path.stat().st_size, memory_limit()
    if size * JSON_GROWTH > limit:
        raise GraphError(
            f"{path} needs about {JSON_GROWTH * size / 1e9:,.1f} GB, more than half of the memory here "
            f"({limit / 1e9:,.1f} GB): write it as tables and use imgcl import, which keeps a graph on disk"
        )
    try:
        content = parse_json(read_bytes(path, size))
    except (OSError, ValueError) as error:
        raise GraphError(f"{path} is not readable JSON ({error}): get the file again") from None
    features, labels, links = (_part(content, part, path) for part in ("features", "labels", "links"))
    if len(links) != len(features):
        raise GraphError(f"{path}: links has length {len(links)} but features has {len(features)} rows")
    try:
        lengths = [len(neighbours) for neighbours in links]
        targets = np.array([node for neighbours in links for node in neighbours] or np.zeros(0, dtype=np.int64))
        edges = np.stack([np.repeat(np.arange(len(links)), lengths), targets])
        return Graph.from_edges(edges, features, labels, name=name or path.stem)
    except GraphError as error:
        raise GraphError(f"{path}: {error}") from None
    except (TypeError, ValueError) as error:
        raise GraphError(f"{path}: links must be a list of node numbers per node ({error})") from None


def _part(content: Any, part: str, path: Path) -> list[Any]:
    values = content.get(part) if isinstance(content, dict) else None
    if not isinstance(values, list):
        raise GraphError(f"{path}: the list {part!r} is missing: expected features, labels and links, one per node")
    return values
