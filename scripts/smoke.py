"""The least that an installed imgcl must do, with the interpreter it is installed for.

    python scripts/smoke.py --python build/smoke/bin/python
    python scripts/smoke.py --python .venv/bin/python --path DIRECTORY    # imgcl comes from this directory

The package must not come from the checkout: a file that the wheel lacks would be found there.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
FIT = """
import pathlib, sys
import imgcl

assert pathlib.Path(sys.argv[1]) not in pathlib.Path(imgcl.__file__).parents, imgcl.__file__
graph = imgcl.load_graph("synthetic", class_sizes=[60, 30, 12], seed=1)
model = imgcl.ImGCL(epochs=3, settings={"dim": 8}).fit(graph)
print(imgcl.evaluate(model.embedding_, graph.y, "natural", splits=1))
"""
COMMANDS = {
    "the package imports without a warning": ("-W", "error", "-c", "import imgcl"),
    "imgcl --version": ("-m", "imgcl", "--version"),
    "imgcl --help": ("-m", "imgcl", "--help"),
    "imgcl demo --help": ("-m", "imgcl", "demo", "--help"),
    "imgcl presets gbt": ("-m", "imgcl", "presets", "gbt"),
    "fit and evaluate": ("-c", FIT, str(SOURCE)),
    "imgcl pretrain": (
        "-m",
        "imgcl",
        "pretrain",
        "digits",
        "--epochs",
        "2",
        "--set",
        "dim=8",
        "--quiet",
        "--out",
        "run",
    ),
    "imgcl demo": ("-m", "imgcl", "demo", "--epochs", "3", "--splits", "2", "--quiet"),
    "imgcl evaluate": ("-m", "imgcl", "evaluate", "run", "--splits", "1"),
    "imgcl embed": ("-m", "imgcl", "embed", "run", "--out", "digits.parquet"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="interpreter")
    parser.add_argument("--path", type=Path, help="directory to import imgcl from")
    arguments = parser.parse_args()
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "IMGCL_DATA")}
    if arguments.path is not None:
        environment["PYTHONPATH"] = str(arguments.path.resolve())
    python = str(Path(arguments.python).absolute())  # not resolved: a link decides which environment it is
    with tempfile.TemporaryDirectory() as folder:
        for what, command in COMMANDS.items():
            done = subprocess.run(
                [python, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                sys.exit(f"{what}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
            print(f"{what}: well")


if __name__ == "__main__":
    main()
