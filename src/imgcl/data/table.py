"""The table of data sets."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from imgcl.data.built_in import BUILT_IN
from imgcl.data.features import split_features
from imgcl.data.public import PUBLIC, find_public


@dataclass(frozen=True)
class DatasetRow:
    """One data set: sizes (``None`` where the caller decides), what it is, raw file, where that comes from and lies."""

    name: str
    nodes: int | None
    edges: int | None
    features: int | None
    classes: int | None
    about: str
    file: str | None
    origin: str | None
    path: Path | None
    built_in: bool = False

    @property
    def present(self) -> bool:
        """Whether it can be loaded without the network."""
        return self.built_in or self.path is not None

    def to_dict(self) -> dict[str, Any]:
        """The row as plain values."""
        return {**asdict(self), "path": None if self.path is None else str(self.path), "present": self.present}


def about(source: str) -> str | None:
    """What the nodes, edges and classes of a data set are; ``None`` for a path or an unknown data set.

    Example:
        >>> about("digits")
        "scikit-learn's handwritten digits, each linked to those that look most like it; classes are 0 to 9"
    """
    name = split_features(source)[0].strip().lower().replace("_", "-")
    found = BUILT_IN.get(name) or PUBLIC.get(name)
    return None if found is None else found.about


def dataset_table(*, data_dir: str | Path | None = None, cache_dir: str | Path | None = None) -> list[DatasetRow]:
    """Every data set that :func:`imgcl.data.load_graph` knows by name, and whether it is on this machine.

    Example:
        >>> [row.name for row in dataset_table() if row.built_in]
        ['digits', 'synthetic']
    """
    public_rows = [
        DatasetRow(
            name,
            public.nodes,
            public.edges,
            public.features,
            public.classes,
            public.about,
            public.file,
            public.url,
            find_public(name, data_dir=data_dir, cache_dir=cache_dir),
        )
        for name, public in PUBLIC.items()
    ]
    built_in_rows = [
        DatasetRow(
            name, made.nodes, made.edges, made.features, made.classes, made.about, None, None, None, built_in=True
        )
        for name, made in BUILT_IN.items()
    ]
    return public_rows + built_in_rows
