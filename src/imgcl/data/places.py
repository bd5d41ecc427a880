"""Where raw files are looked for, and where downloads go."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

DATA_VARIABLE = "IMGCL_DATA"
CACHE_VARIABLE = "IMGCL_CACHE"


def find_data_dir(data_dir: str | Path | None = None) -> Path | None:
    """The directory of raw files: the argument, else the environment variable ``IMGCL_DATA``, else none."""
    given = data_dir or os.environ.get(DATA_VARIABLE)
    return Path(given).expanduser() if given else None


def find_cache_dir(cache_dir: str | Path | None = None) -> Path:
    """The directory of downloads: the argument, else ``IMGCL_CACHE``, else the platform's cache directory."""
    given = cache_dir or os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "imgcl"


def first_file(directory: Path | None, names: Iterable[str]) -> Path | None:
    """The first of ``names`` that is a file in ``directory``."""
    if directory is None:
        return None
    return next((directory / name for name in names if (directory / name).is_file()), None)
