"""What a suite is, how it is registered, and how all of them are found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

GROUPS = ("crash", "fuzz", "degenerate", "results", "load")  # the order of the table


@dataclass
class Outcome:
    """What a suite found.

    Attributes:
        notes: one line for each loss (what was tried, what was wrong), or why nothing was tried.
    """

    tried: int = 0
    passed: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def lost(self) -> int:
        return self.tried - self.passed

    def count(self, problem: str | None) -> None:
        """Count one try; a problem, said in one line, makes it a loss."""
        self.tried += 1
        if problem is None:
            self.passed += 1
        else:
            self.notes.append(problem)


@dataclass(frozen=True)
class Suite:
    """One row of the table.

    Attributes:
        group: one of ``GROUPS``; ``results`` are compared with what other programs or other ways give.
        name: what is tried, in a few words.
        full: number of tries in a full run.
        part: number of tries in CI.
        run: tries so many times.
    """

    group: str
    name: str
    full: int
    part: int
    run: Callable[[int], Outcome]

    @property
    def title(self) -> str:
        return f"{self.group}: {self.name}"


_REGISTERED: list[Suite] = []


def suite(
    group: str, name: str, *, full: int, part: int
) -> Callable[[Callable[[int], Outcome]], Callable[[int], Outcome]]:
    """Register a function as a suite; see :class:`Suite` for the arguments."""
    if group not in GROUPS:
        raise ValueError(f"group {group!r}: choose one of {', '.join(GROUPS)}")

    def register(run: Callable[[int], Outcome]) -> Callable[[int], Outcome]:
        _REGISTERED.append(Suite(group, name, full, part, run))
        return run

    return register


def all_suites() -> list[Suite]:
    """Every suite of this package, by group."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not module.name.startswith("test_"):
            importlib.import_module(f"{__package__}.{module.name}")
    return sorted(_REGISTERED, key=lambda each: GROUPS.index(each.group))
