"""Fits at once in the threads of one process, against the same fits alone."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice, product
from typing import Any, NamedTuple

import numpy as np
import torch

import imgcl
from harden.load_fits import METHODS as SMALL
from harden.suites import Outcome, suite
from imgcl.data import synthetic_graph
from imgcl.evaluation import evaluate
from imgcl.methods import METHODS

AT_ONCE = 4
SEEDS = 3
EPOCHS = 4
GRAPH = {"class_sizes": [60, 30, 12], "n_features": 16, "mean_degree": 6, "seed": 5}
SIZES = {method: SMALL.get(method, {"dim": 16}) for method in METHODS}
BALANCES = (None, "imgcl", "clusters=gmm,selection=poisson", "clusters=kmeans")


class Kind(NamedTuple):
    """What is fitted; a batch size of 0 is the whole graph."""

    method: str
    balance: str | None
    batch_size: int
    seed: int


KINDS = [Kind(*each) for each in product(METHODS, BALANCES, (0, 32), range(SEEDS))]


@suite("results", "threads: fits at once against lone fits, generators unmoved", full=960, part=64)
def fits_at_once(n: int) -> Outcome:
    """Every fit is a try, and so is every round: the generators of the process must be where they were.

    Half of a round's threads make the same fit, the others fits of other methods; all of them evaluate as well.
    """
    outcome, alone = Outcome(), {}
    for kinds in rounds(n):
        before = global_states()
        alone |= {kind: fit(kind) for kind in set(kinds) - set(alone)}
        for kind, found in zip(kinds, together(kinds), strict=True):
            outcome.count(None if found == alone[kind] else f"{kind} differs from what it is alone")
        outcome.count(moved(before, global_states()))
    return outcome


def rounds(n: int) -> Iterator[list[Kind]]:
    """The fits of every round: n altogether."""
    order = random.Random(0).sample(KINDS, len(KINDS))
    stream = cycle(order)
    for _ in range(n // AT_ONCE):
        first = next(stream)
        yield [first] * (AT_ONCE // 2) + list(islice(stream, AT_ONCE // 2))


def together(kinds: list[Kind]) -> list[bytes]:
    """What each fit gives when all begin at the same moment."""
    gate = threading.Barrier(len(kinds))

    def begin(kind: Kind) -> bytes:
        gate.wait()
        return fit(kind)

    with ThreadPoolExecutor(len(kinds)) as pool:
        return list(pool.map(begin, kinds))


def fit(kind: Kind) -> bytes:
    """The bits of an embedding, of a second one by ``transform``, and of their evaluation."""
    graph = synthetic_graph(**GRAPH)
    settings: dict[str, Any] = {**SIZES[kind.method], "dropout": 0.2, "batch_size": kind.batch_size}
    model = imgcl.ImGCL(
        kind.method, balance=kind.balance, epochs=EPOCHS, settings=settings, random_state=kind.seed
    ).fit(graph)
    scores = evaluate(model.embedding_, graph.y, "exp:4", "plain", splits=1, random_state=kind.seed)
    arrays = [model.embedding_, model.transform(graph), scores.values("plain", "ece")]
    return b"".join(np.ascontiguousarray(each).tobytes() for each in arrays)


def global_states() -> dict[str, str]:
    """Where the generators of the process are."""
    numpy = np.random.get_state()  # noqa: NPY002 (the legacy state is the one that could move)
    return {
        "torch": str(torch.get_rng_state().tolist()),
        "numpy": str((numpy[1].tolist(), numpy[2:])),
        "random": str(random.getstate()),
    }


def moved(before: dict[str, str], after: dict[str, str]) -> str | None:
    """Which generators are not where they were."""
    names = [name for name in before if before[name] != after[name]]
    return f"the global generator of {' and '.join(names)} has moved" if names else None
