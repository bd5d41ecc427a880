"""What a reader wants to know about a computation: commit, versions, command."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from imgcl._core.version import __version__


@cache
def commit() -> str:
    """The commit of a source checkout (with a + when the package was changed since), else the package's version."""
    folder = Path(__file__).resolve().parents[1]
    number = _git(folder, "rev-parse", "--short=10", "HEAD")
    if number is None:
        return f"imgcl {__version__}"
    return number + ("+" if _git(folder, "status", "--porcelain", "--", ".") else "")


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
