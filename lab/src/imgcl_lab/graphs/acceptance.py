"""What the default setting was meant to reach, and whether it did: decided by the journal alone."""

from __future__ import annotations

from collections.abc import Mapping

from imgcl.evaluation import Estimate
from imgcl.studies.report import Table, titled
from imgcl.studies.results import Results
from imgcl_lab.graphs.figures import BEST, against_reference, difference, found
from imgcl_lab.graphs.rows import ALONE, DEFAULT

MARGIN = 0.005
FLOORS = {"amazon-photo": 92.0, "amazon-computers": 89.7, "dblp": 80.5, "amazon-fraud": 88.0, "uai2010": 61.5}
REACHED, MISSED, OPEN = "reached", "missed", "not run"
HEADER = ["what the default must do", "found", "verdict"]
NOTE = "Classifier `best`. Decided by the means, before rounding; differences in points with 95 % interval."

Gains = Mapping[str, Estimate | None]


def acceptance(results: Results) -> Table:
    """One line per requirement."""
    datasets = results.values("dataset")
    gains = {name: against_reference(results, name, DEFAULT) for name in datasets}
    tails = {name: _tail(results, name) for name in datasets}
    rows = [
        ["not more than 0.5 below the better of own and propagated features, on every graph", *_never_below(gains)],
        ["0.5 or more above both of them, on at least half of the graphs", *_half_above(gains)],
        *([f"{titled(name)}: {floor:.1f} or more", *_floor(results, name, floor)] for name, floor in FLOORS.items()),
        ["tail recall not more than 0.5 below that of the embedding alone, on every graph", *_never_below(tails)],
    ]
    return Table("What was to be reached", HEADER, rows, NOTE)


def _tail(results: Results, dataset: str) -> Estimate | None:
    alone, default = found(results, dataset, ALONE), found(results, dataset, DEFAULT)
    return None if alone is None or default is None else difference(alone, default, "tail")


def is_below(gain: Estimate | None) -> bool:
    """Whether a loss is larger than allowed."""
    return gain is not None and (gain.mean or 0.0) < -MARGIN


def is_above(gain: Estimate | None) -> bool:
    """Whether a gain is large enough to count."""
    return gain is not None and (gain.mean or 0.0) >= MARGIN


def listed(gains: Gains) -> str:
    """Gains by graph, the lowest first."""
    known = {name: gain for name, gain in gains.items() if gain is not None and gain.mean is not None}
    ordered = sorted(known.items(), key=lambda item: item[1].mean or 0.0)
    return ", ".join(f"{titled(name)} {gain.points()}" for name, gain in ordered)


def _never_below(gains: Gains) -> list[str]:
    known = {name: gain for name, gain in gains.items() if gain is not None and gain.mean is not None}
    below = {name: gain for name, gain in known.items() if is_below(gain)}
    if below:
        return [f"below on {len(below)} of {len(known)}: {listed(below)}", MISSED]
    if not known:
        return ["-", OPEN]
    lowest = min(known, key=lambda name: known[name].mean or 0.0)
    complete = len(known) == len(gains)
    return [f"lowest of {len(known)}: {listed({lowest: known[lowest]})}", REACHED if complete else OPEN]


def _half_above(gains: Gains) -> list[str]:
    known = [gain for gain in gains.values() if gain is not None]
    above = sum(map(is_above, known))
    half, possible = len(gains) / 2, above + len(gains) - len(known)
    verdict = REACHED if known and above >= half else MISSED if possible < half else OPEN
    return [f"{above} of {len(gains)}", verdict]


def _floor(results: Results, dataset: str, floor: float) -> list[str]:
    default = found(results, dataset, DEFAULT)
    accuracy = None if default is None else default.estimate(BEST, "accuracy")
    if accuracy is None or accuracy.mean is None:
        return ["-", OPEN]
    return [f"{100 * accuracy.mean:.2f}", REACHED if 100 * accuracy.mean >= floor else MISSED]
