"""Run benchmarks and write their lines into the table of docs/performance.md.

IMGCL_DATA=<directory with the raw files> python benchmarks/report.py [NAME[:PART] …]

Without names all of them; with names (``methods:gbt``: one part of a benchmark) the other lines stay as they are. Every
line is written as soon as it is measured.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from imgcl._core.files import write_text

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "docs" / "performance.md"
BEGIN, END = "<!-- table: made by benchmarks/report.py -->", "<!-- end of table -->"
BENCHMARKS = (
    "limits",
    "methods",
    "time_to_result",
    "default",
    "binary",
    "engine",
    "supervised",
    "clustering",
    "pagerank",
    "probe",
    "walks",
    "waiting",
)


def run(name: str) -> dict[str, Any]:
    benchmark, _, part = name.partition(":")
    command = [sys.executable, str(FOLDER / f"{benchmark}.py"), "--json", *(["--only", part] if part else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"benchmarks/{benchmark}.py failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def rows(name: str, result: dict[str, Any]) -> list[list[str]]:
    """A flat result is one row, a result of results one row each; numbers without a column follow in the last one."""
    nested = {key: value for key, value in result.items() if isinstance(value, dict)}
    if nested:
        return [row for key, value in nested.items() for row in rows(f"{name}: {key}", value)]
    columns = ("ours_s", "reference_s", "ratio", "bar", "peak_mb")
    rest = [f"{key} {shown(value)}" for key, value in result.items() if key not in (*columns, "benchmark")]
    return [[name, *(shown(result.get(column, "")) for column in columns), ", ".join(rest)]]


def shown(value: Any) -> str:
    return (
        f"{value:.3g}"
        if isinstance(value, float) and abs(value) < 1000
        else f"{value:.0f}"
        if isinstance(value, float)
        else str(value)
    )


def table(lines: list[list[str]]) -> str:
    header = ["benchmark", "ours, s", "reference, s", "ratio", "bar", "peak MB", "more"]
    versions = f"torch {torch.__version__}, Python {platform.python_version()}"
    machine = f"{platform.machine()}, {torch.get_num_threads()} threads, {versions}"
    shown_lines = ("| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *lines])
    return "\n".join([f"Measured on {machine}.", "", *shown_lines])


def replaced(earlier: list[list[str]], name: str, measured: list[list[str]]) -> list[list[str]]:
    """The lines with those of a benchmark, or of a part of it, measured anew; benchmarks stay in their order."""
    whole = ":" not in name
    new = {row[0]: row for row in measured}
    kept = [new.pop(row[0], row) for row in earlier if row[0] in new or not (whole and _benchmark(row) == name)]
    return sorted([*kept, *new.values()], key=lambda row: BENCHMARKS.index(_benchmark(row)))


def _benchmark(row: list[str]) -> str:
    return row[0].partition(":")[0]


def write_lines(name: str, result: dict[str, Any]) -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    old, _, after = rest.partition(END)
    earlier = [[cell.strip() for cell in line[1:-1].split("|")] for line in old.splitlines() if line[:1] == "|"][2:]
    lines = replaced(earlier, name, rows(name.partition(":")[0], result))
    write_text(PAGE, f"{before}{BEGIN}\n{table(lines)}\n{END}{after}")


def main() -> None:
    for name in sys.argv[1:] or BENCHMARKS:
        print(name, flush=True)
        write_lines(name, run(name))


if __name__ == "__main__":
    main()
