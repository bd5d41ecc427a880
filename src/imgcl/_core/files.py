"""Writing files so that a crash at any moment leaves the old file or the new one, never half of one.

Nothing is written through a symbolic link, and the hidden names of files in the making cannot be guessed: a user who
may put files into the same directory, or made it, cannot choose what is overwritten.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from imgcl._core.errors import InputError
from imgcl._core.processes import HOST, is_alive

# What a full or broken disk says: trouble of the machine, which trying something else does not cure.
DISK_TROUBLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}
REMEDIES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "free some space and start again; nothing is lost"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "get the permission, or choose another place"),
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ELOOP: "imgcl does not write through symbolic links: remove the link",
}
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
NEW_FILE = os.O_CREAT | os.O_EXCL | os.O_WRONLY | NO_FOLLOW


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """A temporary file beside ``path``; renamed onto it when the block ends well, removed when it does not.

    A file that is overwritten keeps its mode, and its owner and group where the system allows it.

    Raises:
        InputError: when ``path`` is a symbolic link.
    """
    target = Path(path)
    refuse_link(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_stale(target)
    old = _status(target)
    temporary = temporary_path(target)
    # What replaces a private file is private from its first byte; its mode comes last, for it may forbid writing.
    os.close(os.open(temporary, NEW_FILE, 0o666 if old is None else 0o600))
    try:
        yield temporary
        with open(temporary, "rb+") as handle:
            if old is not None:
                _take_over(temporary, old)
            os.fsync(handle.fileno())
        os.replace(temporary, target)
        sync_directory(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def new_directory(path: str | Path) -> Iterator[Path]:
    """A hidden directory beside ``path``; gets its name when the block ends well, is removed when it does not.

    Raises:
        InputError: when there is something at ``path`` already, other than an empty directory.
    """
    target = Path(path)
    refuse_link(target)
    _refuse_content(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_stale(target)
    folder = temporary_path(target)
    folder.mkdir()
    try:
        yield folder
        sync_directory(folder)
        _refuse_content(target)  # again, for writing took a while
        if target.is_dir():
            target.rmdir()
        os.rename(folder, target)
        sync_directory(target.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _refuse_content(path: Path) -> None:
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        what = "is not empty" if path.is_dir() else "is a file"
        raise InputError(f"{path} {what}: choose another directory, or remove it first")


def refuse_link(path: str | Path) -> None:
    """Refuse to write a file that is a symbolic link; commands that work for long ask before they begin.

    Raises:
        InputError: with the file that the link points to.
    """
    if os.path.islink(path):
        raise InputError(
            f"{path} is a symbolic link to {os.readlink(path)}: imgcl does not write through links; "
            "give that file itself, or remove the link"
        )


def open_unlinked(path: str | Path, flags: int) -> int:
    """For ``open(..., opener=)``: open or create a file, never through a symbolic link (the system says ``ELOOP``)."""
    return os.open(path, flags | NO_FOLLOW, 0o666)


def temporary_path(target: Path, kind: str = "tmp") -> Path:
    """A hidden name for what this process is making of ``target``: it says whose it is, and nobody can guess it."""
    # The suffix stays last because some writers choose their format by it.
    owner = f"{HOST}.{os.getpid()}.{secrets.token_hex(8)}"
    return target.with_name(f".{target.stem}.{owner}.{kind}{target.suffix}")


def _status(target: Path) -> os.stat_result | None:
    """What is known of the file that will be replaced."""
    try:
        return target.lstat()
    except FileNotFoundError:
        return None


def _take_over(temporary: Path, old: os.stat_result) -> None:
    """Give a new file the owner, group and mode of the one that it replaces."""
    for owner in (old.st_uid, -1) if hasattr(os, "chown") else ():
        with suppress(PermissionError):
            os.chown(temporary, owner, old.st_gid)
            break
    os.chmod(temporary, stat.S_IMODE(old.st_mode) & 0o777)


def remove_stale(target: Path) -> None:
    """Remove what processes that died left behind while they were making ``target``."""
    name = re.compile(
        rf"\.{re.escape(target.stem)}\.{re.escape(HOST)}\.(?P<owner>\d+)\.([0-9a-f]+\.)?[a-z]+{re.escape(target.suffix)}"
    )
    for path in list(target.parent.glob(".*")):
        found = name.fullmatch(path.name)
        if found is None or is_alive(int(found["owner"])):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()


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
        save_array(handle, array)


def save_array(handle: Any, array: np.ndarray) -> None:
    """Write an array's ``.npy`` bytes to anything that has ``write``."""
    # numpy writes to a file of its own kind in a way that does not say why it failed; to other things it just writes.
    np.save(_Writer(handle), array, allow_pickle=False)


class _Writer:
    def __init__(self, handle: Any) -> None:
        self.write = handle.write


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


def explain(error: OSError) -> str:
    """What the system refused, where, and what to do, in one line.

    Example:
        >>> explain(OSError(28, "No space left on device", "runs/photo"))
        'No space left on device: runs/photo: free some space and start again; nothing is lost'
    """
    remedy = REMEDIES.get(error.errno or 0)
    return ": ".join(str(part) for part in (error.strerror or error, error.filename, remedy) if part)
