"""Pairs of evaluations with the same or one changed setting: the same are compared as by hand, others are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import t as student

from harden.suites import Outcome, suite
from imgcl._core.errors import InputError
from imgcl.evaluation import EvaluationResult, combine, compare, evaluate
from imgcl.imbalance import Split, make_splits

Options = dict[str, Any]
LAWS = ("exp:2", "exp:8", "step:5", "natural")
SAME = ("nothing", "splits given", "saved and read")


def other(rng: np.random.Generator, values: tuple[Any, ...], but: Any) -> Any:
    """Another one of the values."""
    return rng.choice([each for each in values if each != but]).item()


CHANGES: dict[str, Callable[[np.random.Generator, Options], Options]] = {
    "imbalance": lambda rng, now: {"imbalance": other(rng, LAWS, now["imbalance"])},
    "splits": lambda rng, now: {"splits": other(rng, (2, 3, 4, 5), now["splits"])},
    "random_state": lambda rng, now: {"random_state": now["random_state"] + int(rng.integers(1, 1000))},
    "test_per_class": lambda rng, now: {"test_per_class": other(rng, (8, 10, 12), now["test_per_class"])},
    "val_per_class": lambda rng, now: {"val_per_class": other(rng, (2, 3, 4), now["val_per_class"])},
    "train_fraction": lambda rng, now: {"train_fraction": other(rng, (0.15, 0.25, 0.35), now["train_fraction"])},
    "probe": lambda rng, now: {"probe": "sklearn"},
}
NODES = ("labels", "a training node", "a test node")  # changed with the splits given


@suite("results", "protocol: pairs of evaluations with one setting changed or none", full=1000, part=60)
def protocols(n: int) -> Outcome:
    """On the same nodes a comparison is what it is by hand; everything else is refused."""
    outcome = Outcome()
    kinds = (*SAME, *CHANGES, *NODES)
    for i in range(n):
        kind = kinds[i % len(kinds)]
        problem = attempt(kind, np.random.default_rng(i))
        outcome.count(None if problem is None else f"try {i}, {kind}: {problem}")
    return outcome


def attempt(kind: str, rng: np.random.Generator) -> str | None:
    """What went wrong with one pair, if anything."""
    y = rng.permutation(np.repeat([0, 1, 2], rng.integers(40, 80, size=3)))
    embeddings = [np.eye(3)[y] + rng.uniform(0.5, 2) * rng.standard_normal((len(y), 3)) for _ in range(2)]
    settings: Options = {
        "imbalance": rng.choice(LAWS).item(),
        "splits": int(rng.integers(2, 6)),
        "random_state": int(rng.integers(1000)),
        "test_per_class": int(rng.choice([8, 10, 12])),
        "val_per_class": int(rng.integers(2, 5)),
        "train_fraction": float(rng.choice([0.15, 0.25, 0.35])),
    }
    first = evaluated(embeddings[0], y, settings)
    second = changed(kind, rng, embeddings[1], y, settings)
    return compared(first, second) if kind in SAME else refused(first, second)


def evaluated(Z: np.ndarray, y: np.ndarray, settings: Options) -> EvaluationResult:
    return evaluate(Z, y, classifier=("plain", "nearest-mean"), ceiling=0, **settings)


def changed(kind: str, rng: np.random.Generator, Z: np.ndarray, y: np.ndarray, settings: Options) -> EvaluationResult:
    """The second evaluation of a pair."""
    if kind in CHANGES:
        return evaluated(Z, y, settings | CHANGES[kind](rng, settings))
    if kind in ("nothing", "saved and read"):
        result = evaluated(Z, y, settings)
        return result if kind == "nothing" else EvaluationResult.from_dict(json.loads(result.to_json()))
    drawn = make_splits(y, **settings)
    if kind == "labels":
        y, pair = y.copy(), [np.flatnonzero(y == k)[0] for k in (0, 1)]
        y[pair] = y[pair[::-1]]
    elif kind in NODES:
        drawn[0] = exchanged(rng, drawn[0], y, "train" if kind == "a training node" else "test")
    return evaluated(Z, y, {"splits": drawn})


def exchanged(rng: np.random.Generator, split: Split, y: np.ndarray, part: str) -> Split:
    """The split with one node of a part exchanged for another one of its class."""
    parts = {name: np.array(getattr(split, name)) for name in ("train", "val", "test")}
    node = int(rng.choice(parts[part]))
    free = np.setdiff1d(np.flatnonzero(y == y[node]), np.concatenate(list(parts.values())))
    if len(free):
        parts[part] = np.where(parts[part] == node, rng.choice(free), parts[part])
    else:  # every node of the class is used: exchange two of them between parts
        place = next(name for name in parts if name != part and (y[parts[name]] == y[node]).any())
        twin = int(parts[place][y[parts[place]] == y[node]][0])
        parts[place] = np.where(parts[place] == twin, node, parts[place])
        parts[part] = np.where(parts[part] == node, twin, parts[part])
    return Split(**parts, sizes=split.sizes)


def compared(a: EvaluationResult, b: EvaluationResult) -> str | None:
    """Mean and interval of the paired difference, from the confusion matrices."""
    effects = compare(a, b, metrics=("accuracy",))
    for name in a.classifiers:
        shares = [np.trace(r.of(name).confusion, axis1=1, axis2=2) / r.of(name).confusion[0].sum() for r in (a, b)]
        difference = shares[1] - shares[0]
        half = student.ppf(0.975, len(difference) - 1) * difference.std(ddof=1) / np.sqrt(len(difference))
        expected = [difference.mean(), difference.mean() - half, difference.mean() + half]
        found = effects[name, "accuracy"]
        if not np.allclose([found.mean, *(found.ci95 or ())], expected, atol=1e-12):
            return f"{name}: {found}, by hand {expected}"
    if effects.notes or combine([a, b]).of("plain").splits.tolist() != 2 * a.of("plain").splits.tolist():
        return f"notes {effects.notes}, or the splits are not those of both"
    return None


def refused(a: EvaluationResult, b: EvaluationResult) -> str | None:
    """Both ways round, by both functions."""
    for what, call in (("compare", compare), ("combine", lambda a, b: combine([a, b]))):
        for pair in ((a, b), (b, a)):
            try:
                call(*pair)
            except InputError as error:
                if "evaluate both with the same" not in str(error):
                    return f"{what} says {error}"
            else:
                return f"{what} took it"
    return None
