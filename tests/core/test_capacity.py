import pytest

from imgcl._core.capacity import check_memory
from imgcl._core.errors import InputError
from imgcl._core.npy import machine_memory, memory_limit


def test_the_machine_is_the_limit():
    check_memory("this", machine_memory(), "ask for less")
    with pytest.raises(InputError, match=r"^this needs at least .* GB of memory, there are .*: ask for less$"):
        check_memory("this", 2 * machine_memory(), "ask for less")
    assert memory_limit() == machine_memory() // 2


def test_a_container_has_less(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("3000000000\n")
    monkeypatch.setattr("imgcl._core.npy.CGROUP", tmp_path / "memory.max")
    with pytest.raises(InputError, match="needs at least 4 GB of memory, there are 3"):
        check_memory("this", 4 * 10**9, "ask for less")
