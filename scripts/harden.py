"""Run the suites of ``tests/harden`` and print one table: tried, passed, lost.

    python scripts/harden.py                    # everything, in full
    python scripts/harden.py crash load         # some groups
    python scripts/harden.py --only pre-train   # suites with these letters in their name
    python scripts/harden.py --part             # as few tries as CI makes
    python scripts/harden.py fuzz --write       # put the rows into docs/reliability.md

Every loss is a line below the table, and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- harden: begin -->", "<!-- harden: end -->"
HEAD = ["| suite | tried | passed | lost | minutes |", "|---|---:|---:|---:|---:|"]

sys.path.insert(0, str(ROOT / "tests"))

from harden.suites import GROUPS, Outcome, Suite, all_suites  # noqa: E402 (found beside the tests)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", help=f"of {', '.join(GROUPS)} (default: all)")
    parser.add_argument("--only", default="", help="only suites with these letters in their name")
    parser.add_argument("--part", action="store_true", help="as few tries as CI makes")
    parser.add_argument("--tries", type=int, help="number of tries of each suite")
    parser.add_argument("--write", action="store_true", help=f"put the rows into {PAGE.relative_to(ROOT)}")
    arguments = parser.parse_args()
    if unknown := set(arguments.groups) - set(GROUPS):
        parser.error(f"there is no group {', '.join(sorted(unknown))}: choose from {', '.join(GROUPS)}")
    chosen = [
        suite
        for suite in all_suites()
        if (not arguments.groups or suite.group in arguments.groups) and arguments.only in suite.name
    ]
    rows, notes, lost = {}, [], 0
    for suite in chosen:
        print(f"{suite.title} …", file=sys.stderr, flush=True)
        started = time.monotonic()
        outcome = suite.run(arguments.tries or (suite.part if arguments.part else suite.full))
        rows[suite.title] = row(suite, outcome, (time.monotonic() - started) / 60)
        lost += outcome.lost
        notes += [f"{suite.title}: {note}" for note in outcome.notes]
        if arguments.write:
            write({suite.title: rows[suite.title]})
    print("\n".join([*HEAD, *rows.values(), *notes]))
    sys.exit(1 if lost else 0)


def row(suite: Suite, outcome: Outcome, minutes: float) -> str:
    """A line of the table; losses are bold."""
    lost = f"**{outcome.lost}**" if outcome.lost else "0"
    return f"| {suite.title} | {outcome.tried:,} | {outcome.passed:,} | {lost} | {minutes:.1f} |"


def write(rows: dict[str, str]) -> None:
    """Replace these rows of the page's table; those of other suites stay, those of suites that are gone go."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    known = {found[1]: found[0] for found in re.finditer(r"^\| ([^|]+?) \|.*$", table, flags=re.MULTILINE)}
    lines = [(known | rows).get(suite.title) for suite in all_suites()]
    body = "\n".join([*HEAD, *filter(None, lines)])
    PAGE.write_text(f"{before}{BEGIN}\n{body}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
