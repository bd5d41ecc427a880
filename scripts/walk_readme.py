"""Walk the path of the README in an environment that has only what imgcl itself needs: its commands, on a real graph.

    python scripts/walk_readme.py --python build/smoke/bin/python

The graph is tolokers (11,758 crowd workers, a fifth of them banned), exported to the CSV files that the README names.
The status of a third of the workers is known, and 10 % of the workers come only tomorrow. The commands are read from
the README, so that they cannot differ from it. Without the graph's file in ``IMGCL_DATA`` nothing is walked.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MARK = "<!-- walk -->\n```sh\n"
EXTRAS = ("matplotlib", "torch_geometric", "igraph", "umap", "ray", "optuna", "mlflow", "tensorboard")
INSTALLED = f"""
import importlib.util, pathlib, sys
import imgcl
assert pathlib.Path({str(ROOT)!r}) / "src" not in pathlib.Path(imgcl.__file__).parents, imgcl.__file__
found = [name for name in {EXTRAS!r} if importlib.util.find_spec(name)]
assert not found, f"more than the base install: {{found}}"
"""
EXPORT = """
import numpy as np, pandas as pd
import imgcl

graph = imgcl.load_graph("tolokers")
rng = np.random.default_rng(0)
status = np.array(graph.class_names, dtype=object)[graph.y]
nodes = pd.DataFrame(graph.x, columns=[f"f{i}" for i in range(graph.n_features)])
nodes.insert(0, "account", [f"w{i}" for i in range(graph.n_nodes)])
nodes["status"] = np.where(rng.random(graph.n_nodes) < 1 / 3, status, None)
a, b = graph.adjacency.nonzero()
once = a < b
links = pd.DataFrame({"src": nodes["account"].to_numpy()[a[once]], "dst": nodes["account"].to_numpy()[b[once]]})
today = rng.random(graph.n_nodes) < 0.9
kept = today[a[once]] & today[b[once]]
nodes[today].to_csv("accounts.csv", index=False)
links[kept].to_csv("links.csv", index=False)
nodes.to_csv("new.csv", index=False)
links.to_csv("new-links.csv", index=False)
pd.DataFrame({"account": nodes["account"], "status": status}).to_csv("truth.csv", index=False)
"""


def commands() -> list[str]:
    """The lines of the README's block, without their remarks."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(re.escape(MARK) + r"(.*?)```", text, flags=re.DOTALL)
    return [line.partition("  #")[0].strip() for line in block.splitlines() if line.strip()]


def walk(python: str, folder: Path, environment: dict[str, str]) -> None:
    """Export the graph, run the commands, look at what they wrote."""
    run([python, "-c", INSTALLED], folder, environment)
    run([python, "-c", EXPORT], folder, environment)
    lines = commands()
    assert [line.split()[1] for line in lines[-2:]] == ["import", "score"], lines
    for line in lines:
        start = time.perf_counter()
        said = run(["sh", "-c", line], folder, environment)
        print(f"$ {line}    # {time.perf_counter() - start:.0f} s\n{said.rstrip()}", flush=True)
    look(folder)


def look(folder: Path) -> None:
    """The files that the README promises, and whether they are any good."""
    truth = {row["account"]: row["status"] for row in rows(folder / "truth.csv")}
    suggested = rows(folder / "to_label.csv")
    assert len(suggested) == 40, len(suggested)
    assert not [row for row in suggested if row["label"]]
    ranked = rows(folder / "ranked.csv")
    known = {row["account"] for row in rows(folder / "accounts.csv") if row["status"]}
    first = [row["node"] for row in ranked if row["node"] not in known][:200]
    share = sum(truth[node] == "banned" for node in first) / len(first)
    base = sum(status == "banned" for status in truth.values()) / len(truth)
    assert share > 1.8 * base, f"{share:.2f} of the first 200 unlabelled nodes are banned, {base:.2f} of all"
    assert {row["node"] for row in rows(folder / "ranked-reasons.csv")} <= set(truth)
    assert len(rows(folder / "scores.csv")) == len(truth)
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")[:200]
    assert json.loads((folder / "scorers" / "mine" / "scorer.json").read_text(encoding="utf-8"))
    print(f"of the first 200 nodes without a label {share:.0%} are banned, of all nodes {base:.0%}")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="interpreter of the environment")
    parser.add_argument("--keep", type=Path, help="directory to work in, kept afterwards")
    arguments = parser.parse_args()
    if not (Path(os.environ.get("IMGCL_DATA", "")) / "tolokers.npz").is_file():
        print("skipped: tolokers.npz is not in the directory of IMGCL_DATA")
        return
    python = Path(arguments.python).absolute()  # not resolved: a link decides which environment it is
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment["PATH"] = f"{python.parent}{os.pathsep}{environment['PATH']}"
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        walk(str(python), folder, environment)


if __name__ == "__main__":
    main()
