"""Settings of an import."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, InstanceOf, ValidationInfo, field_validator

from imgcl._core.errors import InputError
from imgcl.data.importing.pandas_table import PandasTable, Place

Progress = Callable[[str, int, int | None], None]  # stage, rows done, rows in all (None: not known)
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
LEAST_MEMORY = 200 * 10**6


class RepeatedSettings(BaseModel):
    """The settings that decide which features, labels and edges come out of tables: ``like`` repeats them.

    Attributes:
        id_column: column of the nodes that edges refer to; text or integers.
        src: column of an edge's source.
        dst: column of an edge's target.
        label: column with the class; missing (or -1) is unlabelled. In CSV files it is text: ``1.10`` and ``1.1`` are
            two classes.
        numeric_label: the label is a number: ``3``, ``3.0`` and ``3.00`` are one class.
        features: columns by name, or ``prefix*``; text columns become one feature per value. None, or ``structure``
            alone: features are made from the edges (:func:`imgcl.graph.structure.structural_features`).
        weight: column of an edge's weight, positive; rows where it is 0 or missing are no edges. Weights of rows that
            join the same nodes are summed; an edge that is there in both directions has the mean of its two weights.
        relation: column of an edge's relation (what links its ends).
        relations: ``union``: an edge is an edge, whatever its relation; ``side-by-side``: the edges of every relation
            are kept as well, and give an embedding a block ``neighbours:NAME`` each.
        time: column of an edge's time, dates or numbers.
        node_time: column of a node's time, kept for splits by time.
        directed_as: ``both``: a row is an edge whichever way it points; ``mutual``: only pairs of nodes that
            point at each other are joined.
        on_dangling: what to do with edges that name unknown nodes: ``error`` or ``drop``.
        missing: missing feature values: ``error``, or fill with the column's ``mean`` or with ``zero``; a missing
            category has none of the values.
        most_values: features of a text column at most: where it has more values, the most common ones have a feature
            each, and all others share one, ``COLUMN=(other)``.
        log: feature columns of numbers by name, or ``prefix*`` (one text ``a,b`` names several), whose logarithms are
            taken before all else, ``sign(v) log(1 + |v|)``: amounts and counts of which a few are far larger than all
            others.
        standardise: numeric columns get mean 0 and standard deviation 1; missing values are filled afterwards.
        dtype: how features are stored.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id_column: str = "id"
    src: str = "src"
    dst: str = "dst"
    label: str | None = None
    numeric_label: bool = False
    features: tuple[str, ...] = ()
    weight: str | None = None
    relation: str | None = None
    relations: Literal["union", "side-by-side"] = "union"
    time: str | None = None
    node_time: str | None = None
    directed_as: Literal["both", "mutual", "in", "out"] = "both"
    on_dangling: Literal["error", "drop"] = "error"
    missing: Literal["error", "mean", "zero"] = "error"
    most_values: int = Field(default=50, ge=1)
    log: tuple[str, ...] = ()
    standardise: bool = False
    dtype: Literal["float32", "float16"] = "float32"

    @field_validator("directed_as", mode="before")
    @classmethod
    def _by_its_name_now(cls, given: Any) -> Any:
        """Recipes from before ``both`` had its name call it ``undirected``."""
        return "both" if given == "undirected" else given

    @field_validator("log", mode="before")
    @classmethod
    def _names(cls, given: Any) -> Any:
        return tuple(filter(None, map(str.strip, given.split(",")))) if isinstance(given, str) else given

    @property
    def structural(self) -> bool:
        """Whether features are made from the edges."""
        return self.features in ((), ("structure",))


class ImportSettings(RepeatedSettings):
    """Which tables to read, which columns mean what, and what to do where data are not as they should be.

    Columns and rules are those of :class:`RepeatedSettings`.

    Attributes:
        edges: file, or glob of files, with one edge per row: Parquet, CSV or TSV (gzipped too); or a pandas
            ``DataFrame``, whose types decide as those of a Parquet file do.
        nodes: the same with one node per row; by default the nodes are those that edges name, without labels.
        like: store of an earlier import, whose columns and rules, categories, means and deviations are repeated: the
            features are the same in the same order. Columns and rules that are given as well must agree with it, but
            ``on_dangling`` may differ. A value that the earlier import did not have has none of the features of its
            column; new classes come after the known ones; a table without the label column gives a store without
            labels.
        as_of: keep the edges up to this time (``time``), a date (all of its day), a date and time of day, or a number;
            edges without a time are left out then.
        memory_limit: bytes that the import may use.
        name: what to call the graph; by default as the store.
    """

    edges: str | InstanceOf[PandasTable]
    nodes: str | InstanceOf[PandasTable] | None = None
    like: Path | None = None
    as_of: str | None = None
    memory_limit: int = 2 * 10**9
    name: str | None = None

    @field_validator("edges", "nodes", mode="before")
    @classmethod
    def _take_frames(cls, value: Any, info: ValidationInfo) -> Any:
        return PandasTable(value, str(info.field_name)) if isinstance(value, pd.DataFrame) else value

    @property
    def node_file(self) -> Place:
        """The table that says which nodes there are."""
        return self.edges if self.nodes is None else self.nodes

    @property
    def repeated(self) -> RepeatedSettings:
        """Columns and rules, without files."""
        return RepeatedSettings(**self.model_dump(include=set(RepeatedSettings.model_fields)))


def parse_size(text: str) -> int:
    """A number of bytes such as ``2GB`` or ``512MiB``.

    Example:
        >>> parse_size("1.5 GB"), parse_size("512MiB")
        (1500000000, 536870912)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", text.lower())
    if match is None or match[2] not in UNITS:
        raise InputError(f"memory limit {text!r}: write a size such as 2GB or 512MB")
    size = round(float(match[1]) * UNITS[match[2]])
    if size < LEAST_MEMORY:
        raise InputError(f"memory limit {text!r}: an import needs at least {LEAST_MEMORY // 10**6}MB")
    return size
