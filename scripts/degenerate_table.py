"""Run every degenerate graph through every method and write the table of docs/reliability.md.

    python scripts/degenerate_table.py

Nothing is written when a try crashes or gives numbers that are not finite.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from harden.degenerate import ALL, BALANCES, BEGIN, EMBEDS, END, METHODS, PAGE, REFUSES, Found, Try, attempt  # noqa: E402
from harden.degenerate_graphs import GRAPHS  # noqa: E402


def main() -> None:
    found = {each: attempt(*each) for each in ALL}
    problems = [f"{', '.join(each)}: {result.problem}" for each, result in found.items() if result.problem]
    if problems:
        sys.exit("\n".join(problems))
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{table(found)}\n{END}{after}", encoding="utf-8")


def table(found: dict[Try, Found]) -> str:
    """One row per graph; what is refused is said below in the program's own words."""
    rows = ["| graph | plain | with ImGCL | evaluation |", "|---|---|---|---|"]
    refusals: dict[str, int] = {}
    for graph_name in GRAPHS:
        cells = []
        for balance in BALANCES:
            tries = [found[graph_name, method, balance] for method in METHODS]
            cells.append(_agreed([each.embeds for each in tries]) + _marks(tries, refusals, REFUSES))
        tries = [found[graph_name, method, balance] for method in METHODS for balance in BALANCES]
        evaluated = [each for each in tries if each.embeds == EMBEDS]
        cells.append(
            _agreed([each.evaluates for each in evaluated]) + _marks(evaluated, refusals, EMBEDS) if evaluated else ""
        )
        rows.append(f"| {graph_name} | {' | '.join(cells)} |")
    said = [f"{number}. `` {text} ``" for text, number in refusals.items()]
    return "\n".join([*rows, "", "What it says when it refuses:", "", *said])


def _agreed(words: Sequence[str]) -> str:
    """The word of all six methods; they behave alike, and a page that hides a difference would be wrong."""
    if len(set(words)) > 1:
        sys.exit(f"the methods differ: {words}")
    return words[0]


def _marks(tries: Sequence[Found], refusals: dict[str, int], embeds: str) -> str:
    """Numbers of the refusals, in the order they are met."""
    texts = dict.fromkeys(text for each in tries if each.embeds == embeds for text in each.refusals)
    numbers = [refusals.setdefault(text, len(refusals) + 1) for text in texts]
    return "".join(f" ({number})" for number in numbers)


if __name__ == "__main__":
    main()
