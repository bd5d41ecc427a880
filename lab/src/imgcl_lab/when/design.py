"""The settings of the map: a low-discrepancy design over the knobs of graph, labels and training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import qmc

from imgcl.studies.grid import NONE
from imgcl.training.estimator import IMGCL, make_config
from imgcl.training.settings import RunConfig, ScopeSettings

N_SETTINGS = 200
SOBOL_BITS = 8  # the design is the beginning of 2^8 points
SEED = 2023
N_CLASSES = 4
N_FEATURES = 64
MEAN_DEGREE = 8
LEAST_NODES, MOST_NODES = 200, 5600  # the class-size ratio is drawn within what these allow for the tail size
MOST_LABELLED = 0.15  # of the nodes
SCOPES = ("train", "inductive")


@dataclass(frozen=True)
class Knob:
    """A knob of the map.

    Attributes:
        code: its letter in the name of a setting.
        title: what tables and figures call it.
        low: its least value.
        high: its greatest.
        log: whether the design is even on a logarithmic scale.
        whole: whether it is a whole number.
        seen: whether a user with a graph can know it, so that a rule may use it.
    """

    code: str
    title: str
    low: float
    high: float
    log: bool = False
    whole: bool = False
    seen: bool = True

    def at(self, share: float, low: float | None = None, high: float | None = None) -> float:
        """The value at a share of the range, or of a narrower range."""
        low, high = self.low if low is None else low, self.high if high is None else high
        value = low * (high / low) ** share if self.log else low + (high - low) * share
        return float(round(value)) if self.whole else float(f"{value:.3g}")


KNOBS: dict[str, Knob] = {
    "homophily": Knob("h", "homophily", 0.1, 0.95),
    "signal": Knob("s", "feature signal", 0.3, 3.0, seen=False),
    "tail": Knob("t", "nodes of the smallest class", 5, 500, log=True, whole=True),
    "ratio": Knob("r", "class-size ratio", 1, 1000, log=True),
    "exponent": Knob("x", "exponent of the degrees", 2.1, 4.0),
    "by_class": Knob("c", "degree by class size", -0.5, 0.5),
    "labels": Knob("b", "labels per class", 2, 50, log=True, whole=True),
    "width": Knob("w", "embedding width", 8, 256, log=True, whole=True),
    "layers": Knob("l", "layers", 0.5, 3.5, whole=True),
    "epochs": Knob("e", "epochs", 30, 150, log=True, whole=True),
    "unseen": Knob("i", "test nodes unseen", -0.5, 1.5, whole=True),
}


@dataclass(frozen=True)
class Setting:
    """One setting: a graph, its labels and a training; the values of all knobs by name, and its number.

    Example:
        >>> setting = design()[0]
        >>> Setting.parse(setting.name) == setting
        True
    """

    number: int
    homophily: float
    signal: float
    tail: float
    ratio: float
    exponent: float
    by_class: float
    labels: float
    width: float
    layers: float
    epochs: float
    unseen: float

    @property
    def name(self) -> str:
        """The setting as one label of a journal, from which it can be read back."""
        return " ".join([f"{self.number:03d}", *(f"{knob.code}{getattr(self, key):g}" for key, knob in KNOBS.items())])

    @classmethod
    def parse(cls, name: str) -> Setting:
        """The setting of this name."""
        number, *values = name.split()
        return cls(int(number), *(float(value[1:]) for value in values))

    @property
    def knobs(self) -> dict[str, float]:
        """All knobs by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "number"}

    @property
    def class_sizes(self) -> list[int]:
        """Nodes of every class, largest first."""
        return [round(self.tail * self.ratio ** (k / (N_CLASSES - 1))) for k in reversed(range(N_CLASSES))]

    @property
    def imbalance(self) -> str:
        """The law of the labels: as the graph is, so many of them."""
        return f"natural@{self.labels:g}/class"

    def source(self, seed: int) -> str:
        """The graph of a seed, as ``load_graph`` takes it; every seed has another."""
        options = {
            "class_sizes": "/".join(map(str, self.class_sizes)),
            "homophily": self.homophily,
            "mean_degree": MEAN_DEGREE,
            "degree_exponent": self.exponent,
            "degree_by_class": self.by_class,
            "n_features": N_FEATURES,
            "feature_signal": self.signal,
            "seed": 1000 * self.number + seed,
        }
        return "synthetic:" + ",".join(f"{key}={value}" for key, value in options.items())

    def config(self, method: str, balance: str, seed: int, overrides: Mapping[str, Any]) -> RunConfig:
        """The pre-training of a seed."""
        own = {"epochs": int(self.epochs), "dim": int(self.width), "layers": int(self.layers)}
        return make_config(
            "synthetic",
            method=method,
            balance=None if balance == NONE else balance,
            overrides={**overrides, **own},
            scope=ScopeSettings(scope=SCOPES[int(self.unseen)], imbalance=self.imbalance),
            seed=seed,
        )


BALANCES = {NONE: NONE, IMGCL: IMGCL}


def design(n: int = N_SETTINGS) -> list[Setting]:
    """The first n settings of the map.

    Example:
        >>> settings = design()
        >>> len(settings), max(sum(setting.class_sizes) for setting in settings) <= MOST_NODES + N_CLASSES
        (200, True)
    """
    points = qmc.Sobol(len(KNOBS), rng=np.random.default_rng(SEED)).random_base2(SOBOL_BITS)[:n]
    return [_setting(number, dict(zip(KNOBS, map(float, point), strict=True))) for number, point in enumerate(points)]


def _setting(number: int, shares: Mapping[str, float]) -> Setting:
    values = {key: knob.at(shares[key]) for key, knob in KNOBS.items()}
    values["layers"], values["unseen"] = max(1.0, min(3.0, values["layers"])), max(0.0, min(1.0, values["unseen"]))
    low, high = (_ratio_of(values["tail"], nodes) for nodes in (LEAST_NODES, MOST_NODES))
    values["ratio"] = KNOBS["ratio"].at(shares["ratio"], low, high)
    nodes = _nodes(values["tail"], values["ratio"])
    values["labels"] = float(min(values["labels"], int(MOST_LABELLED * nodes / N_CLASSES)))
    return Setting(number, **values)


def _nodes(tail: float, ratio: float) -> float:
    return float(sum(tail * ratio ** (k / (N_CLASSES - 1)) for k in range(N_CLASSES)))


def _ratio_of(tail: float, nodes: float) -> float:
    """The class-size ratio within the knob's range that comes nearest to this number of nodes."""
    knob = KNOBS["ratio"]
    if nodes <= _nodes(tail, knob.low):
        return knob.low
    if nodes >= _nodes(tail, knob.high):
        return knob.high
    return float(brentq(lambda ratio: _nodes(tail, ratio) - nodes, knob.low, knob.high))
