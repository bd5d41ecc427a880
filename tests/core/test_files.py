import errno
import os
import stat
import subprocess
import sys

import numpy as np
import pytest

from imgcl._core import files
from imgcl._core.errors import InputError
from imgcl._core.files import atomic_path, explain, open_unlinked, save_array, write_array, write_json, write_text
from imgcl._core.processes import HOST


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path):
    target = tmp_path / "a.txt"
    write_text(target, "old")

    def fail():
        with atomic_path(target) as temporary:
            temporary.write_text("half of the n")
            raise RuntimeError("disk on fire")

    with pytest.raises(RuntimeError, match="disk on fire"):
        fail()
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_the_file_appears_whole_and_folders_are_made(tmp_path):
    target = tmp_path / "deep" / "a.npy"
    with atomic_path(target) as temporary:
        temporary.write_bytes(b"x")
        assert not target.exists()
        assert temporary.suffix == ".npy"
    assert target.read_bytes() == b"x"
    write_array(target, np.arange(3))
    assert np.load(target).tolist() == [0, 1, 2]
    write_json(tmp_path / "a.json", {"ä": 1})
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == '{\n  "ä": 1\n}\n'


def test_what_dead_processes_left_is_removed_and_what_living_ones_make_is_not(tmp_path):
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    target, number = tmp_path / "a.json", int(dead.stdout)
    stale = target.with_name(f".a.{HOST}.{number}.tmp.json")
    named = target.with_name(f".a.{HOST}.{number}.0123456789abcdef.tmp.json")  # as names are today
    folder = target.with_name(f".a.{HOST}.{number}.0123456789abcdef.scratch.json")
    kept = [
        target.with_name(f".a.{HOST}.{os.getppid()}.tmp.json"),  # its maker lives
        target.with_name(f".a.{HOST}.{os.getppid()}.0123456789abcdef.tmp.json"),
        target.with_name(f".a.elsewhere.{number}.tmp.json"),  # of another machine: who knows
        target.with_name(f".b.{HOST}.{number}.tmp.json"),  # of another file
        target.with_name(".a.json"),  # no leftover at all
    ]
    for path in (stale, named, *kept):
        path.write_text("half")
    folder.mkdir()
    (folder / "spill").write_text("gigabytes")
    write_text(target, "whole")
    assert not stale.exists()
    assert not named.exists()
    assert not folder.exists()
    assert all(path.exists() for path in kept)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_an_error_of_the_system_says_what_where_and_what_to_do(number):
    text = explain(OSError(number, os.strerror(number), "runs/a"))
    assert text.startswith(f"{os.strerror(number)}: runs/a: ")
    assert len(text.split(": ")) == 3


def test_a_full_disk_is_an_error_with_its_number(tmp_path):
    class Full:
        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left") as caught:
        save_array(Full(), np.zeros(1000))
    assert caught.value.errno == errno.ENOSPC


def test_what_a_killed_process_leaves_is_removed_by_the_next(tmp_path):
    target = tmp_path / "a.json"
    script = "import os, sys; from imgcl._core.files import atomic_path\nwith atomic_path(sys.argv[1]): os._exit(9)"
    subprocess.run([sys.executable, "-c", script, str(target)], check=False)
    assert [path.name.count(f".{HOST}.") for path in tmp_path.iterdir()] == [1]
    write_text(target, "whole")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_temporary_names_cannot_be_guessed(tmp_path):
    names = set()
    for _ in range(20):
        with atomic_path(tmp_path / "a.json") as temporary:
            names.add(temporary.name)
    assert len(names) == 20


@pytest.mark.parametrize("planted", ["link", "file"])
def test_a_temporary_file_that_is_there_already_is_not_written(tmp_path, monkeypatch, planted):
    """Also where somebody knew the name, a file or link put there is neither followed nor taken."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    known = tmp_path / ".a.known.json"
    known.symlink_to(victim) if planted == "link" else known.write_text("planted")
    monkeypatch.setattr(files, "temporary_path", lambda target: known)
    with pytest.raises(FileExistsError):
        write_text(tmp_path / "a.json", "new")
    assert victim.read_text() == "precious"
    assert known.is_symlink() or known.read_text() == "planted"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_an_overwritten_file_keeps_its_mode(tmp_path, mode):
    target = tmp_path / "a.json"
    target.write_text("old")
    target.chmod(mode)
    with atomic_path(target) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600  # nobody else reads it meanwhile
        temporary.write_text("new")
    assert (stat.S_IMODE(target.stat().st_mode), target.read_text()) == (mode, "new")


def test_a_new_file_has_the_mode_that_the_system_gives(tmp_path):
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "a.json", "new")
    assert (tmp_path / "a.json").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("there", [True, False])
def test_nothing_is_written_through_a_link(tmp_path, there):
    victim, link = tmp_path / "victim", tmp_path / "a.json"
    if there:
        victim.write_text("precious")
    link.symlink_to(victim)
    with pytest.raises(InputError, match=r"a\.json is a symbolic link to .*victim: .*give that file itself, or remove"):
        write_text(link, "new")
    with pytest.raises(OSError, match="symbolic link") as caught, open(link, "ab", opener=open_unlinked):
        pass
    assert explain(caught.value).endswith("does not write through symbolic links: remove the link")
    assert link.is_symlink()
    assert victim.exists() == there
    assert not there or victim.read_text() == "precious"


def test_a_directory_may_be_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link" / "a.json", "new")
    assert (tmp_path / "real" / "a.json").read_text() == "new"
