"""The lab's wheel holds its package and offers its studies; the library's sdist comes without the lab."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from imgcl import __version__

LAB = Path(__file__).parents[1]

pytestmark = pytest.mark.slow


def build(project: Path, out: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    subprocess.run(command, cwd=project, capture_output=True, check=True)


def test_the_wheel_has_the_version_of_the_library_and_offers_studies(tmp_path):
    build(LAB, tmp_path)
    with zipfile.ZipFile(tmp_path / f"imgcl_lab-{__version__}-py3-none-any.whl") as wheel:
        held = {name for name in wheel.namelist() if name.startswith("imgcl_lab/")}
        offered = wheel.read(f"imgcl_lab-{__version__}.dist-info/entry_points.txt").decode()
    source = [path for path in (LAB / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert held == {path.relative_to(LAB / "src").as_posix() for path in source}
    assert "[imgcl.studies]" in offered
    assert "main = imgcl_lab.main:STUDY" in offered


def test_the_library_is_published_without_the_lab(tmp_path):
    build(LAB.parent, tmp_path)
    with tarfile.open(tmp_path / f"imgcl-{__version__}.tar.gz") as sdist:
        assert not [name for name in sdist.getnames() if name.split("/")[1] == "lab"]
