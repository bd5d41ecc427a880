"""requirements.lock is made from constraints.txt, and constraints.txt pins what pyproject.toml asks for."""

import re
import runpy
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
LOCK = runpy.run_path(str(ROOT / "scripts" / "lock.py"))


def test_pins_and_lock_agree():
    done = subprocess.run([sys.executable, ROOT / "scripts" / "lock.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_line_of_the_lock_has_hashes():
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[a-z0-9])", "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    assert len(entries) == len(LOCK["pins"]())
    for entry in entries:
        assert re.fullmatch(r"[a-z0-9-]+==[^\s;]+(; [^\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+", entry), entry[:80]


def test_every_dependency_is_pinned_within_its_range():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    pins = LOCK["pins"]()
    for requirement in map(Requirement, wanted):
        if requirement.name != "imgcl":
            pinned = pins[canonicalize_name(requirement.name)]
            assert pinned in requirement.specifier, f"{requirement} but {pinned}"


def installed_with(requirements):
    """Every (package, extra) that these requirements bring along, as far as it is installed here."""
    wanted, seen = [*requirements], set()
    while wanted:
        requirement = wanted.pop()
        name = canonicalize_name(requirement.name)
        for extra in requirement.extras or {""}:
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            try:
                needed = map(Requirement, metadata.requires(name) or ())
            except metadata.PackageNotFoundError:  # for another system
                continue
            wanted += [each for each in needed if each.marker is None or each.marker.evaluate({"extra": extra})]
    return seen


def test_everything_that_is_installed_with_the_package_is_pinned():
    seen = installed_with([Requirement("imgcl[dev]")])
    assert len(seen) > 100
    assert {name for name, _ in seen} - LOCK["pins"]().keys() == {"imgcl"}


def test_without_extras_few_packages_are_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {name for name, _ in installed_with(map(Requirement, project["dependencies"]))}
    assert "torch-geometric" not in names
    assert len(names) < 45, sorted(names)


def test_files_of_the_index_are_recognised():
    version_of = LOCK["version_of"]
    assert version_of("numpy-2.4.6-cp311-cp311-manylinux_2_28_x86_64.whl") == Version("2.4.6")
    assert version_of("numpy-2.4.6.tar.gz") == Version("2.4.6")
    assert version_of("torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl") == Version("2.13.0")
    assert version_of("safetensors-0.8.0-cp38-abi3-win_amd64.whl") == Version("0.8.0")
    assert version_of("numpy-2.4.6-pp311-pypy311_pp73-macosx_14_0_arm64.whl") is None
    assert version_of("numpy-2.4.6-cp310-cp310-win_amd64.whl") is None
    assert version_of("numpy-2.4.6.exe") is None


def test_withdrawn_files_are_left_out():
    page = LOCK["Links"]()
    page.feed(
        '<a href="https://x/a-1.0.tar.gz#sha256=aa">a</a>'
        '<a href="https://x/a-1.1.tar.gz#sha256=bb" data-yanked="broken">a</a>'
        '<a href="https://x/a-1.2.tar.gz">a</a>'
    )
    assert page.files == {"a-1.0.tar.gz": "aa"}
