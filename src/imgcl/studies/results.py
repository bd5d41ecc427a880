"""A study's results read from its journal: nothing else is needed to draw its tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from imgcl._core.errors import RunError
from imgcl.evaluation import EvaluationResult
from imgcl.evaluation.results import join
from imgcl.studies.grid import NONE
from imgcl.studies.journal import Journal
from imgcl.studies.lines import EVALUATED, GROUP_LABELS, study_lines
from imgcl.studies.packing import unpack_result

Group = tuple[str, ...]
OUTSIDE_GROUP = {"seed", "split", "key", "pretrain"}


def group_of(point: Mapping[str, Any]) -> Group:
    """The labels that points of different seeds and splits share."""
    return tuple(f"{key}={value}" for key, value in sorted(point.items()) if key not in OUTSIDE_GROUP)


def effective_points(plans: Sequence[Mapping[str, Any]]) -> dict[Group, list[dict[str, Any]]]:
    """The points of each group, as the last plan that has the group says."""
    groups: dict[Group, list[dict[str, Any]]] = {}
    for plan in plans:
        mine: dict[Group, list[dict[str, Any]]] = {}
        for point in plan["points"]:
            mine.setdefault(group_of(point), []).append(point)
        groups |= mine
    return groups


class Results:
    """Everything a journal knows.

    Args:
        name: of the study.
        journal: its journal.

    Attributes:
        points: every planned point of the grid, as labels.
        missing: data sets that were not there, and why.
    """

    def __init__(self, name: str, journal: Journal) -> None:
        lines = study_lines(journal)
        self.name, self._journal = name, journal
        self._plans = [line for line in lines if line["type"] == "plan"]
        if not self._plans:
            raise RunError(f"study {name!r} has not been run: there is no plan in {journal.path}")
        self._groups = effective_points(self._plans)
        self._cells = {line["key"]: line for line in lines if line["type"] == "cell"}
        self.points = [point for group in self._groups.values() for point in group]
        present = {point.get("dataset") for point in self.points}
        said = {name: why for plan in self._plans for name, why in plan["missing"].items()}
        self.missing = {name: why for name, why in said.items() if name not in present}

    def beside(self, name: str) -> Results | None:
        """The results of another study of the same directory, if it has been run."""
        journal = Journal(self._journal.path.parents[1] / name / self._journal.path.name)
        return Results(name, journal) if journal.path.exists() else None

    # ------------------------------------------------------------------ the plan

    def values(self, label: str) -> list[Any]:
        """Values of a label, in the order of the grid."""
        return list(dict.fromkeys(point[label] for point in self.points if label in point))

    def line(self, key: str) -> dict[str, Any] | None:
        """The journal's line of a cell."""
        return self._cells.get(key)

    def result(self, point: Mapping[str, Any]) -> dict[str, Any] | None:
        """The result of a point's cell, when it is finished."""
        line = self._cells.get(point["key"])
        return line["result"] if line is not None and line["status"] == "done" else None

    def find(self, **labels: Any) -> list[dict[str, Any]]:
        """Points with these labels."""
        return [point for point in self.points if all(point.get(key) == value for key, value in labels.items())]

    # ------------------------------------------------------------------ evaluations

    def evaluation(self, **labels: Any) -> EvaluationResult | None:
        """The evaluation of a group over its finished seeds and splits; ``None`` when there is none."""
        parts = list(self._parts(labels).values())
        return join(parts) if parts else None  # a seed may have a graph or a split of its own

    def paired(
        self, first: Mapping[str, Any], second: Mapping[str, Any]
    ) -> tuple[EvaluationResult, EvaluationResult] | None:
        """Two groups on the seeds and splits that both have."""
        a, b = self._parts(first), self._parts(second)
        both = [place for place in a if place in b]
        return (join([a[p] for p in both]), join([b[p] for p in both])) if both else None

    def against_plain(self, labels: Mapping[str, Any]) -> tuple[EvaluationResult, EvaluationResult] | None:
        """The plain pre-training and a group with a balance, paired; ``None`` for the plain one itself."""
        plain = {**labels, "balance": NONE}
        return None if labels["balance"] == NONE else self.paired(plain, labels)

    def _parts(self, labels: Mapping[str, Any]) -> dict[tuple[Any, Any], EvaluationResult]:
        found = {}
        for point in self.find(**labels):
            result = self.result(point) if point["kind"] in EVALUATED else None
            if result is not None:
                try:
                    found[point["seed"], point.get("split")] = unpack_result(result)
                except ValueError as error:
                    line = f"the line of cell {point['key']} is damaged ({error}); remove that line to go on"
                    raise RunError(f"study {self.name!r}: {line}") from None
        return found

    def groups(self) -> list[dict[str, Any]]:
        """Labels of every evaluated group, in the order of the grid."""
        seen = {}
        for point in self.points:
            if point["kind"] in EVALUATED:
                labels = {key: point[key] for key in GROUP_LABELS}
                seen[tuple(labels.values())] = labels
        return list(seen.values())

    def pretrainings(self, **labels: Any) -> list[dict[str, Any]]:
        """Summaries of the pre-trainings of a group."""
        keys = dict.fromkeys(point["pretrain"] for point in self.find(**labels) if point.get("pretrain"))
        lines = [self._cells.get(key) for key in keys]
        return [line["result"] for line in lines if line is not None and line["status"] == "done"]

    # ------------------------------------------------------------------ facts

    @property
    def asked_by_name(self) -> bool:
        """Whether it was run as ``imgcl study NAME``: the study of a package, not one from a file."""
        command: str = self._plans[-1]["command"]
        return command.split()[:3] == ["imgcl", "study", self.name]

    def _keys(self) -> list[str]:
        """Keys of all cells, each once, in the order of the grid."""
        return list(dict.fromkeys(key for point in self.points for key in (point["pretrain"], point["key"]) if key))

    def counts(self) -> dict[str, int]:
        """How many cells are done, failed and open, pre-trainings included."""
        states = [self._cells[key]["status"] if key in self._cells else "open" for key in self._keys()]
        return {state: states.count(state) for state in ("done", "failed", "open")}

    def failures(self) -> list[dict[str, Any]]:
        """The lines of the cells that failed, each with the labels of a point that it belongs to."""
        found = {}
        for point in self.points:
            for key in filter(None, (point["pretrain"], point["key"])):
                line = self._cells.get(key)
                if line is not None and line["status"] == "failed":
                    found[key] = {**line, "labels": {name: point[name] for name in GROUP_LABELS if name in point}}
        return list(found.values())

    def seconds(self) -> float:
        """Compute time of all finished cells, each counted once."""
        return float(sum(self._cells[key]["seconds"] for key in self._keys() if key in self._cells))

    def facts(self) -> dict[str, str]:
        """How these results were made: commands, commits, versions, time."""
        last = {group_of(point): plan["command"] for plan in self._plans for point in plan["points"]}
        used = [plan for plan in self._plans if plan["command"] in last.values()] or self._plans[-1:]
        commits = sorted({self._cells[key]["commit"] for key in self._keys() if key in self._cells})
        versions = used[-1]["versions"]
        shown = {name: versions.get(name, "?") for name in ("imgcl", "python", "torch", "numpy", "scikit-learn")}
        return {
            "command": "; ".join(dict.fromkeys(plan["command"] for plan in used)),
            "commit": ", ".join(commits),
            "versions": ", ".join(f"{name} {number}" for name, number in shown.items()),
            "compute time": duration(self.seconds()),
        }


def duration(seconds: float) -> str:
    """A length of time as text.

    Example:
        >>> duration(59.6), duration(3700), duration(8)
        ('1 min', '1 h 2 min', '8 s')
    """
    whole = round(seconds)
    if whole < 59:
        return f"{whole} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
