"""What an evaluation gives: confusion matrices over splits x seeds, and everything that follows from them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean
from imgcl.evaluation.groups import GROUP_NAMES, Groups
from imgcl.evaluation.intervals import Estimate, estimate
from imgcl.evaluation.metrics import precision, recall, summary_metrics
from imgcl.evaluation.pairing import Nodes, check_combined
from imgcl.evaluation.ranking import RANKING, summary_ranking
from imgcl.evaluation.render import text_table

if TYPE_CHECKING:
    import pandas as pd

REFERENCES = "references"  # what the command line adds: rows to beat
CEILING = "ceiling"  # name of the ceiling's entry in the JSON object


@dataclass(frozen=True, eq=False)
class Scores:
    """One classifier over splits x seeds; a cell is one split with one seed.

    Attributes:
        confusion: test nodes by true and predicted class, (cells, K, K).
        ece: expected calibration error of each cell; nan when the method gives no probabilities.
        settings: what validation chose in each cell.
        seeds: the pre-training of each cell, numbered from 0.
        splits: the split of each cell.
        nodes: fingerprints of the labels and nodes of each cell; empty where they were not recorded.
        ranking: the metrics of :data:`imgcl.evaluation.ranking.RANKING`, each (cells, K); empty without probabilities.
    """

    confusion: NDArray[np.int64]
    ece: NDArray[np.float64]
    settings: tuple[Mapping[str, float], ...]
    seeds: NDArray[np.int64]
    splits: NDArray[np.int64]
    nodes: tuple[Nodes, ...] = ()
    ranking: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    @property
    def test_nodes(self) -> NDArray[np.int64]:
        """Test nodes of each class, (cells, K)."""
        return np.asarray(self.confusion.sum(axis=2))

    def values(self, groups: Groups) -> dict[str, NDArray[np.float64]]:
        """Every summary metric, one value per cell."""
        ranking = summary_ranking(self.ranking, groups.tail) if self.ranking else {}
        return {**summary_metrics(self.confusion, groups), "ece": self.ece, **ranking}

    def per_class(self) -> dict[str, NDArray[np.float64]]:
        """Every metric of single classes, (cells, K)."""
        return {"precision": precision(self.confusion), "recall": recall(self.confusion), **self.ranking}

    def estimate(self, values: NDArray[np.float64]) -> Estimate:
        """Mean, standard deviation and interval of one value per cell; of fractions it ends at 0 and 1."""
        found = estimate(values, self.seeds, self.splits)
        if found.ci95 is None:
            return found
        low, high = found.ci95
        largest = 1.0 if np.nanmax(values) <= 1 else np.inf  # a lift is no fraction
        return replace(found, ci95=(max(0.0, low), min(largest, high)))


@dataclass(frozen=True, eq=False)
class EvaluationResult:
    """Scores of one embedding (or one method) under several classifiers; ``print`` it for a table.

    Attributes:
        scores: by classifier.
        class_names: what the classes are called.
        groups: head, middle and tail classes.
        protocol: how it was evaluated (imbalance, probe, ...), for the record.
        ceiling: the probe trained on every label outside the test set, if requested.
        notes: what a reader should know, for example a class without training labels.

    Example:
        >>> import numpy as np
        >>> from imgcl.evaluation import evaluate
        >>> y = np.repeat([0, 1, 2], 60)
        >>> Z = np.eye(3)[y] + 0.1 * np.random.default_rng(0).standard_normal((180, 3))
        >>> result = evaluate(Z, y, imbalance="exp:5", classifier="reweight", splits=3)
        >>> result["reweight", "accuracy"].mean
        1.0
    """

    scores: Mapping[str, Scores]
    class_names: tuple[str, ...]
    groups: Groups
    protocol: Mapping[str, Any] = field(default_factory=dict)
    ceiling: Scores | None = None
    notes: tuple[str, ...] = ()

    @property
    def classifiers(self) -> tuple[str, ...]:
        return tuple(self.scores)

    def __getitem__(self, key: tuple[str, str]) -> Estimate:
        """``result["pbs", "tail"]``: the estimate of a metric under a classifier."""
        scores = self.of(key[0])
        return scores.estimate(self.values(*key))

    def of(self, classifier: str) -> Scores:
        """Scores of a classifier, or of the ceiling."""
        if classifier == CEILING and self.ceiling is not None:
            return self.ceiling
        if classifier not in self.scores:
            raise InputError(f"no classifier {classifier!r} in this result: it has {', '.join(self.scores)}")
        return self.scores[classifier]

    def values(self, classifier: str, metric: str) -> NDArray[np.float64]:
        """A metric's value in each cell."""
        values = self.of(classifier).values(self.groups)
        if metric not in values:
            raise InputError(f"no metric {metric!r}{did_you_mean(metric, values)}")
        return values[metric]

    def __str__(self) -> str:
        return text_table(self)

    # ------------------------------------------------------------------ as data

    def to_frame(self) -> pd.DataFrame:
        """One row for each seed x split x classifier, one column for each metric."""
        import pandas as pd

        frames = []
        for name, scores in self.scores.items():
            columns: dict[str, Any] = {"classifier": name, "seed": scores.seeds, "split": scores.splits}
            columns |= scores.values(self.groups)
            for metric, per_class in scores.per_class().items():
                for k, value in enumerate(per_class.T):
                    columns[f"{metric}[{self.class_names[k]}]"] = value
            frames.append(pd.DataFrame(columns))
        return pd.concat(frames, ignore_index=True)

    def class_frame(self, classifier: str) -> pd.DataFrame:
        """One row for each class: its group, test nodes (mean over the cells) and the mean of every metric.

        Example:
            >>> import numpy as np
            >>> from imgcl.evaluation import evaluate
            >>> y = np.repeat(["common", "rare"], [90, 30])
            >>> Z = np.eye(2)[(y == "rare").astype(int)]
            >>> result = evaluate(Z, y, "natural", "plain", splits=2, test="natural")
            >>> result.class_frame("plain")[["class", "group", "test_nodes", "recall", "auprc"]].values.tolist()
            [['common', 'head', 72.0, 1.0, 1.0], ['rare', 'tail', 24.0, 1.0, 1.0]]
        """
        import pandas as pd

        scores = self.of(classifier)
        columns: dict[str, Any] = {"class": self.class_names, "group": self.groups.of_class()}
        columns["test_nodes"] = scores.test_nodes.mean(axis=0)
        for metric, per_class in scores.per_class().items():
            columns[metric] = [scores.estimate(values).mean for values in per_class.T]
        return pd.DataFrame(columns)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object: one entry per classifier (and ``ceiling``), all of the same shape, fractions in 0..1."""
        entries = dict(self.scores)
        if self.ceiling is not None:
            entries[CEILING] = self.ceiling
        return {name: self._entry(scores) for name, scores in entries.items()}

    def to_json(self, indent: int | None = None) -> str:
        """:meth:`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def _entry(self, scores: Scores) -> dict[str, Any]:
        entry: dict[str, Any] = {
            metric: scores.estimate(values).to_dict() for metric, values in scores.values(self.groups).items()
        }
        per_class = {metric: self._by_class(scores, values) for metric, values in scores.per_class().items()}
        entry |= {metric: per_class.pop(metric) for metric in ("precision", "recall")}
        if per_class:
            entry["ranking"] = per_class
        entry["confusion"] = scores.confusion.sum(axis=0).tolist()
        entry["groups"] = {name: [self.class_names[k] for k in classes] for name, classes in self.groups}
        entry["cells"] = {
            "seed": scores.seeds.tolist(),
            "split": scores.splits.tolist(),
            "setting": [dict(setting) for setting in scores.settings],
            "ece": _plain(scores.ece),
            "confusion": scores.confusion.tolist(),
        }
        if scores.ranking:
            entry["cells"]["ranking"] = {name: [_plain(row) for row in rows] for name, rows in scores.ranking.items()}
        if scores.nodes:
            entry["cells"]["nodes"] = {part: [getattr(n, part) for n in scores.nodes] for part in Nodes._fields}
        entry["protocol"] = {**self.protocol, "notes": list(self.notes)}
        return entry

    def _by_class(self, scores: Scores, values: NDArray[np.float64]) -> dict[str, Any]:
        """Estimates of a metric (cells, K) by class name."""
        pairs = zip(self.class_names, values.T, strict=True)
        return {name: scores.estimate(column).to_dict() for name, column in pairs}

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> EvaluationResult:
        """Read back what :meth:`to_dict` wrote, or ``imgcl evaluate --json``."""
        entries = {name: entry for name, entry in entries.items() if name != REFERENCES}
        try:
            first = next(iter(entries.values()))
            names = tuple(first["recall"])
            groups = Groups(*(tuple(names.index(k) for k in first["groups"][name]) for name in GROUP_NAMES))
            protocol = dict(first["protocol"])
            notes = tuple(protocol.pop("notes"))
            scores = {name: _scores(entry["cells"]) for name, entry in entries.items()}
        except (StopIteration, AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"this is not an evaluation result ({error!r} is wrong or missing)") from None
        return cls(scores, names, groups, protocol, scores.pop(CEILING, None), notes)


def _scores(cells: Mapping[str, Any]) -> Scores:
    return Scores(
        confusion=np.asarray(cells["confusion"], dtype=np.int64),
        ece=_array([cells["ece"]])[0],
        settings=tuple(cells["setting"]),
        seeds=np.asarray(cells["seed"], dtype=np.int64),
        splits=np.asarray(cells["split"], dtype=np.int64),
        nodes=_nodes(cells["nodes"], len(cells["seed"])) if "nodes" in cells else (),
        ranking={name: _array(cells["ranking"][name]) for name in RANKING} if "ranking" in cells else {},
    )


def _plain(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _array(rows: Sequence[Sequence[float | None]]) -> NDArray[np.float64]:
    found = np.array([[np.nan if value is None else value for value in row] for row in rows], dtype=np.float64)
    if np.isinf(found).any():
        raise ValueError("a figure that is not finite")
    return found


def _nodes(columns: Mapping[str, Sequence[str]], cells: int) -> tuple[Nodes, ...]:
    nodes = tuple(Nodes(*map(str, row)) for row in zip(*(columns[part] for part in Nodes._fields), strict=True))
    if len(nodes) != cells:
        raise ValueError(f"there are {len(nodes)} nodes for {cells} cells")
    return nodes


def combine(results: Sequence[EvaluationResult]) -> EvaluationResult:
    """One result over several seeds: evaluations of several pre-trainings on the same splits.

    Example:
        >>> import numpy as np
        >>> from imgcl.evaluation import evaluate
        >>> y, rng = np.repeat([0, 1, 2], 60), np.random.default_rng(0)
        >>> seeds = [np.eye(3)[y] + rng.standard_normal((180, 3)) for _ in range(2)]
        >>> both = combine([evaluate(Z, y, imbalance="exp:5", classifier="plain", splits=3) for Z in seeds])
        >>> both.of("plain").seeds.tolist()
        [0, 0, 0, 1, 1, 1]

    Raises:
        InputError: when the results differ in classes, classifiers, labels, splits or settings of the evaluation.
    """
    if not results:
        raise InputError("nothing to combine: give at least one result")
    notes = check_combined(results)
    joined = join(results)
    return replace(joined, notes=tuple(dict.fromkeys([*joined.notes, *notes])))


def join(results: Sequence[EvaluationResult]) -> EvaluationResult:
    """As :func:`combine`, where the caller knows that the results belong together, also on other splits or graphs."""
    first = results[0]
    with_ceiling = all(result.ceiling is not None for result in results)
    return replace(
        first,
        scores={name: _concatenate([result.scores[name] for result in results]) for name in first.scores},
        ceiling=_concatenate([result.of(CEILING) for result in results]) if with_ceiling else None,
        notes=tuple(dict.fromkeys(note for result in results for note in result.notes)),
    )


def _concatenate(parts: Sequence[Scores]) -> Scores:
    shift = np.cumsum([0, *(int(part.seeds.max()) + 1 for part in parts[:-1])])
    return Scores(
        confusion=np.concatenate([part.confusion for part in parts]),
        ece=np.concatenate([part.ece for part in parts]),
        settings=tuple(setting for part in parts for setting in part.settings),
        seeds=np.concatenate([part.seeds + by for part, by in zip(parts, shift, strict=True)]),
        splits=np.concatenate([part.splits for part in parts]),
        nodes=tuple(n for part in parts for n in part.nodes) if all(part.nodes for part in parts) else (),
        ranking=_join_ranking(parts),
    )


def _join_ranking(parts: Sequence[Scores]) -> dict[str, NDArray[np.float64]]:
    if not all(part.ranking for part in parts):
        return {}
    return {name: np.concatenate([part.ranking[name] for part in parts]) for name in RANKING}
