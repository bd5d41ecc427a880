"""Run benchmarks and write their lines into the table of docs/performance.md.

IMGCL_DATA=<directory with the raw files> python benchmarks/report.py [NAME …]

Without names all of them; with names the other lines stay as they are.
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
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"benchmarks/{name}.py failed:\n{done.stderr}")
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


def table(results: dict[str, dict[str, Any]], earlier: list[list[str]]) -> str:
    header = ["benchmark", "ours, s", "reference, s", "ratio", "bar", "peak MB", "more"]
    lines = [header, ["---"] * len(header)]
    for name in BENCHMARKS:
        measured = rows(name, results[name]) if name in results else []
        lines += measured or [row for row in earlier if row[0].partition(":")[0] == name]
    versions = f"torch {torch.__version__}, Python {platform.python_version()}"
    machine = f"{platform.machine()}, {torch.get_num_threads()} threads, {versions}"
    return "\n".join([f"Measured on {machine}.", "", *("| " + " | ".join(line) + " |" for line in lines)])


def main() -> None:
    results = {name: run(name) for name in sys.argv[1:] or BENCHMARKS}
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    old, _, after = rest.partition(END)
    earlier = [[cell.strip() for cell in line[1:-1].split("|")] for line in old.splitlines() if line[:1] == "|"]
    text = table(results, earlier)
    print(text)
    write_text(PAGE, f"{before}{BEGIN}\n{text}\n{END}{after}")


if __name__ == "__main__":
    main()
