"""The declaration of a study, as code or as a TOML file, and its expansion into cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from imgcl._core.documents import read_toml
from imgcl._core.errors import DataNotFoundError, InputError
from imgcl._core.words import listed
from imgcl.baselines import resolve_baseline
from imgcl.evaluation.estimators import choose_classifiers
from imgcl.evaluation.names import resolve_probe
from imgcl.graph import Graph
from imgcl.imbalance import parse_imbalance
from imgcl.methods import resolve_method
from imgcl.studies.cells import BaselineCell, Cell, EvaluateCell, GraphRef, PretrainCell
from imgcl.studies.lines import GROUP_LABELS
from imgcl.studies.protocol import CLASSIFIERS, ORDINARY, Protocol
from imgcl.training.estimator import IMGCL, make_config
from imgcl.training.settings import RunConfig, ScopeSettings, validated

NONE = "none"  # a balance setting: the plain method
MOST_POINTS = 100_000


class StudySpec(BaseModel):
    """A grid: every combination of data set, method, balance setting, imbalance and seed.

    Attributes:
        name: of the study and of its directory.
        datasets: names or paths of labelled graphs; none for a study whose cells need no graph.
        methods: contrastive methods.
        balances: balance settings by the name they have in tables; ``none`` is the plain method, ``imgcl`` the paper's.
        baselines: evaluated beside them, with one seed.
        imbalances: laws of the training labels.
        classifiers: names of ``imgcl.evaluation.CLASSIFIERS``.
        scope: see ``imgcl.imbalance.scopes``; ``graph`` and ``inductive`` pre-train anew for every split.
        preset: ``auto``, ``fast`` or ``paper``.
        settings: of method and training, to replace the preset's.
        seeds: number of pre-trainings of each kind.
        splits: number of splits.
        split_seed: seed of the splits.
        probe: how classifiers are fitted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    datasets: tuple[str, ...]
    methods: tuple[str, ...] = ("gbt",)
    balances: dict[str, str] = Field(default_factory=lambda: {NONE: NONE, IMGCL: IMGCL})
    baselines: tuple[str, ...] = ()
    imbalances: tuple[str, ...] = ("exp:100",)
    classifiers: tuple[str, ...] = CLASSIFIERS
    scope: Literal["train", "graph", "inductive"] = "train"
    preset: Literal["auto", "fast", "paper"] = "fast"
    settings: dict[str, Any] = Field(default_factory=dict)
    seeds: int = Field(2, ge=1, le=10_000)
    splits: int = Field(20, ge=1, le=100_000)
    split_seed: int = 0
    probe: str = "batched"

    def checked(self) -> StudySpec:
        """The same, or an error that names what is unknown, repeated, or too much."""
        self._check_grid()
        for method in self.methods:
            resolve_method(method)
        for baseline in self.baselines:
            resolve_baseline(baseline)
        choose_classifiers(self.classifiers)
        resolve_probe(self.probe)
        for imbalance in self.imbalances:
            if imbalance != ORDINARY or self.scope != "train":
                parse_imbalance(imbalance)
        return self

    def _check_grid(self) -> None:
        """Refuse a grid that counts a result twice, calls ImGCL the plain method, or is empty or endless."""
        for name in ("datasets", "methods", "baselines", "imbalances", "classifiers"):
            values = getattr(self, name)
            if repeated := [value for value in values if values.count(value) > 1]:
                raise InputError(f"setting {name} names {repeated[0]!r} more than once: its results would count twice")
        if self.balances.get(NONE, NONE) != NONE:
            raise InputError(f"balance {NONE!r} is the plain method: give {self.balances[NONE]!r} another name")
        pretrained = len(self.methods) * len(self.balances) * self.seeds * (1 if self.scope == "train" else self.splits)
        points = len(self.datasets) * len(self.imbalances) * (pretrained + len(self.baselines))
        if self.datasets and not 1 <= points <= MOST_POINTS:  # a study without graphs brings points of its own
            raise InputError(f"the study has {points:,} points, it must have 1 to {MOST_POINTS:,}")


@dataclass(frozen=True)
class Point:
    """A place of the grid.

    Attributes:
        labels: what it is called in tables.
        cell: what is computed for it.
        stage: points of an earlier stage are computed first, so that an interrupted study has what matters most.
    """

    labels: Mapping[str, Any]
    cell: Cell
    stage: int = 0

    def line(self) -> dict[str, Any]:
        """The point in a journal."""
        needs = self.cell.needs
        return {**self.labels, "kind": self.cell.kind, "key": self.cell.key, "pretrain": needs and needs.key}


@dataclass(frozen=True)
class Graphs:
    """The graphs of a study, by the name the study calls them; those without a file say so."""

    loaded: Mapping[str, tuple[GraphRef, Graph]]
    missing: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, datasets: Sequence[str], data_dir: str | Path | None = None) -> Graphs:
        """Load them; a public data set that is not there is remembered, anything else is an error."""
        from imgcl.data import load_graph
        from imgcl.data.public import PUBLIC

        loaded: dict[str, tuple[GraphRef, Graph]] = {}
        missing: dict[str, str] = {}
        for source in datasets:
            try:
                graph = load_graph(source, data_dir=data_dir)
            except DataNotFoundError:
                if source not in PUBLIC:
                    raise
                missing[source] = "file not present"
                continue
            if graph.y is None:
                raise InputError(f"graph {source!r} has no labels: a study evaluates, and needs some")
            if (occurring := np.count_nonzero(graph.class_sizes)) < 2:
                found = "only one class" if occurring else "no labelled node"
                raise InputError(f"graph {source!r} has {found}: a study evaluates, and needs at least two classes")
            if graph.name in loaded:
                raise InputError(f"two graphs of the study are called {graph.name!r}: give their files other names")
            ref = GraphRef(
                source=source, name=graph.name, fingerprint=graph.fingerprint, n_classes=graph.n_occurring_classes
            )
            loaded[graph.name] = (ref, graph)
        return cls(loaded, missing)

    @property
    def refs(self) -> list[GraphRef]:
        return [ref for ref, _ in self.loaded.values()]


def read_spec(path: str | Path) -> StudySpec:
    """Read a study of the user's own from a TOML file; without a name it gets the file's."""
    file = Path(path)
    try:
        values = read_toml(file)
    except FileNotFoundError:
        raise DataNotFoundError(f"there is no study file {file}") from None
    except ValueError as error:  # of TOML, of its encoding, of a number with thousands of digits
        raise InputError(f"{file} is not readable TOML: {error}") from None
    spec = validated(StudySpec, {"name": file.stem, **values}).checked()
    if not spec.datasets:
        raise InputError(f"{file}: datasets is empty: name at least one graph")
    here = file.parent
    paths = {source: here / source for source in spec.datasets if _is_file(here / source)}
    return spec.model_copy(update={"datasets": tuple(str(paths.get(source, source)) for source in spec.datasets)})


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long for a file
        return False


def expand(spec: StudySpec, graphs: Graphs) -> list[Point]:
    """Every point of the grid, seeds last, so that a study interrupted early has one seed of everything."""
    return [point for seed in range(spec.seeds) for ref in graphs.refs for point in _points(spec, ref, seed)]


def pretrain_cell(spec: StudySpec, ref: GraphRef, method: str, balance: str, seed: int) -> PretrainCell:
    """The pre-training of a point; ``balance`` is the name of one of the study's balance settings."""
    config = make_config(
        ref.name,
        method=method,
        preset=spec.preset,
        balance=None if spec.balances[balance] == NONE else spec.balances[balance],
        overrides=spec.settings,
        seed=seed,
    )
    return PretrainCell(graph=ref, config=config)


def protocol_of(spec: StudySpec, imbalance: str) -> Protocol:
    """How the points of one imbalance are evaluated."""
    return Protocol(
        imbalance=imbalance,
        classifiers=spec.classifiers,
        splits=spec.splits,
        seed=spec.split_seed,
        probe=spec.probe,
    )


def _points(spec: StudySpec, ref: GraphRef, seed: int) -> list[Point]:
    points = []
    for imbalance in spec.imbalances:
        protocol = protocol_of(spec, imbalance)
        labels: dict[str, Any] = {"dataset": ref.name, "imbalance": imbalance, "seed": seed}
        for method in spec.methods:
            for balance in spec.balances:
                cell = pretrain_cell(spec, ref, method, balance, seed)
                named = {**labels, "method": method, "balance": balance}
                if spec.scope == "train":
                    points.append(Point(named, EvaluateCell(pretrain=cell, protocol=protocol)))
                    continue
                for split in range(spec.splits):
                    tied = _tied(cell.config, ScopeSettings(scope=spec.scope, imbalance=imbalance, split=split))
                    own = PretrainCell(graph=ref, config=tied)
                    points.append(Point({**named, "split": split}, EvaluateCell(pretrain=own, protocol=protocol)))
        if seed == 0:
            for baseline in spec.baselines:
                named = {**labels, "method": baseline, "balance": NONE}
                points.append(Point(named, BaselineCell(graph=ref, baseline=baseline, protocol=protocol)))
    return points


def _tied(config: RunConfig, scope: ScopeSettings) -> RunConfig:
    return config.model_copy(update={"scope": scope})


def read_conditions(conditions: Sequence[str]) -> dict[str, set[str]]:
    """Conditions such as ``dataset=dblp,method=gbt`` as values by key.

    Example:
        >>> read_conditions(["method=gbt,dataset=dblp"])
        {'method': {'gbt'}, 'dataset': {'dblp'}}
    """
    wanted: dict[str, set[str]] = {}
    for pair in (pair for text in conditions for pair in listed(text)):
        key, equals, value = (piece.strip() for piece in pair.partition("="))
        if not equals or key not in GROUP_LABELS:
            raise InputError(f"condition {pair!r}: write key=value with a key of {', '.join(GROUP_LABELS)}")
        wanted.setdefault(key, set()).add(value)
    return wanted


def only_datasets(spec: StudySpec, conditions: Sequence[str]) -> StudySpec:
    """The study without the data sets that the conditions leave out, so that they need not be loaded."""
    names = {source: Path(source).stem if Path(source).suffix else source for source in spec.datasets}
    wanted = read_conditions(conditions).get("dataset", set(names.values()))
    for value in sorted(wanted - set(names.values())):
        raise InputError(f"condition 'dataset={value}': this study has {', '.join(names.values())}")
    return spec.model_copy(update={"datasets": tuple(source for source, name in names.items() if name in wanted)})


def only(points: Sequence[Point], conditions: Sequence[str]) -> list[Point]:
    """The points that fit conditions such as ``dataset=dblp,method=gbt``; of one key, several values may be given.

    Raises:
        InputError: when a key or value is not one of the study's.
    """
    wanted = read_conditions(conditions)
    for key, values in wanted.items():
        known = dict.fromkeys(str(point.labels[key]) for point in points if key in point.labels)
        for value in sorted(values - set(known)):
            raise InputError(f"condition '{key}={value}': this study has {', '.join(known) or 'no ' + key}")
    return [point for point in points if all(str(point.labels.get(key)) in values for key, values in wanted.items())]
