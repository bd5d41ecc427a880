"""Dockerfile, conda recipe and citation file say what pyproject.toml and the code say; no image is built here."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from imgcl import __version__

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONDA_NAMES = {"duckdb": "python-duckdb", "torch": "pytorch"}


def read_yaml(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


# ------------------------------------------------------------------------------------------------------- Dockerfile


def steps() -> list[tuple[str, str]]:
    """Instruction and the rest of the line, of every step."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines if line and not line.startswith("#")]


def stages() -> list[list[tuple[str, str]]]:
    found: list[list[tuple[str, str]]] = []
    for step in steps():
        if step[0] == "FROM":
            found.append([])
        found[-1].append(step)
    return found


def copied() -> list[str]:
    """What is copied from the checkout."""
    lines = [shlex.split(rest) for name, rest in steps() if name == "COPY" and not rest.startswith("--from")]
    return [source for words in lines for source in words[:-1]]


def test_every_instruction_is_known() -> None:
    known = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "ENTRYPOINT", "CMD"}
    assert {name for name, _ in steps()} <= known


def test_the_base_is_a_slim_python_that_imgcl_supports() -> None:
    for stage in stages():
        found = re.match(r"python:(\d+\.\d+)-slim\b", stage[0][1])
        assert found is not None
        assert f"{found[1]}.0" in SpecifierSet(PROJECT["requires-python"])
        assert f"Programming Language :: Python :: {found[1]}" in PROJECT["classifiers"]


def test_what_is_copied_exists_and_is_not_ignored() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied()
    for source in copied():
        assert (ROOT / source).exists()
        assert source in allowed


def test_the_image_runs_imgcl_and_not_as_root() -> None:
    last = dict(stages()[-1])
    (created,) = [rest for name, rest in stages()[-1] if "useradd" in rest]
    assert last["USER"] != "root"
    assert last["USER"] in shlex.split(created)
    assert json.loads(last["ENTRYPOINT"])[0] in PROJECT["scripts"]
    names = [name for name, _ in stages()[-1]]
    assert names.index("USER") < names.index("ENTRYPOINT")


def test_the_stages_share_the_environment() -> None:
    (made,) = [rest.split()[-1] for name, rest in stages()[0] if name == "RUN" and "-m venv" in rest]
    (taken,) = [shlex.split(rest) for name, rest in stages()[1] if name == "COPY"]
    assert taken == [f"--from={stages()[0][0][1].split()[-1]}", made, made]
    assert f"PATH={made}/bin:$PATH" in dict(stages()[1])["ENV"]


@pytest.mark.slow
def test_the_copied_files_are_enough_to_build_the_package(tmp_path: Path) -> None:
    for source in copied():
        place = tmp_path / "source" / source
        place.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / source).is_dir() else shutil.copy)(ROOT / source, place)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "-w", tmp_path]
    command = [sys.executable, "-m", "pip", "wheel", *options, "."]
    done = subprocess.run(command, cwd=tmp_path / "source", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [*tmp_path.glob("imgcl-*.whl")]


# ------------------------------------------------------------------------------------------- conda recipe, citation


def test_the_conda_recipe_has_the_dependencies_of_the_package() -> None:
    recipe = read_yaml("conda/recipe.yaml")
    declared = [Requirement(each) for each in PROJECT["dependencies"]]
    expected = {f"{CONDA_NAMES.get(each.name, each.name)} {each.specifier}" for each in declared}
    assert set(recipe["requirements"]["run"]) == expected | {f"python {PROJECT['requires-python']}"}
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    host = {each.replace(" ", "") for each in recipe["requirements"]["host"]}
    assert {*build, f"python{PROJECT['requires-python']}", "pip"} == host


def test_the_conda_recipe_has_the_version_and_the_command() -> None:
    recipe = read_yaml("conda/recipe.yaml")
    assert recipe["context"]["version"] == __version__
    assert recipe["about"]["summary"] == PROJECT["description"]
    ((command, place),) = PROJECT["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [f"{command} = {place}"]


def test_the_citation_has_the_version_and_the_paper() -> None:
    citation = read_yaml("CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == __version__
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
    (paper,) = citation["references"]
    assert paper["url"] in (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(paper["authors"]) == 5
