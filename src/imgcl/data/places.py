"""Where raw files are looked for, and where downloads go."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from platformdirs import user_cache_path

DATA_VARIABLE = "IMGCL_DATA"
CACHE_VARIABLE = "IMGCL_CACHE"


def find_data_dir(data_dir: str | Path | None = None) -> Path | None:
    """The directory of raw files: the argument, else the environment variable ``IMGCL_DATA``, else none."""
    given = data_dir or os.environ.get(DATA_VARIABLE)
    return Path(given).expanduser() if given else None


def find_cache_dir(cache_dir: str | Path | None = None) -> Path:
    """The directory of downloads: the argument, else ``IMGCL_CACHE``, else the platform's cache directory."""
    given = cache_dir or os.environ.get(CACHE_VARIABLE)
    return Path(given).expanduser() if given else user_cache_path("imgcl", appauthor=False, opinion=False)


def first_file(directory: Path | None, names: Iterable[str]) -> Path | None:
    """The first of ``names`` that is a file in ``directory``."""
    if directory is None:
        return None
    return next((directory / name for name in names if (directory / name).is_file()), None)
