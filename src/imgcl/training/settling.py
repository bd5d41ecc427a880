"""When to stop without labels: once the nearest neighbours of the nodes hardly change any more.

The embeddings are looked at after 25, 50, 100, 200, ... epochs. Training has settled when, from one look to the next,
nodes keep three quarters of their ten nearest neighbours: twice as many epochs changed little. Neighbours are sought
within a sample of the nodes, so a look costs one pass of the encoder.

The share was chosen on six development graphs (GBT, validation nodes): five settle after 50 epochs and tolokers after
200, each within half a point of its best number of epochs when own and propagated features stand beside the embedding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.seeding import generator

FIRST_LOOK = 25
EARLIEST = 2 * FIRST_LOOK  # the first epoch at which two looks can be compared
MOST_EPOCHS = 500
SAMPLE = 2_000
NEIGHBOURS = 10
KEPT = 0.75


def is_look(epoch: int) -> bool:
    """Whether embeddings are looked at after this many epochs.

    Example:
        >>> [epoch for epoch in range(500) if is_look(epoch)]
        [25, 50, 100, 200, 400]
    """
    times, rest = divmod(epoch, FIRST_LOOK)
    return rest == 0 and times > 0 and times & (times - 1) == 0


class Settling:
    """Follows the nearest neighbours of a sample of nodes through training.

    Args:
        n_nodes: number of nodes of the graph.
        seed: of the sample.

    Attributes:
        looks: epoch of every look, and the share of neighbours kept since the one before (none at the first).
        settled: whether training may stop.

    Example:
        >>> settling = Settling(n_nodes=40, seed=0)
        >>> z = np.random.default_rng(0).standard_normal((40, 3))
        >>> settling.look(25, z)
        >>> settling.look(50, 2 * z)
        >>> settling.looks, settling.settled
        ([{'epoch': 25, 'kept': None}, {'epoch': 50, 'kept': 1.0}], True)
    """

    def __init__(self, n_nodes: int, seed: int) -> None:
        rng = generator(seed, "settling")
        self.nodes = np.sort(rng.choice(n_nodes, min(n_nodes, SAMPLE), replace=False))
        self.neighbours: NDArray[np.int64] | None = None
        self.looks: list[dict[str, Any]] = []

    @property
    def settled(self) -> bool:
        kept = self.looks[-1]["kept"] if self.looks else None
        return kept is not None and kept >= KEPT

    def look(self, epoch: int, embedding: NDArray[Any], agree: Callable[[float], float] = float) -> None:
        """Compare the neighbours in these embeddings of all nodes with those of the look before.

        Args:
            epoch: how many epochs were trained.
            embedding: of all nodes.
            agree: makes one figure of those of several processes, so that all stop together.
        """
        before, self.neighbours = self.neighbours, nearest(np.asarray(embedding[self.nodes], dtype=np.float32))
        kept = None if before is None else agree(share_kept(before, self.neighbours))
        self.looks.append({"epoch": epoch, "kept": kept})

    def state_dict(self) -> dict[str, Any]:
        """All that the next look depends on."""
        neighbours = np.empty((0, 0), dtype=np.int64) if self.neighbours is None else self.neighbours
        return {"neighbours": torch.from_numpy(neighbours), "looks": self.looks}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a state.

        Raises:
            ValueError, KeyError, TypeError: when it is not one of this graph.
        """
        neighbours: Tensor = state["neighbours"]
        if len(neighbours) not in (0, len(self.nodes)):
            raise ValueError(f"neighbours of {len(neighbours)} nodes instead of {len(self.nodes)}")
        looks = [{"epoch": int(look["epoch"]), "kept": look["kept"]} for look in state["looks"]]
        if not all(look["kept"] is None or 0 <= look["kept"] <= 1 for look in looks):
            raise ValueError("a share of kept neighbours is not between 0 and 1")
        self.neighbours, self.looks = (neighbours.numpy() if len(neighbours) else None), looks


def nearest(rows: NDArray[np.float32]) -> NDArray[np.int64]:
    """The nearest other rows of every row by their angle, each row's in ascending order of their numbers."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = rows / np.maximum(length, np.finfo(np.float32).tiny)
    alike = unit @ unit.T
    np.fill_diagonal(alike, -np.inf)
    count = min(NEIGHBOURS, len(rows) - 1)
    if count == 0:
        return np.empty((len(rows), 0), dtype=np.int64)
    return np.sort(np.argpartition(-alike, count - 1, axis=1)[:, :count], axis=1)


def share_kept(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """The mean share of each row's neighbours that are neighbours still.

    Example:
        >>> share_kept(np.array([[1, 2], [0, 2]]), np.array([[1, 2], [2, 3]]))
        0.75
    """
    same = sum(len(np.intersect1d(a, b, assume_unique=True)) for a, b in zip(before, after, strict=True))
    return same / max(1, before.size)


def settling_sentence(history: Mapping[str, Any]) -> str | None:
    """Why a training stopped, for the user; ``None`` when its length was fixed.

    Example:
        >>> settling_sentence({"loss": [0.5] * 50, "settling": [{"epoch": 50, "kept": 0.8}]})
        'settled after 50 epochs: nodes kept 80 % of their nearest neighbours while the epochs doubled'
    """
    looks = history.get("settling") or []
    kept = looks[-1]["kept"] if looks else None
    if kept is None:
        return None
    share = f"nodes kept {kept:.0%} of their nearest neighbours while the epochs doubled".replace("%", " %")
    stopped = "settled" if kept >= KEPT else "not settled, but stopped"
    return f"{stopped} after {len(history['loss'])} epochs: {share}"
