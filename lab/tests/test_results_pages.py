"""The pages of docs/results are what their journals say, byte for byte."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from imgcl.studies import Results, Store, make_report, write_report

RESULTS = Path(__file__).parents[2] / "docs" / "results"
STORE = Store(RESULTS / "studies")


def results(name: str) -> Results:
    return Results(name, STORE.journal(name))


@pytest.mark.parametrize("name", STORE.studies())
def test_the_page_is_rebuilt_from_its_journal(name: str, tmp_path: Path) -> None:
    found = results(name)
    if found.counts()["open"] and not (RESULTS / f"{name}.md").exists():
        pytest.skip("not finished, not published")
    files = write_report(make_report(found), found, tmp_path)
    assert files
    for file in files:
        committed = RESULTS / file.name
        assert committed.exists(), f"run: imgcl study render {name} --root docs/results/studies --out docs/results"
        assert file.read_bytes() == committed.read_bytes(), f"{file.name} is not what the journal says"


def test_every_page_has_a_journal() -> None:
    pages = {page.stem for page in RESULTS.glob("*.md")} - {"README"}
    assert "methods" in pages
    assert pages <= set(STORE.studies())


@pytest.mark.parametrize("name", STORE.studies())
def test_journals_are_small_and_without_failures(name: str) -> None:
    assert STORE.journal(name).path.stat().st_size < 3_000_000
    assert results(name).counts()["failed"] == 0


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=RESULTS, capture_output=True, text=True, check=False)


@pytest.mark.skipif(
    git("rev-parse", "--is-shallow-repository").stdout.strip() != "false", reason="needs the repository's history"
)
@pytest.mark.parametrize("page", sorted(RESULTS.glob("*.md")), ids=lambda page: page.stem)
def test_a_page_names_commits_of_this_repository(page: Path) -> None:
    named = re.findall(r"\b[0-9a-f]{10}\b", " ".join(re.findall("^- commit: .*", page.read_text(), re.MULTILINE)))
    assert named or page.stem == "README"
    assert [commit for commit in named if git("merge-base", "--is-ancestor", commit, "HEAD").returncode] == []
