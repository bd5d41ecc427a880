"""Use of an embedding: train the probe on the labels a user has, and classify every node."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from imgcl._core.errors import DataNotFoundError, InputError
from imgcl._core.seeding import RandomState, as_seed
from imgcl._core.unlabelled import FILE_WORDS, is_infinite, is_unlabelled
from imgcl._core.words import did_you_mean
from imgcl.evaluation.alignment import count_rows, is_number, names_of, ordered_labels
from imgcl.evaluation.fitting import DEFAULT, fit_all
from imgcl.graph.checks import check_distinct

if TYPE_CHECKING:
    import pandas as pd

HEADER = (frozenset({"node", "id", "name"}), frozenset({"label", "class"}))  # words of its first and second column


def predict(
    Z: ArrayLike | Mapping[str, ArrayLike],
    labels: ArrayLike | Mapping[Any, Any],
    classifier: Any = DEFAULT,
    *,
    prior: Any = "natural",
    decision: str = "argmax",
    node_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    probe: str = "batched",
    random_state: RandomState = 0,
) -> pd.DataFrame:
    """Class, class probabilities and rank of every node, from the labels of some.

    The classifier's setting is chosen by cross-validation over the labelled nodes (balanced accuracy, 5 folds with
    every class spread evenly; a class with a single label stays in every training fold), then it is trained on all of
    them. Probabilities are calibrated on the folds (:mod:`imgcl.evaluation.calibration`), and so are decisions chosen.

    Args:
        Z: embeddings (N, d), or several blocks by name, as in :func:`imgcl.evaluation.evaluate`.
        labels: one per node (-1, ``None``, NaN, empty and the like for unlabelled), a mapping from node name or
            number to class, or a pandas ``Series``, by its index where that names nodes.
        classifier: ``ensemble`` (a linear model, boosted trees and a forest, averaged), ``trees``, a name of
            ``imgcl.evaluation.CLASSIFIERS``, or any classifier with scikit-learn's conventions. A clone of that is
            fitted to all labelled nodes as it is, on class numbers in the order of the classes' names; a
            ``random_state`` that is ``None`` is derived from ``random_state``.
        prior: class shares of the nodes that are scored. ``natural``: those of the labels, or, where the labels are
            clearly not a random draw, what the unlabelled nodes say (:func:`imgcl.evaluation.natural_prior`);
            ``labels``: those of the labels; ``estimated``: what the unlabelled nodes say; ``balanced``: all alike;
            shares by class as a mapping or as text, ``"banned=2%,ok=98%"``.
        decision: how probabilities become classes: ``argmax``, ``balanced``, ``cost:banned=10,ok=1``, ``flag-rate:2%``,
            ``min-precision:0.8`` or ``min-recall:0.9``, see :mod:`imgcl.evaluation.decisions`.
        node_names: names of the nodes, for the result and for labels by name; by default the index of an embedding
            that is a pandas ``DataFrame``.
        class_names: names of classes 0, 1, ... where labels are numbers.
        probe: as in :func:`imgcl.evaluation.evaluate`.
        random_state: seed of the folds, and of your classifier where it leaves its own open.

    Returns:
        One row per node: ``node``, ``class``, ``p_NAME`` for each class (NaN from a classifier without
        ``predict_proba``), ``rank`` (1: the node with the largest score for the class that is flagged, or that has the
        fewest labels; neither calibration nor prior change it; NaN without probabilities), ``given`` (whether the
        node's label was given: what stands there comes from a model that did not see that label, except for a class's
        only node). What the decision will give, the prior and more are in the scorer of
        :func:`imgcl.evaluation.fit_scorer`.

    Example:
        >>> import numpy as np
        >>> Z = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9], [0.2, 1.0]])
        >>> frame = predict(Z, {0: "tea", 1: "tea", 2: "salt", 3: "salt"})
        >>> frame["class"].tolist()
        ['tea', 'tea', 'salt', 'salt', 'salt']
        >>> frame.columns.tolist()
        ['node', 'class', 'p_salt', 'p_tea', 'rank', 'given']
    """
    rows, node_names = count_rows(Z), names_of(Z, node_names)
    if node_names is not None and len(node_names) != rows:
        raise InputError(f"there are {len(node_names)} node names but the embedding has {rows} rows")
    if node_names is not None:
        check_distinct("node_names", [str(name) for name in node_names])
    aligned = ordered_labels(labels, Z, node_names)
    fitted = fit_all(Z, aligned, classifier, prior, decision, class_names, probe, as_seed(random_state))
    return fitted.frame(Z, node_names)


def read_labels(
    path: str | Path,
    node_names: Sequence[str] | None = None,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
) -> dict[str, str]:
    """Labels of a CSV file: node name or number in the first column, class in the second.

    The first row may be a header: ``node,label``, or another row that begins with ``node``, ``id`` or ``name``, or has
    ``label`` or ``class`` second. If the graph has a node of that name, such a row is refused: it may be its label.

    Args:
        path: the file, with commas, semicolons or tabs between values. An empty class, ``-1``, ``NA``, ``nan`` and the
            like mean unlabelled.
        node_names: names of the graph's nodes (empty: they are numbers). Without them a first row that is probably a
            header is skipped with a warning.
        id_column: the column that names the node; the first row is then a header. By default the first column, or
            with ``label_column`` alone the first other one.
        label_column: the column that has the class, likewise; by default the first other one.

    Raises:
        InputError: when the file is not such a CSV file or is empty, has further columns and no label second, a node
            has two labels, or the first row may be either.
    """
    file = Path(path)
    known = None if node_names is None else frozenset(map(str, node_names))
    lines, _ = read_rows(file)
    if not lines:
        raise InputError(f"{file} is empty: give a CSV file with the columns node,label")
    if id_column is not None or label_column is not None:
        lines = _two_columns(lines, file, id_column, label_column)
    first = 2 if lines and _has_header(lines[0], known, file) else 1
    found: dict[str, str] = {}
    for number, line in enumerate(lines[first - 1 :], start=first):
        if len(line) < 2:
            raise InputError(f"{file}: row {number} is {','.join(line)!r}: expected node,label")
        node, label = _node(line[0], known), line[1].strip()
        if is_infinite(label):
            raise InputError(
                f"{file}: row {number} has the label {label}, an infinite number: leave it empty, or rename"
            )
        label = "" if is_unlabelled(label, FILE_WORDS) else label
        if found.setdefault(node, label) != label:
            raise InputError(f"{file}: node {node!r} has two labels, {found[node]!r} and {label!r}")
    return found


def read_rows(file: Path) -> tuple[list[list[str]], str]:
    """Rows of a CSV file of labels, and what stands between their values: a comma, or what a spreadsheet put there.

    Raises:
        InputError: when it is not text in UTF-8.
    """
    if not file.is_file():
        raise DataNotFoundError(f"no labels at {file}: give a CSV file with the columns node,label")
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            first = stream.readline()
            delimiter = next((each for each in ",;\t" if each in first), ",")
            stream.seek(0)
            return [line for line in csv.reader(stream, delimiter=delimiter) if line], delimiter
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{file} is not a CSV file in UTF-8 ({error}): give one with the columns node,label") from None


def _two_columns(
    lines: Sequence[Sequence[str]], file: Path, id_column: str | None, label_column: str | None
) -> list[list[str]]:
    """The named columns alone, under the header node,label."""
    header = [name.strip() for name in lines[0]] if lines else []
    wanted = {"id_column": id_column, "label_column": label_column}
    for parameter, name in wanted.items():
        if name is not None and header.count(name) != 1:
            known = [] if name in header else header  # else it is there twice
            hint = did_you_mean(name, known, f"it has {', '.join(header)}")
            found = f"{header.count(name)} columns" if name in header else "no column"
            raise InputError(f"{file} has {found} {name!r} (`{parameter}`){hint}")
    if id_column == label_column:
        raise InputError(f"`id_column` and `label_column` are the same column {id_column!r}: give two columns")
    others = [name for name in header if name not in wanted.values()]
    node, label = (header.index(name if name is not None else (others or [""])[0]) for name in wanted.values())
    return [["node", "label"], *([*_cells(line, node, label)] for line in lines[1:])]


def _cells(line: Sequence[str], *places: int) -> Iterator[str]:
    """The cells of a row; a short row ends with empty ones."""
    return (line[place] if place < len(line) else "" for place in places)


def known_nodes(
    labels: Mapping[Any, Any], n_nodes: int, node_names: Sequence[str] | None = None
) -> tuple[dict[Any, Any], list[Any]]:
    """Labels of nodes that the graph has, and the other nodes.

    Raises:
        InputError: when it has none of them.

    Example:
        >>> known_nodes({"a": "x", "z": "y"}, 2, ["a", "b"])
        ({'a': 'x'}, ['z'])
    """
    names = frozenset(map(str, node_names or ()))
    numbered = not any(map(is_number, names))
    known, unknown = dict[Any, Any](), []
    for key, label in labels.items():
        if str(key) in names or (numbered and is_number(str(key)) and int(key) < n_nodes):
            known[key] = label
        else:
            unknown.append(key)
    if unknown and not known:
        raise InputError(f"none of the {len(unknown):,} nodes of `labels` is in the graph, for example {unknown[0]!r}")
    return known, unknown


def _has_header(line: Sequence[str], known: frozenset[str] | None, file: Path) -> bool:
    """Whether the first row is a header; one that may be a node's label is refused, or warned of without names."""
    words = [word.strip().lower() for word in line[:2]]
    if words == ["node", "label"]:
        return True
    if len(line) > 2 and words[1] not in HEADER[1] and _names_columns(line[0], known):
        raise InputError(
            f"{file} has {len(line)} columns, and the second is {line[1].strip()!r}, not the label: give the columns "
            "node,label; predict takes others by name (`id_column`, `label_column`)"
        )
    if len(words) < 2 or not (words[0] in HEADER[0] or words[1] in HEADER[1]) or is_number(words[0]):
        return False
    row = ",".join(line[:2])
    if known is None and not (words[0] in HEADER[0] and words[1] in HEADER[1]):
        warnings.warn(f"{file}: row 1 ({row}) is taken for a header; make it node,label to be sure", stacklevel=3)
    elif known is not None and (node := _node(line[0], known)) in known:
        raise InputError(
            f"{file}: row 1 is {row!r}, which may be a header or the label of node {node!r}: "
            "begin the file with the line node,label"
        )
    return True


def _names_columns(cell: str, known: frozenset[str] | None) -> bool:
    """Whether the first row names columns: its first cell is not a node."""
    word = cell.strip().lower()
    return word in HEADER[0] or (known is not None and not is_number(word) and _node(cell, known) not in known)


def _node(cell: str, known: frozenset[str] | None) -> str:
    """The node that a cell names: exactly as written if there is one, else without the blanks around it."""
    return cell if known is not None and cell in known else cell.strip()
