"""Check a wheel on the other Pythons that it is declared for, as far as that is possible here.

    python scripts/smoke_pythons.py dist/imgcl-0.1.0-py3-none-any.whl
    python scripts/smoke_pythons.py WHEEL --any-torch    # also where torch brings CUDA along: gigabytes

An interpreter that is not installed is skipped. Where pip finds a CPU build of torch (or with ``--any-torch``), the
whole installation is made and the smoke test runs. Elsewhere less is checked, because nearly everything needs torch:
pip must find a wheel of torch and install wheels of all others, every file must compile, and the program must start.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

VERSIONS = ("3.12", "3.13")
ROOT = Path(__file__).resolve().parents[1]
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", str(ROOT / "constraints.txt"))
WITHOUT_TORCH = {
    "every file compiles": ("-m", "compileall", "-q", "wheel"),
    "the package imports without a warning": ("-W", "error", "-c", "import imgcl"),
    "imgcl --version": ("-m", "imgcl", "--version"),
    "imgcl --help": ("-m", "imgcl", "--help"),
    "imgcl pretrain --help": ("-m", "imgcl", "pretrain", "--help"),
    "imgcl import --help": ("-m", "imgcl", "import", "--help"),
    "imgcl predict --help": ("-m", "imgcl", "predict", "--help"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--any-torch", action="store_true", help="install torch even where it brings CUDA along")
    arguments = parser.parse_args()
    for version in VERSIONS:
        python = interpreter(version)
        if python is None:
            print(f"Python {version}: skipped, it is not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            check(version, python, arguments.wheel.resolve(), Path(folder), arguments.any_torch)


def interpreter(version: str) -> str | None:
    """The interpreter of a version: on the path, or one of pyenv's."""
    found = shutil.which(f"python{version}")
    if found and succeeds(found, "--version"):
        return found
    pyenv = shutil.which("pyenv")
    if pyenv is None:
        return None
    installed = run(pyenv, "versions", "--bare").splitlines()
    names = [name.strip() for name in installed if name.strip().startswith(f"{version}.")]
    return f"{run(pyenv, 'prefix', names[-1]).strip()}/bin/python" if names else None


def check(version: str, python: str, wheel: Path, folder: Path, any_torch: bool) -> None:
    """Install the wheel into an environment of its own, and run what can run there."""
    run(python, "-m", "venv", folder / "venv")
    python = str(folder / "venv" / "bin" / "python")
    builds = torch_builds(python)
    print(f"Python {version}: pip finds torch {', '.join(builds)}")
    if any_torch or any("+cpu" in build for build in builds):
        run(python, *PIP, wheel)
        print(run(sys.executable, ROOT / "scripts" / "smoke.py", "--python", python), end="")
        return
    print(f"Python {version}: the smoke test is left out, for pip finds no CPU build of torch")
    run(python, *PIP, "--only-binary", ":all:", *others(wheel))
    run(python, *PIP, "--no-deps", wheel)
    run(python, "-m", "zipfile", "-e", wheel, folder / "wheel")
    for what, command in WITHOUT_TORCH.items():
        run(python, *command, cwd=folder)
        print(f"{what}: well")


def torch_builds(python: str) -> list[str]:
    """The builds of the pinned torch that the index has for this Python; nothing is downloaded."""
    (pinned,) = re.findall(
        r"^torch==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    listed = run(python, "-m", "pip", "index", "versions", "torch", "--disable-pip-version-check")
    versions = re.findall(r"[^\s,()]+", listed)
    builds = sorted({version for version in versions if version.partition("+")[0] == pinned})
    return builds or sys.exit(f"there is no torch {pinned} for {python}")


def others(wheel: Path) -> list[str]:
    """What the wheel asks for, without extras and torch."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = archive.read(name).decode()
    wanted = re.findall(r"^Requires-Dist: ([^;\n]+)$", metadata, flags=re.MULTILINE)
    return [each for each in wanted if not each.startswith("torch>")]


def succeeds(*command: object) -> bool:
    return subprocess.run([*map(str, command)], capture_output=True, check=False).returncode == 0


def run(*command: object, cwd: Path | None = None) -> str:
    """What a command prints; its mistake ends this program."""
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
