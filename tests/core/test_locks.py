"""Locks: one owner, named; nobody has to clean up after a dead one."""

import errno
import os
import subprocess
import sys

import pytest

from imgcl._core.errors import RunError
from imgcl._core.locks import locked, owned

HOLD = """
import sys, time
from imgcl._core.locks import owned
with owned(sys.argv[1], "it"):
    print("held", flush=True)
    time.sleep(60)
"""
WAIT = """
import sys
from imgcl._core.locks import locked
with locked(sys.argv[1]):
    pass
"""


@pytest.fixture
def owner(tmp_path):
    """Another process that holds the lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "lock")], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_the_owner_is_named_and_its_death_frees_the_lock(tmp_path, owner):
    with (
        pytest.raises(RunError, match=rf"runs/a is in use by process {owner.pid} on "),
        owned(tmp_path / "lock", "runs/a"),
    ):
        pass
    owner.kill()
    owner.wait()
    assert (tmp_path / "lock").exists()
    with owned(tmp_path / "lock", "runs/a"):
        assert f"process {os.getpid()} " in (tmp_path / "lock").read_text()
    assert not (tmp_path / "lock").exists()


def test_the_lock_is_free_after_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError), owned(tmp_path / "lock", "it"):
        _ = 1 / 0
    with owned(tmp_path / "lock", "it"):
        pass


def test_waiting_ends_when_the_owner_does(tmp_path, owner):
    waiting = subprocess.Popen([sys.executable, "-c", WAIT, str(tmp_path / "lock")])
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.wait(timeout=1)
    owner.kill()
    assert waiting.wait(timeout=60) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="flock")
@pytest.mark.parametrize("lock", [locked, lambda path: owned(path, "it")], ids=["locked", "owned"])
def test_a_lock_file_that_was_replaced_while_waiting_is_locked_anew(tmp_path, monkeypatch, lock):
    """Its last owner removes it: whoever waited must not believe to hold the lock of the file that is there now."""
    import fcntl

    path, seen, flock = tmp_path / "lock", [], fcntl.flock

    def replaced_once(descriptor, operation):
        flock(descriptor, operation)
        if not seen:
            path.unlink()
            path.write_text("")
        if operation & fcntl.LOCK_EX:
            seen.append(os.fstat(descriptor).st_ino)

    monkeypatch.setattr(fcntl, "flock", replaced_once)
    with lock(path):
        assert len(seen) == 2
        assert seen[1] == path.stat().st_ino


@pytest.mark.skipif(sys.platform == "win32", reason="flock")
def test_a_file_system_without_locks_is_used_without(tmp_path, monkeypatch):
    import fcntl

    refused = []

    def refuse(*arguments):
        refused.append(arguments)
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(tmp_path / "a"), owned(tmp_path / "b", "it"):
        assert len(refused) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="links")
@pytest.mark.parametrize("lock", [locked, lambda path: owned(path, "it")], ids=["locked", "owned"])
def test_a_lock_that_is_a_link_is_not_followed(tmp_path, lock):
    """A directory from somebody else could hold one: its owner's name would have replaced any file of ours."""
    victim, link = tmp_path / "victim", tmp_path / "lock"
    victim.write_text("precious")
    link.symlink_to(victim)
    with pytest.raises(OSError, match="symbolic link"), lock(link):
        pass
    assert victim.read_text() == "precious"
