"""Locks on files, released by the operating system when their owner dies: nobody has to clean up after a crash."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from imgcl._core.errors import RunError
from imgcl._core.processes import HOST

# Some network file systems have no locks; there, one must take care oneself.
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
LENGTH = 256  # bytes for the owner's name
POLL = 0.01  # seconds between two attempts
PATIENCE = 5 * POLL  # long enough for a lock file that its last owner is removing


@contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Hold the lock of ``path`` (a file made for it); waits until it is free."""
    lock = _acquire(path, timeout=-1)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def owned(path: str | Path, what: str) -> Iterator[None]:
    """Hold the lock of ``path``, or say at once who does; the file is gone when its owner is done.

    Args:
        path: of the lock file, which names its owner.
        what: is locked, for the message.

    Raises:
        RunError: when another process holds it; a lock that a dead process left is taken over.
    """
    target = Path(path)
    try:
        lock = _acquire(target, timeout=PATIENCE, on_acquired=_write_owner)
    except Timeout:
        raise RunError(
            f"{what} is in use by {_owner(target)}: wait until it is done, or choose another place"
        ) from None
    try:
        yield
    finally:
        with suppress(OSError):  # where an open file cannot be removed, it stays: it is only a file
            target.unlink()
        lock.release()


def _acquire(path: str | Path, *, timeout: float, on_acquired: Callable[[int], None] | None = None) -> FileLock:
    """A lock that is held, unless the file system has no locks; a symbolic link is refused, not followed."""
    lock = FileLock(path, timeout, poll_interval=POLL, fallback_to_soft=False, on_acquired=on_acquired)
    try:
        lock.acquire()
    except Timeout:
        raise
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    return lock


def _write_owner(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"process {os.getpid()} on {HOST}\n".encode()[:LENGTH])


def _owner(target: Path) -> str:
    """Who holds a lock, as far as the file says."""
    with suppress(OSError):
        if text := target.read_bytes()[:LENGTH].decode(errors="replace").strip():
            return text
    return "another process"
