"""Several embeddings of the same nodes side by side: blocks, each with a weight that validation chooses.

A node may be described by what was learnt, by its own features, by the means of its neighbours. Every block has rows of
length 1. A classifier is fitted for several weightings of the blocks, and the one that is best on the validation nodes
is kept; a weight of 0 leaves a block out, so that a useless block costs nothing but time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.errors import InputError
from imgcl.evaluation.labels import check_embedding, normalise_rows
from imgcl.evaluation.names import Classifier
from imgcl.evaluation.tasks import Bench, LinearModel

HALF = 0.5


@dataclass(frozen=True, eq=False)
class Blocks:
    """Embeddings of the same nodes, side by side.

    Attributes:
        rows: (N, sum of the widths) float32, the rows of each block of length 1.
        widths: of the blocks, by their names.
    """

    rows: NDArray[np.float32]
    widths: Mapping[str, int]

    @classmethod
    def of(cls, Z: Any, n_nodes: int | None = None) -> Blocks:
        """Blocks of an array, or of a mapping from names to arrays with as many rows.

        Raises:
            InputError: naming the block that is wrong.

        Example:
            >>> Blocks.of({"learned": np.eye(2), "own": [[3.0, 4.0], [0.0, 2.0]]}).rows.tolist()
            [[1.0, 0.0, 0.6000000238418579, 0.800000011920929], [0.0, 1.0, 0.0, 1.0]]
        """
        if not isinstance(Z, Mapping):
            rows = check_embedding(Z, n_nodes)
            return cls(normalise_rows(rows), {"": rows.shape[1]})
        if not Z:
            raise InputError("the embedding has no blocks: give at least one array")
        checked = {str(name): _check_block(str(name), block, n_nodes) for name, block in Z.items()}
        lengths = {name: len(rows) for name, rows in checked.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"blocks have different numbers of rows ({lengths}): give one row per node in each")
        widths = {name: rows.shape[1] for name, rows in checked.items()}
        return cls(np.concatenate([normalise_rows(rows) for rows in checked.values()], axis=1), widths)

    def weightings(self) -> list[dict[str, float]]:
        """The weightings that are tried: all blocks alike first, then every one halved or left out.

        Example:
            >>> blocks = Blocks.of({"learned": np.eye(2), "own": np.eye(2)})
            >>> for weights in blocks.weightings():
            ...     print(weights)
            {'learned': 1.0, 'own': 1.0}
            {'learned': 1.0, 'own': 0.5}
            {'learned': 0.5, 'own': 1.0}
            {'learned': 1.0, 'own': 0.0}
            {'learned': 0.0, 'own': 1.0}
        """
        names = list(self.widths)
        levels = [levels for levels in product((1.0, HALF, 0.0), repeat=len(names)) if _is_tried(levels)]
        levels.sort(key=lambda values: (values.count(0.0), values.count(HALF)))
        return [dict(zip(names, values, strict=True)) for values in levels]

    def scale(self, weights: Mapping[str, float]) -> Tensor:
        """The factor of every column."""
        parts = [np.full(width, weights[name], dtype=np.float32) for name, width in self.widths.items()]
        return torch.from_numpy(np.concatenate(parts))


def fit_blocks(classifier: Classifier, bench: Bench, blocks: Blocks) -> list[LinearModel]:
    """Models of a classifier for every task, each with the weights that are best on its validation rows.

    The models classify unweighted rows: the weights are part of their coefficients, and of their setting.

    Args:
        classifier: a function of :mod:`imgcl.evaluation.classifiers`.
        bench: tasks on the unweighted rows of the blocks.
        blocks: what the columns of the rows are.
    """
    if len(blocks.widths) == 1:
        return classifier(bench)
    fits = [_fit(classifier, bench, blocks, weights) for weights in blocks.weightings()]
    return [max(models, key=lambda model: model.quality) for models in zip(*fits, strict=True)]  # of equals the first


def _fit(classifier: Classifier, bench: Bench, blocks: Blocks, weights: Mapping[str, float]) -> list[LinearModel]:
    scale = blocks.scale(weights)
    chosen = {f"weight {name}": weight for name, weight in weights.items()}
    return [
        replace(model, coefficients=_unscaled(model.coefficients, scale), setting=model.setting | chosen)
        for model in classifier(bench.scaled(scale))
    ]


def _unscaled(coefficients: Tensor, scale: Tensor) -> Tensor:
    """``(x * scale) @ w`` is ``x @ (scale * w)``."""
    return torch.cat([coefficients[:, :-1] * scale, coefficients[:, -1:]], dim=1)


def _is_tried(levels: Sequence[float]) -> bool:
    """The largest weight is 1; blocks that are left out and blocks that are halved are not mixed, to try fewer."""
    return max(levels) == 1.0 and not (0.0 in levels and HALF in levels)


def _check_block(name: str, block: Any, n_nodes: int | None) -> NDArray[np.float32]:
    try:
        return check_embedding(block, n_nodes)
    except InputError as error:
        raise InputError(f"block {name!r}: {error}") from None
