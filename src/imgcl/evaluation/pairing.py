"""Were two evaluations made on the same nodes? Paired comparisons, and results over several seeds, need this."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl.evaluation.labels import Labels
from imgcl.imbalance import Split

if TYPE_CHECKING:
    from imgcl.evaluation.results import EvaluationResult, Scores

AS_GIVEN = "as given"  # the law of splits that do not know theirs
REMEDY = "evaluate both with the same labels, imbalance, splits, random_state and probe"
UNRECORDED = (
    "a result does not record its nodes (it was saved by an older version): that both were evaluated on the same ones "
    "is assumed"
)


class Nodes(NamedTuple):
    """Which nodes a cell was evaluated on, as fingerprints: all labels, and the sets of its split."""

    labels: str
    train: str
    val: str
    test: str


def fingerprints(labels: Labels, drawn: Sequence[Split]) -> tuple[Nodes, ...]:
    """The nodes of each split.

    Example:
        >>> from imgcl.evaluation.labels import encode_labels
        >>> labels = encode_labels([0, 1, 0, 1, 0, 1])
        >>> a, b = fingerprints(labels, [Split([0, 1], [2, 3], [4, 5]), Split([2, 1], [0, 3], [4, 5])])
        >>> a.train == b.train, a.test == b.test
        (False, True)
    """
    labelled = np.flatnonzero(labels.codes >= 0)  # nodes without a label are in no split
    classes = _fingerprint(np.stack([labelled, labels.codes[labelled]]))
    return tuple(Nodes(classes, *(_fingerprint(part) for part in (s.train, s.val, s.test))) for s in drawn)


def _fingerprint(numbers: NDArray[np.int64]) -> str:
    return blake2b(np.ascontiguousarray(numbers, dtype="<i8").tobytes(), digest_size=8).hexdigest()


def check_paired(a: EvaluationResult, b: EvaluationResult, names: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Notes for the reader; an error that says what differs when classifiers of ``a`` and ``b`` have other cells."""
    pairs = [(a.of(one), b.of(other)) for one, other in names]
    recorded = all(one.nodes and other.nodes for one, other in pairs)
    different = [*_settings(a, b, ("probe",)), *(text for pair in pairs for text in _cells(*pair))]
    if different or not recorded:
        different = [*_settings(a, b, ("imbalance",)), *different, *_groups(a, b)]
    if different:
        raise InputError(f"these results cannot be paired: {_listed(different)}; {REMEDY}")
    return () if recorded else (UNRECORDED,)


def check_combined(results: Sequence[EvaluationResult]) -> tuple[str, ...]:
    """Notes for the reader; an error that says what differs when the results are not of the same splits."""
    first = results[0]
    for result in results[1:]:
        if (result.classifiers, result.class_names) != (first.classifiers, first.class_names):
            raise InputError("these results cannot be combined: their classifiers or classes differ")
        keys = dict.fromkeys([*first.protocol, *result.protocol])
        different = [*_settings(first, result, tuple(keys), missing=True), *_groups(first, result)]
        different += [text for name in first.scores for text in _splits(first.scores[name], result.scores[name])]
        if different:
            raise InputError(f"these results cannot be combined: {_listed(different)}; {REMEDY}")
    recorded = all(scores.nodes for result in results for scores in result.scores.values())
    return () if recorded or len(results) == 1 else (UNRECORDED,)


def _settings(a: EvaluationResult, b: EvaluationResult, keys: Sequence[str], *, missing: bool = False) -> Iterator[str]:
    """Entries of the protocol that differ; ``missing``: also those that only one of the results has."""
    for key in keys:
        one, other = (_setting(result.protocol, key) for result in (a, b))
        if one != other and (missing or None not in (one, other)) and AS_GIVEN not in (one, other):
            yield f"{key} {one or 'not set'} and {other or 'not set'}"


def _setting(protocol: Mapping[str, Any], key: str) -> str | None:
    value = protocol.get(key)
    return None if value is None else str(value)


def _groups(a: EvaluationResult, b: EvaluationResult) -> Iterator[str]:
    if a.groups != b.groups:
        yield "other head, middle and tail classes"


def _cells(a: Scores, b: Scores) -> Iterator[str]:
    """How the cells of two results differ."""
    if len(a.splits) != len(b.splits):
        yield f"{len(a.splits)} and {len(b.splits)} cells"
    elif not (np.array_equal(a.splits, b.splits) and np.array_equal(a.seeds, b.seeds)):
        yield "other numbers of splits and seeds"
    elif a.nodes and b.nodes:
        yield from _nodes(a.nodes, b.nodes)
    elif not np.array_equal(a.confusion.sum(axis=2), b.confusion.sum(axis=2)):
        yield "other numbers of test nodes"


def _splits(a: Scores, b: Scores) -> Iterator[str]:
    """How the splits of two results differ, whatever their seeds."""
    one, other = ({int(split): i for i, split in enumerate(scores.splits)} for scores in (a, b))
    if one.keys() != other.keys():
        yield f"{len(one)} and {len(other)} splits" if len(one) != len(other) else "other numbers of splits"
    elif a.nodes and b.nodes:
        yield from _nodes([a.nodes[i] for i in one.values()], [b.nodes[other[split]] for split in one])
    elif any((a.confusion[one[s]].sum(axis=1) != b.confusion[other[s]].sum(axis=1)).any() for s in one):
        yield "other numbers of test nodes"


def _nodes(a: Sequence[Nodes], b: Sequence[Nodes]) -> Iterator[str]:
    words = {"labels": "labels", "train": "training nodes", "val": "validation nodes", "test": "test nodes"}
    for part, word in words.items():
        times = sum(getattr(one, part) != getattr(other, part) for one, other in zip(a, b, strict=True))
        if times:
            yield f"other {word} in {times} of {len(a)} splits" if part != "labels" else "other labels"


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(texts))
