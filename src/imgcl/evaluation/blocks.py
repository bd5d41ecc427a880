"""Several embeddings of the same nodes side by side: blocks, each with a weight that validation chooses.

A node may be described by what was learnt, by its own features, by those of its neighbours. Blocks have rows of length
1. Features in a few columns are the exception: how long a row is says how unusual the node is, so such a block is
scaled as a whole, to rows of length 1 in the (quadratic) mean.

A classifier is fitted to all blocks together and to every smaller choice of them. The choices that are best on the
validation nodes, or within half a standard error of it, are averaged: validation sets of rare classes are small, and
the single best of many choices would often be luck. A block that no such choice has gets the weight 0, so that a
useless block costs nothing but time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.errors import InputError
from imgcl._core.progress import tracked
from imgcl.evaluation.labels import finite_rows, normalise_rows
from imgcl.evaluation.names import Classifier
from imgcl.evaluation.tasks import Bench, LinearModel, Task

NEIGHBOURS = "neighbours"
FEATURES = ("own", NEIGHBOURS)  # blocks of features, also "neighbours:NAME"
NARROW = 64  # columns of features up to which a block is scaled as a whole
LONGEST = 1e4  # of a scaled entry: a new node may have features far outside what was seen
WEIGHT = "weight "  # of a block, in a model's setting
MARGIN = 0.5  # standard errors below the best within which a choice is as good


@dataclass(frozen=True, eq=False)
class Blocks:
    """Embeddings of the same nodes, side by side.

    Attributes:
        rows: (N, sum of the widths) float32, side by side.
        widths: of the blocks, by their names.
        scales: the factor of each block that was scaled as a whole; rows of the others have length 1.
    """

    rows: NDArray[np.float32]
    widths: Mapping[str, int]
    scales: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, Z: Any, n_nodes: int | None = None, scales: Mapping[str, float] | None = None) -> Blocks:
        """Blocks of an array, or of a mapping from names to arrays with as many rows.

        Args:
            Z: rows of an array, and of blocks that are not a few features, are normalised to length 1.
            n_nodes: how many rows there must be.
            scales: those of other nodes that these are to be compared with; by default found for these.

        Raises:
            InputError: naming the block that is wrong.

        Example:
            >>> Blocks.of({"learned": np.eye(2), "text": [[3.0, 4.0], [0.0, 2.0]]}).rows.tolist()
            [[1.0, 0.0, 0.6000000238418579, 0.800000011920929], [0.0, 1.0, 0.0, 1.0]]
            >>> Blocks.of({"own": [[3.0, 4.0], [0.0, 5.0]]}).scales
            {'own': 0.2}
        """
        if not isinstance(Z, Mapping):
            rows = normalise_rows(finite_rows(Z, n_nodes))
            return cls(rows, {"": rows.shape[1]})
        if not Z:
            raise InputError("the embedding has no blocks: give at least one array")
        checked = {str(name): _check_block(str(name), block, n_nodes) for name, block in Z.items()}
        lengths = {name: len(rows) for name, rows in checked.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"blocks have different numbers of rows ({lengths}): give one row per node in each")
        widths = {name: rows.shape[1] for name, rows in checked.items()}
        if scales is None:
            scales = {name: _scale(rows) for name, rows in checked.items() if keeps_lengths(name, widths[name])}
        scaled = [scaled_rows(rows, scales.get(name)) for name, rows in checked.items()]
        return cls(np.concatenate(scaled, axis=1), widths, scales)

    def weightings(self) -> list[dict[str, float]]:
        """The weightings that are tried: all blocks first, then every smaller choice of them.

        Of blocks of neighbours, where there are several (``neighbours:NAME``), all or none are chosen, all but one, or
        one: the number of choices would double with each.

        Example:
            >>> blocks = Blocks.of({"learned": np.eye(2), "own": np.eye(2)})
            >>> for weights in blocks.weightings():
            ...     print(weights)
            {'learned': 1.0, 'own': 1.0}
            {'learned': 1.0, 'own': 0.0}
            {'learned': 0.0, 'own': 1.0}
        """
        alike = [name for name in self.widths if name.split(":")[0] == NEIGHBOURS]
        group = {name: NEIGHBOURS if name in alike else name for name in self.widths}
        groups = list(dict.fromkeys(group.values()))
        choices = [
            {name: values[groups.index(group[name])] for name in self.widths}
            for values in product((1.0, 0.0), repeat=len(groups))
            if any(values)
        ]
        if len(alike) > 1:
            everything = dict.fromkeys(self.widths, 1.0)
            choices += [everything | {name: 0.0} for name in alike]
            choices += [everything | {name: float(name == one) for name in alike} for one in alike]
        distinct = {tuple(choice.values()): choice for choice in choices}
        return sorted(distinct.values(), key=lambda choice: list(choice.values()).count(0.0))

    def scale(self, weights: Mapping[str, float]) -> Tensor:
        """The factor of every column."""
        parts = [np.full(width, weights[name], dtype=np.float32) for name, width in self.widths.items()]
        return torch.from_numpy(np.concatenate(parts))


def keeps_lengths(name: str, width: int) -> bool:
    """Whether a block is scaled as a whole: features in a few columns.

    Example:
        >>> keeps_lengths("own", 10), keeps_lengths("own", 256), keeps_lengths("learned", 10)
        (True, False, False)
    """
    return name.split(":")[0] in FEATURES and width <= NARROW


def scaled_rows(rows: np.ndarray, scale: float | None) -> NDArray[np.float32]:
    """Rows times a factor; without one, rows of length 1."""
    if scale is None:
        return normalise_rows(rows)
    return np.clip(rows * np.float64(scale), -LONGEST, LONGEST).astype(np.float32)


def _scale(rows: np.ndarray) -> float:
    """What makes the mean squared length of the rows 1, whatever the size of the numbers."""
    largest = float(np.abs(rows).max(initial=0))
    if largest == 0:
        return 1.0
    relative = rows / np.float64(largest)
    return 1 / (largest * float(np.sqrt(np.square(relative).sum() / len(rows))))


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
    choices = tracked(blocks.weightings(), "", "choice of blocks")
    fits = [_fit(classifier, bench, blocks, weights) for weights in choices]
    models = list(fits[0])
    for group in bench.chosen_together():
        good = _good_choices(bench.tasks, group, fits)
        for i in group:
            models[i] = _average([fits[choice][i] for choice in good])
    return models


def _good_choices(tasks: Sequence[Task], group: Sequence[int], fits: Sequence[Sequence[LinearModel]]) -> list[int]:
    """The places of the weightings to average for tasks that share them, the best first."""
    validated = [i for i in group if len(tasks[i].y_val)]
    best = max(range(len(fits)), key=lambda choice: _quality([fits[choice][i] for i in validated]))
    gains, variances = zip(*(_gain(tasks[i], [fit[i] for fit in fits], best) for i in validated), strict=True)
    gain, error = torch.stack(gains).mean(dim=0), torch.stack(variances).sum(dim=0).sqrt() / len(validated)
    good = (gain >= -MARGIN * error).nonzero()[:, 0].tolist()
    return [best, *(choice for choice in good if choice != best)]


def _quality(models: Sequence[LinearModel]) -> tuple[float, float]:
    right, loss = zip(*(model.quality for model in models), strict=True)
    return sum(right) / len(right), sum(loss) / len(loss)


def _gain(task: Task, models: Sequence[LinearModel], best: int) -> tuple[Tensor, Tensor]:
    """How much the balanced accuracy of each model exceeds that of the best, and the sampling variance of that."""
    right = torch.stack([model.is_right(task) for model in models])
    difference, weight = right - right[best], task.validation_weight
    gain = difference @ weight
    return gain, (difference - gain[:, None]).square() @ weight.square()


def _average(models: Sequence[LinearModel]) -> LinearModel:
    """The mean of the models' scores; weights of blocks are means too, other settings those of the first model."""
    weights = {
        key: sum(model.setting[key] for model in models) / len(models)
        for key in models[0].setting
        if key.startswith(WEIGHT)
    }
    coefficients = torch.stack([model.coefficients for model in models]).mean(dim=0)
    return replace(models[0], coefficients=coefficients, setting=models[0].setting | weights)


def _fit(classifier: Classifier, bench: Bench, blocks: Blocks, weights: Mapping[str, float]) -> list[LinearModel]:
    scale = blocks.scale(weights)
    chosen = {f"{WEIGHT}{name}": weight for name, weight in weights.items()}
    return [
        replace(model, coefficients=_unscaled(model.coefficients, scale), setting=model.setting | chosen)
        for model in classifier(bench.scaled(scale))
    ]


def _unscaled(coefficients: Tensor, scale: Tensor) -> Tensor:
    """Coefficients of all columns from those of the scaled ones: ``(x * scale) @ w`` is ``x @ (scale * w)``."""
    kept = scale != 0
    found = coefficients.new_zeros(len(coefficients), len(scale) + 1)
    found[:, :-1][:, kept] = coefficients[:, :-1] * scale[kept]
    found[:, -1] = coefficients[:, -1]
    return found


def _check_block(name: str, block: Any, n_nodes: int | None) -> np.ndarray:
    try:
        return finite_rows(block, n_nodes)
    except InputError as error:
        raise InputError(f"block {name!r}: {error}" if name else str(error)) from None
