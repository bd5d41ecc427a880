"""Locks on files, released by the operating system when their owner dies: nobody has to clean up after a crash."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from imgcl._core.errors import RunError
from imgcl._core.files import open_unlinked
from imgcl._core.processes import HOST

# Some network file systems have no locks; there, one must take care oneself.
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
LENGTH = 256  # bytes for the owner's name


@contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Hold the lock of ``path`` (a file made for it); waits until it is free."""
    target = Path(path)
    descriptor = _acquire(target, wait=True)
    assert descriptor is not None
    try:
        yield
    finally:
        os.close(descriptor)


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
    descriptor = _acquire(target, wait=False)
    if descriptor is None:
        raise RunError(f"{what} is in use by {_owner(target)}: wait until it is done, or choose another place")
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {HOST}\n".encode()[:LENGTH], 0)
        yield
    finally:
        with suppress(OSError):  # where an open file cannot be removed, it stays: it is only a file
            target.unlink()
        os.close(descriptor)


def _acquire(target: Path, *, wait: bool) -> int | None:
    """An open descriptor that holds the lock; ``None`` when somebody else does."""
    target.parent.mkdir(parents=True, exist_ok=True)
    while True:
        descriptor = open_unlinked(target, os.O_RDWR | os.O_CREAT)
        try:
            taken = _lock(descriptor, wait=wait)
        except BaseException:
            os.close(descriptor)
            raise
        if not taken:
            os.close(descriptor)
            return None
        # The last owner may have removed the file while we waited: then somebody else may hold its successor.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(target)):
                return descriptor
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if not wait and error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        if error.errno not in NO_LOCKS:
            raise
    return True


def _owner(target: Path) -> str:
    """Who holds a lock, as far as the file says."""
    with suppress(OSError):
        if text := target.read_bytes()[:LENGTH].decode(errors="replace").strip():
            return text
    return "another process"
