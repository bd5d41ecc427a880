"""constraints-min.txt holds the lowest version of every dependency; the declared Pythons are those that are tested."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NOT_AT_ITS_MINIMUM = {"torch"}  # the file says why


def lowest(requirement: Requirement) -> Version:
    """The version of ``name>=version``, the one form that pyproject.toml uses."""
    (bound,) = requirement.specifier
    assert bound.operator == ">=", f"{requirement} has no lowest version alone"
    return Version(bound.version)


def test_every_dependency_is_pinned_to_its_minimum():
    text = (ROOT / "constraints-min.txt").read_text(encoding="utf-8")
    pins = [Requirement(line) for line in text.splitlines() if line and not line.startswith("#")]
    pinned = {pin.name: Version(next(iter(pin.specifier)).version) for pin in pins}
    declared = {each.name: lowest(each) for each in map(Requirement, PROJECT["dependencies"])}
    assert set(pinned) == set(declared)
    assert {name for name in declared if pinned[name] != declared[name]} == NOT_AT_ITS_MINIMUM
    assert all(pinned[name] >= declared[name] for name in declared)


def test_the_declared_pythons_are_smoke_tested():
    declared = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if " :: Python :: 3." in line}
    others = runpy.run_path(str(ROOT / "scripts" / "smoke_pythons.py"))["VERSIONS"]
    assert declared == {"3.11", *others}  # `make smoke` is on 3.11
    assert PROJECT["requires-python"] == ">=3.11"
