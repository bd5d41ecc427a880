"""Protocols by name: which nodes are labelled, validate and test, as groups of papers do it.

| written | training labels | validation | test |
|---|---|---|---|
| `imgcl`, `imgcl:r` | 10 % of the labelled nodes by the law `exp:r` (100) | balanced | balanced |
| `step:r` | 20 per class, the smaller half of the classes 20 / r (r above 20: r and 1) | 500, natural | 1000, natural |
| `igl:r` | 10 % of the labelled nodes by the law `exp:r` | balanced | the others, natural |

`imgcl` is the ImGCL paper's. `step` is that of GraphENS, TAM, BAT, IceBerg and others: they count balanced accuracy and
macro-F1. They take the classes with the larger numbers as minority; here it is the smaller classes, as in all laws of
this package. `igl` is that of IGL-Bench.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError
from imgcl._core.seeding import RandomState, as_seed, generator
from imgcl.imbalance.laws import parse_imbalance
from imgcl.imbalance.sizes import Cap, ClassSizes, class_order, report_caps
from imgcl.imbalance.splits import Split, check_labelled, make_splits, natural_test, shuffled_by_class

Ints = NDArray[np.int64]
Draw = Callable[[ArrayLike, float, int, int, "Sequence[str] | None"], list[Split]]

PER_CLASS = 20  # training labels of a class of the larger half in `step`
VALIDATION, TEST = 500, 1000  # nodes in `step`, where there are as many


@dataclass(frozen=True)
class Protocol:
    """How splits are drawn, by name.

    Attributes:
        name: as it is written.
        ratio: labels of the largest class over those of the smallest.
        test: ``balanced`` or ``natural``, how common classes are among the test nodes.
    """

    name: str
    ratio: float
    test: str

    def draw(
        self,
        y: ArrayLike,
        splits: int = 20,
        random_state: RandomState = 0,
        class_names: Sequence[str] | None = None,
    ) -> list[Split]:
        """The splits; split i depends on ``random_state`` and i alone.

        Args:
            y: labels, -1 for unlabelled nodes.
            splits: how many.
            random_state: the seed.
            class_names: for messages.

        Example:
            >>> y = np.repeat([0, 1, 2], [900, 800, 700])
            >>> (split,) = parse_protocol("step:10").draw(y, splits=1)
            >>> split, np.bincount(y[split.train]).tolist()
            (Split(train=42, val=500, test=1000, imbalance='step:10'), [20, 20, 2])
        """
        return PROTOCOLS[self.name.partition(":")[0]].draw(y, self.ratio, splits, as_seed(random_state), class_names)


@dataclass(frozen=True)
class Kind:
    """A family of protocols: what draws its splits, how test nodes are, and the ratio where none is written."""

    draw: Draw
    test: str
    ratio: float | None = None


def long_tailed(
    y: ArrayLike, ratio: float, splits: int, seed: int, class_names: Sequence[str] | None = None
) -> list[Split]:
    """``exp:ratio``, 10 % labels, balanced validation and test."""
    return make_splits(y, f"exp:{ratio:g}", splits, seed, class_names=class_names)


def naturally_tested(
    y: ArrayLike, ratio: float, splits: int, seed: int, class_names: Sequence[str] | None = None
) -> list[Split]:
    """``exp:ratio``, 10 % labels, balanced validation, natural test."""
    drawn = long_tailed(y, ratio, splits, seed, class_names)
    return [natural_test(split, y, seed, i) for i, split in enumerate(drawn)]


def stepped(
    y: ArrayLike, ratio: float, splits: int, seed: int, class_names: Sequence[str] | None = None
) -> list[Split]:
    """Few labels per class, one step between the larger and the smaller classes; natural validation and test."""
    labels = check_labelled(y, class_names)
    counts = np.bincount(labels[labels >= 0])
    sizes = step_sizes(counts, ratio)
    report_caps(sizes, "training labels")
    made = []
    for i in range(splits):
        rng = generator(seed, "step", i)
        nodes, starts = shuffled_by_class(labels, len(counts), rng)
        first = [(start, start + 1, start + 2, start + 2 + sizes.sizes[k]) for k, start in enumerate(starts)]
        first = [first[k] for k in sizes.order]
        train = np.concatenate([nodes[begin:end] for _, _, begin, end in first])
        val, test = (np.array([nodes[cut[part]] for cut in first]) for part in (0, 1))  # one of each class at least
        rest = rng.permutation(np.setdiff1d(nodes, np.concatenate([train, val, test])))
        n_val = min(VALIDATION - len(val), len(rest) // 3)
        n_test = min(TEST - len(test), len(rest) - n_val)
        val, test = np.append(val, rest[:n_val]), np.append(test, rest[n_val : n_val + n_test])
        made.append(Split(train, val, test, sizes))
    return made


def step_sizes(counts: Ints, ratio: float) -> ClassSizes:
    """Training labels per class of ``step:ratio``; one node of each class validates and one tests.

    Example:
        >>> step_sizes(np.array([50, 10, 60, 40]), 10).sizes
        (20, 2, 20, 2)
    """
    order = class_order(counts)
    if counts[order].min() < 3:
        few = int(order[counts[order].argmin()])
        raise InputError(f"class {few} has {counts[few]} labelled nodes: the protocol step needs 3, label more")
    most = max(PER_CLASS, round(ratio))
    law = parse_imbalance(f"step:{ratio:g}")
    wanted = np.maximum(1, np.floor(law.weights(len(order)) * most / ratio + 1e-9)).astype(np.int64)
    sizes = np.zeros(len(counts), dtype=np.int64)
    sizes[order] = np.minimum(wanted, counts[order] - 2)
    caps = tuple(Cap(int(k), int(n), int(sizes[k])) for k, n in zip(order, wanted, strict=True) if n > sizes[k])
    return ClassSizes(law, tuple(sizes.tolist()), tuple(order.tolist()), caps)


PROTOCOLS: dict[str, Kind] = {
    "imgcl": Kind(long_tailed, "balanced", 100.0),
    "step": Kind(stepped, "natural"),
    "igl": Kind(naturally_tested, "natural"),
}
"""The protocols by the word before the colon."""


def parse_protocol(spec: str | Protocol) -> Protocol:
    """The protocol that is written as ``spec``: ``imgcl``, ``step:10``, ``igl:100``.

    Raises:
        InputError: when there is no such protocol, or its ratio is missing or below 1.

    Example:
        >>> parse_protocol("step:20")
        Protocol(name='step:20', ratio=20.0, test='natural')
    """
    if isinstance(spec, Protocol):
        return spec
    name, _, ratio = str(spec).strip().lower().partition(":")
    kind = PROTOCOLS.get(name)
    try:
        number = float(ratio) if ratio or kind is None else kind.ratio
    except ValueError:
        number = None
    if kind is None or number is None or not 1 <= number < np.inf:
        raise InputError(f"`protocol` is {spec!r}: write imgcl, step:10, step:20, step:100, igl:20 or igl:100")
    return Protocol(f"{name}:{number:g}" if ratio else name, number, kind.test)
