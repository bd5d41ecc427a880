"""Which code computed a cell."""

import subprocess

import pytest

from imgcl import __version__
from imgcl.studies import records


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository with library, lab and documentation, and the function that names its commit."""
    for name in ("src/imgcl/studies/records.py", "lab/src/imgcl_lab/main.py", "docs/index.md"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("")
    monkeypatch.setattr(records, "__file__", str(tmp_path / "src/imgcl/studies/records.py"))
    return tmp_path


def commit_all(folder):
    author = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    for arguments in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)


@pytest.mark.parametrize(
    ("changed", "mark"),
    [(None, ""), ("docs/index.md", ""), ("src/imgcl/new.py", "+"), ("lab/src/imgcl_lab/main.py", "+")],
)
def test_a_checkout_gives_its_commit_and_whether_library_or_lab_were_changed(checkout, changed, mark):
    commit_all(checkout)
    if changed is not None:
        (checkout / changed).write_text("# changed")
    found = records.commit.__wrapped__()
    assert found[10:] == mark
    assert int(found[:10], 16)


def test_an_installed_package_gives_its_version_even_inside_another_repository(checkout):
    commit_all(checkout)
    (checkout / ".git").rename(checkout / "src" / ".git")
    assert records.commit.__wrapped__() == f"imgcl {__version__}"
