import numpy as np
import pytest

from imgcl.files import atomic_path, write_array, write_json, write_text


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
