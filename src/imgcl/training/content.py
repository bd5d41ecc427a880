"""What the files of a run directory must hold: every reader of them uses these checks."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from imgcl._core.documents import first_problem
from imgcl.graph.checks import MAX_CLASSES

ROWS = ("embedding.npy", "own.npy", "neighbours.npy")  # arrays with a row for every node
OF_A_RELATION = "neighbours-"
Count = Annotated[int, Field(ge=0, lt=2**63)]


class _File(BaseModel):
    model_config = ConfigDict(strict=True)


class GraphFacts(_File):
    """The graph that a run was made for."""

    name: str
    source: str
    fingerprint: str
    n_features: Count | None = None


class ConfigFile(_File):
    """``config.json``; the settings are checked when they are used."""

    config: dict[str, Any]
    graph: GraphFacts
    versions: dict[str, str]
    threads: Count


class LabellingEntry(_File):
    """One :class:`imgcl.balance.history.Labelling`."""

    epoch: Count
    alpha: float
    sizes: list[Count] = Field(min_length=1)
    drawn: list[float] = Field(min_length=1)
    selected: Count
    agreement: float | None
    ari: float | None
    nmi: float | None
    true_drawn: Annotated[list[float], Field(min_length=1)] | None


class LookEntry(_File):
    """A look of :class:`imgcl.training.settling.Settling`."""

    epoch: Count
    kept: float | None


class HistoryFile(_File):
    """``history.json``."""

    loss: list[float]
    labellings: list[LabellingEntry]
    settling: list[LookEntry] = Field(default_factory=list)


class NamesFile(_File):
    """``names.json``."""

    nodes: list[str] | None
    classes: list[str] | None
    features: list[str] | None = None


FILES: dict[str, type[_File]] = {"config.json": ConfigFile, "history.json": HistoryFile, "names.json": NamesFile}


def json_problem(name: str, content: dict[str, Any]) -> str | None:
    """What is wrong with the content of a JSON file of a run, in a few words."""
    try:
        FILES[name].model_validate(content)
    except ValidationError as error:
        return first_problem(error)
    return None


def array_problem(name: str, array: NDArray[Any]) -> str | None:
    """What is wrong with an array of a run, in a few words."""
    rows = name in ROWS or name.startswith(OF_A_RELATION)
    dimensions, kinds = (2, "f") if rows else (1, "i")
    if array.ndim != dimensions or array.dtype.kind not in kinds:
        return f"shape {array.shape} of {array.dtype}"
    if rows:
        return None if np.isfinite(array).all() else "values that are not finite"
    low, high = (-1, MAX_CLASSES) if name == "labels.npy" else (0, 2**63 - 1)
    return None if not len(array) or (array.min() >= low and array.max() < high) else "numbers that are too large"
