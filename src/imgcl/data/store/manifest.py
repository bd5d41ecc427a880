"""The manifest of a graph store: what lies in the directory, and how to tell that it is whole.

A store is a directory of ``.npy`` files and one ``manifest.json``:

=======================  ==============================================================
``indptr``, ``indices``  the symmetric CSR adjacency
``edge_weight``          weights of its entries, where edges have some
``received_*``           the nodes that each node sees, where that is one direction of the edges
``relation_0_*``         the same three of the first relation that is kept side by side, and so on
``x``                    dense features (float32 or float16), or
``x_indptr`` and so on   ``x_indptr``, ``x_indices``, ``x_data``: sparse ones
``y``                    labels, -1 where unknown
``node_time``            times of the nodes, nan where unknown
``*_names``              UTF-8 text of all names (uint8), and ``*_names_ends``
=======================  ==============================================================
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from imgcl._core.checksums import file_checksum, json_checksum
from imgcl._core.documents import first_problem, read_json
from imgcl._core.errors import GraphError
from imgcl._core.npy import map_array
from imgcl.graph.checks import Cleaning

FORMAT = "imgcl-graph-store-1"
FILE = "manifest.json"
LARGEST = 1 << 28  # bytes of a manifest: a million class names fit
Size = Annotated[int, Field(ge=0, lt=2**63)]
INDEX, NAMES, ENDS = (1, ("<i4", "<i8")), (1, ("|u1",)), (1, ("<i8",))
# Dimensions and types of every array: the compiled kernels are made for these. Names of arrays become names of files,
# so that only these are taken from a manifest, never a path.
LAYOUT: dict[str, tuple[int, tuple[str, ...]]] = {
    "indptr": INDEX,
    "indices": INDEX,
    "edge_weight": (1, ("<f4",)),
    "received_indptr": INDEX,
    "received_indices": INDEX,
    "received_edge_weight": (1, ("<f4",)),
    "x": (2, ("<f4", "<f2")),
    "x_indptr": INDEX,
    "x_indices": INDEX,
    "x_data": (1, ("<f4",)),
    "x_shape": (1, ("<i8",)),
    "y": (1, ("<i8",)),
    "node_time": (1, ("<f8",)),
    "node_names": NAMES,
    "node_names_ends": ENDS,
    "feature_names": NAMES,
    "feature_names_ends": ENDS,
}
RELATION = "relation_[0-9]{1,2}_"
ArrayName = Annotated[str, Field(pattern=f"^({'|'.join(LAYOUT)}|{RELATION}(indptr|indices|edge_weight))$")]
Cleaned = Annotated[str, Field(pattern=f"^({'|'.join(each.name for each in fields(Cleaning))})$")]


@dataclass(frozen=True)
class StoredArray:
    """Shape, type, size in bytes and checksum of one file of the store."""

    shape: tuple[Size, ...]
    dtype: str
    bytes: Size
    checksum: str

    @classmethod
    def describe(cls, path: Path) -> StoredArray:
        """What the file holds now."""
        array = map_array(path)
        return cls(tuple(array.shape), array.dtype.str, path.stat().st_size, file_checksum(path))


@dataclass(frozen=True)
class Manifest:
    """Everything about a store but the arrays themselves.

    Attributes:
        name: of the graph.
        fingerprint: of the graph's content, so that opening need not read it all.
        arrays: the files, by name.
        class_names: one name per class, or ``None``.
        cleaning: what was cleaned when the graph was made.
        relations: names of the relations that are kept side by side.
        notes: what else is known of the graph.
        time_column: what the times of the nodes are called.
        time_dates: whether they are seconds since 1970.
    """

    name: str
    fingerprint: str
    arrays: dict[ArrayName, StoredArray]
    class_names: tuple[str, ...] | None = None
    cleaning: dict[Cleaned, Size] = field(default_factory=dict)
    relations: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)
    time_column: str = "time"
    time_dates: bool = False

    def to_json(self) -> str:
        """The manifest as text, with a checksum of itself."""
        content = {"format": FORMAT, **asdict(self)}
        return json.dumps({**content, "checksum": json_checksum(content)}, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, directory: Path) -> Manifest:
        """The manifest of a store, refused unless it is whole and of this version."""
        path = directory / FILE
        try:
            content = read_json(path, largest=LARGEST)
            claimed, version = content.pop("checksum"), content.pop("format")
            found = json_checksum({"format": version, **content})
        except FileNotFoundError:
            raise GraphError(f"{directory} is not a graph store: it has no {FILE}") from None
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise GraphError(f"{path} is damaged ({error}): import the graph again") from None
        if version != FORMAT:
            raise GraphError(f"{path} has format {version!r}, this version reads {FORMAT!r}: import the graph again")
        if claimed != found:
            raise GraphError(f"{path} is damaged (its checksum does not fit): import the graph again")
        try:
            return _checks().validate_python(content)
        except ValidationError as error:
            raise GraphError(f"{path} is damaged ({first_problem(error)}): import the graph again") from None


@cache
def _checks() -> TypeAdapter[Manifest]:
    return TypeAdapter(Manifest)
