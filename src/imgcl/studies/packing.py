"""Evaluation results as small JSON: the confusion matrices, from which every figure follows, and nothing twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl.evaluation import EvaluationResult, Groups, Scores
from imgcl.evaluation.groups import GROUP_NAMES
from imgcl.evaluation.pairing import Nodes
from imgcl.evaluation.ranking import RANKING


def rounded(value: Any, digits: int) -> Any:
    """The same nested lists with floats rounded; not-a-number becomes ``None``."""
    if isinstance(value, float):
        return None if np.isnan(value) else round(value, digits)
    if isinstance(value, Mapping):
        return {key: rounded(item, digits) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item, digits) for item in value]
    return value


def pack_result(result: EvaluationResult) -> dict[str, Any]:
    """A result as plain values; :func:`unpack_result` reads it back.

    Example:
        >>> import numpy as np
        >>> from imgcl.evaluation import evaluate
        >>> y = np.repeat([0, 1, 2], 60)
        >>> result = evaluate(np.eye(3)[y], y, imbalance="exp:5", classifier="plain", splits=2)
        >>> unpack_result(pack_result(result))["plain", "accuracy"].mean
        1.0
    """
    ranking = "test" in result.protocol  # on balanced test nodes nobody asks for them, and journals stay small
    return {
        "class_names": list(result.class_names),
        "groups": {name: list(classes) for name, classes in result.groups},
        "protocol": {key: str(value) for key, value in result.protocol.items()},
        "notes": list(result.notes),
        "scores": {name: _pack_scores(scores, ranking) for name, scores in result.scores.items()},
        "ceiling": None if result.ceiling is None else _pack_scores(result.ceiling, ranking),
        **_pack_nodes(next(iter(result.scores.values())).nodes),
    }


def unpack_result(packed: Mapping[str, Any]) -> EvaluationResult:
    """The result that :func:`pack_result` packed.

    Raises:
        ValueError: when it is not such a result.
    """
    try:
        groups, nodes = packed["groups"], _unpack_nodes(packed.get("nodes"))
        result = EvaluationResult(
            scores={name: _unpack_scores(scores, nodes) for name, scores in packed["scores"].items()},
            class_names=tuple(map(str, packed["class_names"])),
            groups=Groups(*(tuple(map(index, groups[name])) for name in GROUP_NAMES)),
            protocol=dict(packed["protocol"]),
            ceiling=None if packed["ceiling"] is None else _unpack_scores(packed["ceiling"], nodes),
            notes=tuple(map(str, packed["notes"])),
        )
        _check(result)
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None
    return result


def _check(result: EvaluationResult) -> None:
    """Refuse parts that do not fit each other."""
    n_classes = len(result.class_names)
    grouped = sorted(k for _, classes in result.groups for k in classes)
    if grouped != list(range(n_classes)):
        raise ValueError("its groups are not those of its classes")
    for scores in (*result.scores.values(), *([result.ceiling] if result.ceiling is not None else [])):
        cells = len(scores.confusion)
        if scores.confusion.shape[1:] != (n_classes, n_classes) or not cells or (scores.confusion < 0).any():
            raise ValueError("its confusion matrices are not those of its classes")
        if scores.ece.shape != (cells,) or len(scores.settings) != cells:
            raise ValueError("its parts have different lengths")
        if any(rows.shape != (cells, n_classes) for rows in scores.ranking.values()):
            raise ValueError("its rankings are not those of its classes")
        if any(np.isinf(values).any() for values in (scores.ece, *scores.ranking.values())):
            raise ValueError("its figures are not finite")
        if scores.nodes and len(scores.nodes) != cells:
            raise ValueError("its nodes are not those of its cells")


def _pack_scores(scores: Scores, ranking: bool) -> dict[str, Any]:
    cells, n_classes, _ = scores.confusion.shape
    ranked = {name: rounded(rows.tolist(), 5) for name, rows in scores.ranking.items()} if ranking else {}
    return {
        "confusion": scores.confusion.reshape(cells, n_classes**2).tolist(),
        "ece": rounded(scores.ece.tolist(), 5),
        "settings": [rounded(dict(setting), 8) for setting in scores.settings],
        **({"ranking": ranked} if ranked else {}),
    }


def _pack_nodes(nodes: Sequence[Nodes]) -> dict[str, Any]:
    """The nodes of all classifiers, once: the labels' fingerprint, and those of every split."""
    return {"nodes": {"labels": nodes[0].labels, "splits": [list(each[1:]) for each in nodes]}} if nodes else {}


def _unpack_nodes(packed: Mapping[str, Any] | None) -> tuple[Nodes, ...]:
    if packed is None:  # of a journal from before nodes were recorded
        return ()
    return tuple(Nodes(str(packed["labels"]), str(train), str(val), str(test)) for train, val, test in packed["splits"])


def _unpack_scores(packed: Mapping[str, Any], nodes: tuple[Nodes, ...]) -> Scores:
    flat = np.asarray(packed["confusion"], dtype=np.int64)
    cells = len(flat)
    n_classes = int(np.sqrt(flat.shape[1]))
    return Scores(
        confusion=flat.reshape(cells, n_classes, n_classes),
        ece=np.asarray([np.nan if value is None else value for value in packed["ece"]], dtype=np.float64),
        settings=tuple(packed["settings"]),
        seeds=np.zeros(cells, dtype=np.int64),
        splits=np.arange(cells, dtype=np.int64),
        nodes=nodes[:cells],  # the ceiling is that of the first splits
        ranking={name: _floats(packed["ranking"][name]) for name in RANKING} if "ranking" in packed else {},
    )


def _floats(rows: Sequence[Sequence[float | None]]) -> NDArray[np.float64]:
    return np.array([[np.nan if value is None else value for value in row] for row in rows], dtype=np.float64)
