"""Skip-gram with negative sampling on random walks (Mikolov et al. 2013), as a kernel.

The positive and negative samples of a window are shared by all its nodes (Ji et al. 2016): the nodes around a centre
are trained against the centre and a few negatives drawn once per centre. The expected gradient is that of drawing
negatives for every pair, and each row is fetched once per window instead of once per pair.

Parallel and still deterministic: in every round copies of both matrices are trained, each on its share of the walks,
then the changes are added up. Results depend on the number of shares, not on their timing.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from imgcl._core.compiled import njit
from imgcl._core.errors import InputError
from imgcl._core.seeding import derive, generator
from imgcl.graph.structure.randomness import next_float, next_index, stream

Floats = NDArray[np.float32]

ROUNDS = 50  # times that threads exchange what they learnt, per pass over the walks
RATE, LAST_RATE = 0.025, 0.0001  # word2vec's, falling linearly
POWER = 0.75  # negatives are drawn in proportion to visits ** POWER
CLIP = 6.0  # logits beyond are treated as certain
TABLE = 1024


def skip_gram(
    walks: NDArray[np.int32],
    n_nodes: int,
    dim: int = 128,
    window: int = 5,
    negatives: int = 5,
    epochs: int = 1,
    seed: int = 0,
    shares: int | None = None,
) -> Floats:
    """Embeddings of the nodes that the walks visit.

    Args:
        walks: node numbers, one walk per row, -1 after its end.
        n_nodes: N.
        dim: width of the embedding.
        window: nodes up to this many steps apart are neighbours; as in word2vec the reach of each centre is drawn
            uniformly from 1..window, so that nearer nodes count more.
        negatives: negative samples per centre.
        epochs: passes over the walks.
        seed: of everything random.
        shares: parts of a round that are trained apart, which decide the result; by default one for every thread.

    Returns:
        (N, dim); nodes that no walk visits keep their small random start.
    """
    for name, value in (("dim", dim), ("window", window), ("negatives", negatives), ("epochs", epochs)):
        if value < 1:
            raise InputError(f"{name} is {value}: it must be 1 or more")
    both = np.zeros((2, n_nodes, dim), dtype=np.float32)  # rows that are kept, and rows they are trained against
    both[0] = (generator(seed, "skip-gram start").random((n_nodes, dim), dtype=np.float32) - 0.5) / dim
    visits = np.bincount(walks[walks >= 0], minlength=n_nodes)
    sampler = _alias_table(visits.astype(np.float64) ** POWER)
    order = generator(seed, "skip-gram order").permutation(len(walks))
    rounds = [part for _ in range(epochs) for part in np.array_split(order, min(ROUNDS, len(order)))]
    parts = max(1, min(shares or torch.get_num_threads(), len(walks) // ROUNDS))
    with ThreadPoolExecutor(min(parts, torch.get_num_threads())) as pool:
        for i, part in enumerate(rounds):
            rates = [RATE + (LAST_RATE - RATE) * at / len(rounds) for at in (i, i + 1)]
            copies = [both.copy() for _ in range(parts)] if parts > 1 else [both]
            jobs = []
            for t, share in enumerate(np.array_split(part, parts)):
                own_seed = np.uint64(derive(seed, "skip-gram", i, t))
                settings: list[Any] = [*sampler, window, negatives, *rates, own_seed]
                jobs.append(pool.submit(_train, walks, share, copies[t][0], copies[t][1], *settings))
            for job in jobs:
                job.result()
            if parts > 1:
                both = both + sum(copy - both for copy in copies)
    return np.ascontiguousarray(both[0])


@njit(cache=True, nogil=True, fastmath=True)
def _train(  # type: ignore[no-untyped-def]
    walks, part, centre, context, chance, other, window, negatives, first, last, seed
):
    """One thread's share of a round, in place.

    As in word2vec's code, the rows that are kept (``centre``) are those of the window's nodes, and they are trained
    against the ``context`` row of the window's middle.
    """
    dim = centre.shape[1]
    table = np.empty(TABLE, dtype=np.float32)
    for i in range(TABLE):
        table[i] = 1.0 / (1.0 + math.exp(-CLIP * (2.0 * (i + 0.5) / TABLE - 1.0)))
    targets = np.empty(1 + negatives, dtype=np.int64)
    pull = np.empty((1 + negatives, dim), dtype=np.float32)
    push = np.empty(dim, dtype=np.float32)
    to_index = np.float32(TABLE / (2 * CLIP))
    for at in range(len(part)):
        walk = walks[part[at]]
        state = stream(seed, at)
        rate = np.float32(first + (last - first) * at / len(part))
        length = len(walk)
        while length > 0 and walk[length - 1] < 0:
            length -= 1
        for middle in range(length):
            state, reach = next_index(state, window)
            low, high = max(0, middle - reach - 1), min(length, middle + reach + 2)
            targets[0] = walk[middle]
            for k in range(negatives):
                state, slot = next_index(state, len(chance))
                state, level = next_float(state)
                targets[1 + k] = slot if level < chance[slot] else other[slot]
            pull[:] = 0
            for position in range(low, high):
                if position == middle:
                    continue
                row = centre[walk[position]]
                push[:] = 0
                for k in range(1 + negatives):
                    target = context[targets[k]]
                    score = np.float32(0)
                    for j in range(dim):
                        score += row[j] * target[j]
                    if score >= CLIP:
                        probability = np.float32(1)
                    elif score <= -CLIP:
                        probability = np.float32(0)
                    else:
                        # just below CLIP the sum rounds up to 2 CLIP, whose place is beyond the table
                        probability = table[min(int((score + np.float32(CLIP)) * to_index), TABLE - 1)]
                    gain = ((np.float32(1) if k == 0 else np.float32(0)) - probability) * rate
                    # a negative that is the middle itself says nothing
                    if k > 0 and targets[k] == targets[0]:
                        gain = np.float32(0)
                    for j in range(dim):
                        push[j] += gain * target[j]
                        pull[k, j] += gain * row[j]
                for j in range(dim):
                    row[j] += push[j]
            for k in range(1 + negatives):
                target = context[targets[k]]
                for j in range(dim):
                    target[j] += pull[k, j]


def _alias_table(weights: NDArray[np.float64]) -> tuple[Floats, NDArray[np.int32]]:
    """Walker's tables: slot i gives i with ``chance[i]``, else ``other[i]``; slots are drawn uniformly."""
    n = len(weights)
    chance = weights * (n / weights.sum())
    other = np.arange(n, dtype=np.int32)
    small, large = list(np.flatnonzero(chance < 1)), list(np.flatnonzero(chance >= 1))
    while small and large:
        low, high = small.pop(), large[-1]
        other[low] = high
        chance[high] -= 1 - chance[low]
        if chance[high] < 1:
            small.append(large.pop())
    for rest in (*small, *large):
        chance[rest] = 1.0
    return chance.astype(np.float32), other
