"""Wheel and sdist hold what they must, and the wheel works without the checkout."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from imgcl import __version__

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def run(*command):
    done = subprocess.run([sys.executable, *map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    run("-m", "hatchling", "build", "-d", folder)
    return folder


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(built):
    with zipfile.ZipFile(built / f"imgcl-{__version__}-py3-none-any.whl") as wheel:
        held = {name for name in wheel.namelist() if not name.startswith("imgcl-")}
    source = [
        path for path in (ROOT / "src" / "imgcl").rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    assert held == {path.relative_to(ROOT / "src").as_posix() for path in source}
    assert {"imgcl/py.typed", "imgcl/training/presets/gbt/default.toml", "imgcl/report/page/style.css"} <= held


def test_the_sdist_holds_what_a_build_and_its_tests_need(built):
    with tarfile.open(built / f"imgcl-{__version__}.tar.gz") as sdist:
        held = {name.split("/", 1)[1] for name in sdist.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "requirements.lock"} <= held
    assert {"src/imgcl/__init__.py", "tests/conftest.py", "Makefile", "constraints.txt"} <= held
    strange = [name for name in held if name.split("/")[0] in (".venv", ".git", "runs", "demo", "build", "site")]
    assert not strange


def test_the_installed_wheel_passes_the_smoke_test(built, tmp_path):
    """The dependencies are those of this environment, the package is the wheel's: `make smoke` installs all anew."""
    wheel = built / f"imgcl-{__version__}-py3-none-any.whl"
    run(
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-compile",
        "--no-index",
        "--target",
        tmp_path / "lib",
        wheel,
    )
    said = run("scripts/smoke.py", "--python", sys.executable, "--path", tmp_path / "lib")
    assert said.count(": well") == 10
