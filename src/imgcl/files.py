"""Writing files so that a crash at any moment leaves the old file or the new one, never half of one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path``; renamed onto it when the block ends well, removed when it does not."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    # The suffix stays last because some writers choose their format by it.
    temporary = target.with_name(f".{target.stem}.{os.getpid()}.tmp{target.suffix}")
    try:
        yield temporary
        with open(temporary, "rb+") as handle:
            os.fsync(handle.fileno())
        os.replace(temporary, target)
        sync_directory(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | Path, value: Any) -> None:
    """Write a JSON file atomically."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_array(path: str | Path, array: np.ndarray) -> None:
    """Write an ``.npy`` file atomically."""
    with atomic_path(path) as temporary, open(temporary, "wb") as handle:
        np.save(handle, array, allow_pickle=False)


def reserve(descriptor: int, size: int) -> None:
    """Claim the space of a file that will be written through a mapping, where a full disk would kill the process."""
    if hasattr(os, "posix_fallocate") and size:
        os.posix_fallocate(descriptor, 0, size)


def sync_directory(directory: Path) -> None:
    """Make a rename durable (not every platform lets a directory be opened; there the rename alone must do)."""
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
