"""Use of an embedding: train the probe on the labels a user has, and classify every node."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import DataNotFoundError, InputError
from imgcl._core.seeding import generator
from imgcl.evaluation.groups import class_groups
from imgcl.evaluation.labels import UNLABELLED, Labels, check_embedding, encode_labels, normalise_rows
from imgcl.evaluation.names import resolve_classifiers, resolve_probe
from imgcl.evaluation.tasks import PooledBench, Task

if TYPE_CHECKING:
    import pandas as pd

FOLDS = 5
NO_LABEL = UNLABELLED | {"NA", "NaN"}  # in a file, where other programs write a missing value so


def predict(
    Z: ArrayLike,
    labels: ArrayLike | Mapping[Any, Any],
    classifier: str = "pbs",
    *,
    node_names: Sequence[str] | None = None,
    probe: str = "batched",
    random_state: int = 0,
) -> pd.DataFrame:
    """Classify every node from the labels of some.

    The classifier's setting is chosen by cross-validation over the labelled nodes (balanced accuracy, 5 folds with
    every class spread evenly; a class with a single label stays in every training fold), then it is trained on all of
    them.

    Args:
        Z: embeddings (N, d).
        labels: one per node (-1, ``None`` or empty for unlabelled), or a mapping from node name or number to class.
        classifier: a name of ``imgcl.evaluation.CLASSIFIERS``.
        node_names: names of the nodes, for the result and for a mapping's keys.
        probe: as in :func:`imgcl.evaluation.evaluate`.
        random_state: seed of the folds.

    Returns:
        One row per node: ``node``, ``class``, ``probability`` of that class, ``group`` (head, middle or tail: how
        common the class is among the given labels), ``given`` (whether the node's label was given).

    Example:
        >>> import numpy as np
        >>> Z = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9], [0.2, 1.0]])
        >>> frame = predict(Z, {0: "tea", 1: "tea", 2: "salt", 3: "salt"})
        >>> frame["class"].tolist()
        ['tea', 'tea', 'salt', 'salt', 'salt']
    """
    import pandas as pd

    rows = check_embedding(Z, len(np.asarray(Z)))
    if node_names is not None and len(node_names) != len(rows):
        raise InputError(f"there are {len(node_names)} node names but the embedding has {len(rows)} rows")
    aligned = align_labels(labels, len(rows), node_names) if isinstance(labels, Mapping) else labels
    encoded = encode_labels(aligned)
    check_embedding(Z, len(encoded.codes))
    chosen = resolve_classifiers(classifier)
    if len(chosen) != 1:
        raise InputError(f"{len(chosen)} classifiers were named: predictions come from one")
    x = torch.from_numpy(normalise_rows(rows))
    bench = PooledBench(_tasks(x, encoded, random_state), resolve_probe(probe))
    model = next(iter(chosen.values()))(bench)[-1]
    probability, winner = torch.softmax(model.logits(x), dim=1).max(dim=1)
    group = np.array(class_groups(encoded.sizes).of_class())
    predicted = winner.numpy()
    return pd.DataFrame(
        {
            "node": list(node_names) if node_names is not None else np.arange(len(rows)),
            "class": np.array(encoded.names)[predicted],
            "probability": probability.numpy().astype(np.float64),
            "group": group[predicted],
            "given": encoded.codes >= 0,
        }
    )


def _tasks(x: torch.Tensor, labels: Labels, seed: int) -> list[Task]:
    """One task per fold, and last the task of all labelled nodes."""
    fold = _folds(labels, seed)
    codes = torch.from_numpy(labels.codes)
    everything = np.flatnonzero(labels.codes >= 0)
    tasks = []
    for i in range(int(fold.max()) + 1):
        train, val = everything[fold[everything] != i], everything[fold[everything] == i]
        tasks.append(Task(x[train], codes[train], x[val], codes[val], labels.n_classes))
    if not tasks:
        raise InputError("every class has a single label: settings cannot be chosen; give one class at least two")
    nothing = everything[:0]
    return [*tasks, Task(x[everything], codes[everything], x[nothing], codes[nothing], labels.n_classes)]


def _folds(labels: Labels, seed: int) -> NDArray[np.int64]:
    """The fold that validates on each node; -1 for unlabelled nodes and for a class's only node."""
    rng = generator(seed, "folds")
    fold = np.full(len(labels.codes), -1, dtype=np.int64)
    folds = int(min(FOLDS, labels.sizes.max()))
    for k, size in enumerate(labels.sizes):
        if size > 1:
            nodes = rng.permutation(np.flatnonzero(labels.codes == k))
            fold[nodes] = (np.arange(size) + rng.integers(folds)) % folds
    used = np.unique(fold[fold >= 0])
    return np.where(fold >= 0, np.searchsorted(used, fold), -1)


def read_labels(path: str | Path) -> dict[str, str]:
    """Labels of a CSV file: node name or number in the first column, class in the second.

    A header is skipped: a first line whose first word is ``node``, ``id`` or ``name``, or whose second is ``label`` or
    ``class``. An empty class, ``-1``, ``NA`` and ``nan`` mean unlabelled.
    """
    file = Path(path)
    if not file.is_file():
        raise DataNotFoundError(f"no labels at {file}: give a CSV file with the columns node,label")
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            lines = [line for line in csv.reader(stream) if line]
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{file} is not a CSV file in UTF-8 ({error}): give one with the columns node,label") from None
    first = 1
    if lines and len(lines[0]) > 1 and _is_header(*(word.strip().lower() for word in lines[0][:2])):
        lines, first = lines[1:], 2
    found: dict[str, str] = {}
    for number, line in enumerate(lines, start=first):
        if len(line) < 2:
            raise InputError(f"{file}: row {number} is {','.join(line)!r}: expected node,label")
        node, label = line[0].strip(), line[1].strip()
        label = "" if label in NO_LABEL else label
        if found.setdefault(node, label) != label:
            raise InputError(f"{file}: node {node!r} has two labels, {found[node]!r} and {label!r}")
    return found


def _is_header(node: str, label: str) -> bool:
    return node in {"node", "id", "name"} or label in {"label", "class"}


def align_labels(
    labels: Mapping[Any, Any], n_nodes: int, node_names: Sequence[str] | None = None
) -> NDArray[np.object_]:
    """A mapping's labels in node order, ``None`` where it has none; keys are node names, or node numbers.

    Where names are numbers themselves (ids 1000, 1001, …), keys are names only: 5 would be either.

    Example:
        >>> align_labels({"b": "x"}, 2, node_names=["a", "b"]).tolist()
        [None, 'x']
    """
    position = {} if node_names is None else {str(name): i for i, name in enumerate(node_names)}
    numbered = not any(map(_is_number, position))
    aligned = np.full(n_nodes, None, dtype=object)
    for key, label in labels.items():
        i = position.get(str(key))
        if i is None:
            i = int(key) if numbered and _is_number(str(key)) else -1
            if not 0 <= i < n_nodes:
                number = f"a node number of this graph (0..{n_nodes - 1})"
                known = number if node_names is None else f"a node name or {number}" if numbered else "a node's name"
                raise InputError(f"labels have node {key!r}, which is not {known}")
        aligned[i] = label
    return aligned


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,18}", text) is not None
