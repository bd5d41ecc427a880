"""Records of computed cells: result or error, how long it took, and which code computed it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from imgcl._core.version import __version__

Record = dict[str, Any]


def timed(work: Callable[[], dict[str, Any]]) -> Record:
    """A record of a result and how long it took."""
    start = time.monotonic()
    result = work()
    seconds = round(time.monotonic() - start, 3)
    return {"status": "done", "seconds": seconds, "commit": commit(), "result": result}


def failure(error: BaseException, seconds: float = 0.0) -> Record:
    """A record of a cell that could not be computed."""
    message = " ".join(str(error).split()) or type(error).__name__
    facts = {"error": type(error).__name__, "message": message[:500]}
    return {"status": "failed", "seconds": round(seconds, 3), "commit": commit(), **facts}


@cache
def commit() -> str:
    """The commit of a source checkout (with a + when library or lab were changed since), else the version."""
    checkout = Path(__file__).resolve().parents[3]
    number = _git(checkout, "rev-parse", "--short=10", "HEAD") if (checkout / ".git").exists() else None
    if number is None:
        return f"imgcl {__version__}"
    return number + ("+" if _git(checkout, "status", "--porcelain", "--", "src", "lab/src") else "")


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
