"""Probabilities that mean what they say: a classifier's scores calibrated on nodes that it was not trained on.

Calibration keeps the order of nodes of two classes; of several it may move nodes whose other classes differ, which is
why ranks are made from scores, never from probabilities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logit, softmax

from imgcl._core.errors import InputError
from imgcl.evaluation.metrics import checked_scores

Floats = NDArray[np.float64]
ENOUGH, ENOUGH_OF_EACH = 1000, 100  # labels from which isotonic regression is steadier than two parameters
GROUP = 50  # labels that share a step of the isotonic regression: with single ones its ends are 0 and 1
FEWEST = 10  # labels below which scores are taken as they are
EDGE = 0.02  # of the slope: how steep an isotonic regression goes on beyond its ends
FLAT = 0.1  # spread of logits below which their size is the regularisation's
CLEARLY = 4.0  # log likelihood by which stretched logits must be better than the class shares: p is 0.5 %
SPREAD = 1.0  # prior standard deviation of the parameters: only matters with a handful of labels


@dataclass(frozen=True)
class Calibration:
    """From logits to probabilities: ``softmax(slope * logits + bias)``, or for two classes along a rising curve.

    The curve is linear in log odds between its points and nearly flat beyond them, where nothing is known: it rises
    just enough that no two scores become one probability.

    No finite number of labels makes a class certain. As if one label more had been drawn that could be of any class,
    ``floor`` remains of each: p becomes ``floor + (1 - sum(floor)) p``, which keeps the order and the mean.

    Attributes:
        slope: the inverse temperature.
        bias: of each class; not used by a curve.
        curve: points (log odds of class 1, its probability) of the isotonic regression; empty without one.
        floor: the least probability of each class; empty: none.
    """

    slope: float
    bias: tuple[float, ...]
    curve: tuple[tuple[float, float], ...] = ()
    floor: tuple[float, ...] = ()

    def probabilities(self, logits: ArrayLike) -> Floats:
        """Class probabilities (n, K) at the class shares of the labels that it was fitted to."""
        p = self._without_floor(_from_largest(logits))
        return p if not self.floor else np.array(self.floor) + (1 - sum(self.floor)) * p

    def _without_floor(self, z: Floats) -> Floats:
        if not self.curve:
            return np.asarray(softmax(self.slope * z + np.array(self.bias), axis=1))
        x, p = np.array(self.curve).T
        odds = z[:, 1] - z[:, 0]
        inside = np.clip(odds, x[0], x[-1])
        one = expit(np.interp(inside, x, logit(p)) + EDGE * self.slope * (odds - inside))
        return np.stack([1 - one, one], axis=1)

    @property
    def kind(self) -> str:
        """``isotonic`` or ``temperature``."""
        return "isotonic" if self.curve else "temperature"

    def to_dict(self) -> dict[str, Any]:
        """Plain values; ``Calibration(**values)`` after :meth:`from_dict`."""
        curve = [list(point) for point in self.curve]
        return {"slope": self.slope, "bias": list(self.bias), "curve": curve, "floor": list(self.floor)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Calibration:
        """Read back what :meth:`to_dict` wrote."""
        curve = tuple((float(x), float(p)) for x, p in values["curve"])
        floor = tuple(map(float, values.get("floor", ())))  # scorers from before it was kept have none
        return cls(float(values["slope"]), tuple(map(float, values["bias"])), curve, floor)


def fit_calibration(logits: ArrayLike, y: ArrayLike, bias: ArrayLike) -> Calibration:
    """Calibrate on out-of-fold logits.

    Slope and biases maximise the likelihood, with a weak pull towards 1 and towards ``bias``. Logits that hardly
    differ, as of a strongly regularised model, are stretched to a spread of 1 first if they then say clearly more than
    the class shares do: their order may be good whatever their size. Two classes with at least 1000 labels, 100 of
    each, get an isotonic regression over groups of 50 neighbouring labels.

    Args:
        logits: (n, K) of nodes outside the training of the classifier that gave them.
        y: their classes.
        bias: what is known of the bias beforehand: log class shares for a classifier that undid them, otherwise 0.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> z = rng.standard_normal(500)
        >>> y = (rng.random(500) < 1 / (1 + np.exp(-z))).astype(int)
        >>> fit_calibration(np.stack([0 * z, 3 * z], axis=1), y, [0, 0]).slope < 0.5  # scores were three times too sure
        True
    """
    scores, classes = checked_scores(logits, y)
    z, start = _from_largest(scores), np.asarray(bias, dtype=np.float64)
    if start.shape != z.shape[1:]:
        raise InputError(f"bias has shape {start.shape}: give one for each of the {z.shape[1]} classes")
    sizes = np.bincount(classes, minlength=z.shape[1])
    floor = tuple((sizes / max(1, len(classes)) / (len(classes) + 1)).tolist())
    slope, fitted = _fitted(z, classes, start)
    if 0 < (spread := _spread(z)) < FLAT:
        stretched, moved = _fitted(z / spread, classes, start)
        if _log_likelihood(stretched * z / spread + moved, classes) > _of_shares(sizes) + CLEARLY:
            slope, fitted = stretched / spread, moved
    enough = z.shape[1] == 2 and len(classes) >= ENOUGH and sizes.min() >= ENOUGH_OF_EACH
    curve = _isotonic(z[:, 1] - z[:, 0], classes) if enough else ()
    return Calibration(slope, tuple(fitted.tolist()), curve, floor)


def _fitted(z: Floats, y: NDArray[np.int64], start: Floats) -> tuple[float, Floats]:
    """Slope and biases; those known beforehand where there are too few labels to fit any."""
    if len(y) < FEWEST or len(np.unique(y)) < 2:
        return 1.0, start
    best = minimize(_loss, np.concatenate([[0.0], start]), (z, y, start), jac=True, method="L-BFGS-B").x
    return float(np.exp(best[0])), best[1:]


def _spread(z: Floats) -> float:
    """How far the logits of a node are apart, over all nodes."""
    return float((z - z.mean(axis=1, keepdims=True)).std()) if z.size else 0.0


def _log_likelihood(logits: Floats, y: NDArray[np.int64]) -> float:
    return float(log_softmax(logits, axis=1)[np.arange(len(y)), y].sum())


def _of_shares(sizes: NDArray[np.int64]) -> float:
    """The log likelihood of the class shares."""
    found = sizes[sizes > 0]
    return float((found * np.log(found / found.sum())).sum())


def _from_largest(logits: ArrayLike) -> Floats:
    """Logits less the largest of their row, which changes no probability: huge ones would round a bias off."""
    z = np.asarray(logits, dtype=np.float64)
    return z - z.max(axis=1, keepdims=True, initial=-np.inf) if len(z) else z


def _loss(point: Floats, z: Floats, y: NDArray[np.int64], start: Floats) -> tuple[float, Floats]:
    """Negative log likelihood plus that of the parameters, and its gradient; the slope is exp(point[0])."""
    slope, bias = np.exp(point[0]), point[1:]
    logs = log_softmax(slope * z + bias, axis=1)
    error = np.exp(logs)
    error[np.arange(len(y)), y] -= 1
    away = np.concatenate([point[:1], bias - start]) / SPREAD**2
    value = -logs[np.arange(len(y)), y].sum() + 0.5 * SPREAD**2 * (away**2).sum()
    return float(value), np.concatenate([[slope * (error * z).sum()], error.sum(axis=0)]) + away


def _isotonic(odds: Floats, y: NDArray[np.int64]) -> tuple[tuple[float, float], ...]:
    """Mean log odds and rate of groups of neighbouring nodes, made to rise; groups of one rate are one point."""
    from sklearn.isotonic import IsotonicRegression

    groups = np.array_split(np.argsort(odds, kind="stable"), len(odds) // GROUP)
    x = np.array([odds[group].mean() for group in groups])
    rates = np.array([(y[group].sum() + y.mean()) / (len(group) + 1) for group in groups])  # never 0 or 1
    weight = np.array([len(group) for group in groups], dtype=np.float64)
    rising, place = np.unique(IsotonicRegression().fit_transform(x, rates, sample_weight=weight), return_inverse=True)
    centre = np.bincount(place, weight * x) / np.bincount(place, weight)
    return tuple(zip(centre.tolist(), rising.tolist(), strict=True))


def reliability(probabilities: ArrayLike, positive: ArrayLike, bins: int = 10) -> list[dict[str, float]]:
    """Mean probability and true rate in bins with equally many nodes each: a calibrated class has both alike.

    Args:
        probabilities: of one class.
        positive: whether each node belongs to it.
        bins: how many; fewer where there are fewer nodes.

    Example:
        >>> reliability([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], bins=2)
        [{'nodes': 2, 'probability': 0.15, 'rate': 0.0}, {'nodes': 2, 'probability': 0.85, 'rate': 1.0}]
    """
    p, hits = np.asarray(probabilities, dtype=np.float64), np.asarray(positive, dtype=np.float64)
    if p.ndim != 1 or p.shape != hits.shape:
        raise InputError(f"probabilities have shape {p.shape} and positive {hits.shape}: give one of each per node")
    groups = np.array_split(np.argsort(p, kind="stable"), max(1, min(bins, len(p)))) if len(p) else []
    return [
        {"nodes": len(g), "probability": round(float(p[g].mean()), 6), "rate": round(float(hits[g].mean()), 6)}
        for g in groups
    ]
