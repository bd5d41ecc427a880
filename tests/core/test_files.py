import errno
import os
import subprocess
import sys

import numpy as np
import pytest

from imgcl._core.files import atomic_path, explain, save_array, write_array, write_json, write_text
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
    folder = target.with_name(f".a.{HOST}.{number}.scratch.json")
    kept = [
        target.with_name(f".a.{HOST}.{os.getppid()}.tmp.json"),  # its maker lives
        target.with_name(f".a.elsewhere.{number}.tmp.json"),  # of another machine: who knows
        target.with_name(f".b.{HOST}.{number}.tmp.json"),  # of another file
        target.with_name(".a.json"),  # no leftover at all
    ]
    for path in (stale, *kept):
        path.write_text("half")
    folder.mkdir()
    (folder / "spill").write_text("gigabytes")
    write_text(target, "whole")
    assert not stale.exists()
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
