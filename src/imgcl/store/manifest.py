"""The manifest of a graph store: what lies in the directory, and how to tell that it is whole.

A store is a directory of ``.npy`` files and one ``manifest.json``:

=======================  ==============================================================
``indptr``, ``indices``  the symmetric CSR adjacency
``x``                    dense features (float32 or float16), or
``x_indptr`` and so on   ``x_indptr``, ``x_indices``, ``x_data``: sparse ones
``y``                    labels, -1 where unknown
``*_names``              UTF-8 text of all names (uint8), and ``*_names_ends``
=======================  ==============================================================
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from imgcl.errors import GraphError

FORMAT = "imgcl-graph-store-1"
FILE = "manifest.json"
CHUNK = 1 << 24  # bytes hashed at once


@dataclass(frozen=True)
class StoredArray:
    """Shape, type, size in bytes and checksum of one file of the store."""

    shape: tuple[int, ...]
    dtype: str
    bytes: int
    checksum: str

    @classmethod
    def describe(cls, path: Path) -> StoredArray:
        """What the file holds now."""
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        return cls(tuple(array.shape), array.dtype.str, path.stat().st_size, checksum(path))


@dataclass(frozen=True)
class Manifest:
    """Everything about a store but the arrays themselves.

    Attributes:
        name: of the graph.
        fingerprint: of the graph's content, so that opening need not read it all.
        arrays: the files, by name.
        class_names: one name per class, or ``None``.
        cleaning: what was cleaned when the graph was made.
    """

    name: str
    fingerprint: str
    arrays: dict[str, StoredArray]
    class_names: tuple[str, ...] | None = None
    cleaning: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> str:
        """The manifest as text, with a checksum of itself."""
        content = {"format": FORMAT, **asdict(self)}
        return json.dumps({**content, "checksum": _digest(content)}, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, directory: Path) -> Manifest:
        """The manifest of a store, refused unless it is whole and of this version."""
        path = directory / FILE
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            claimed, version = content.pop("checksum"), content.pop("format")
        except FileNotFoundError:
            raise GraphError(f"{directory} is not a graph store: it has no {FILE}") from None
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise GraphError(f"{path} is damaged ({error}): import the graph again") from None
        if version != FORMAT:
            raise GraphError(f"{path} has format {version!r}, this version reads {FORMAT!r}: import the graph again")
        if claimed != _digest({"format": version, **content}):
            raise GraphError(f"{path} is damaged (its checksum does not fit): import the graph again")
        arrays = {
            name: StoredArray(**{**entry, "shape": tuple(entry["shape"])}) for name, entry in content["arrays"].items()
        }
        names = content["class_names"]
        return cls(**{**content, "arrays": arrays, "class_names": None if names is None else tuple(names)})


def checksum(path: Path) -> str:
    """Hash of a file's bytes."""
    digest = hashlib.blake2b(digest_size=16)
    with open(path, "rb") as handle:
        while chunk := handle.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _digest(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
