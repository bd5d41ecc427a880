import numpy as np
import pytest
import torch

from imgcl.errors import RunError
from imgcl.train.checkpoint import Checkpoint, pack, unpack


def test_round_trip_of_tensors_arrays_and_values(tmp_path):
    tensors, values = {}, {}
    pack("part", {"w": torch.arange(3.0), "a": np.array([1, 2]), "n": 5, "none": None}, tensors, values)
    Checkpoint(tensors, values).save(tmp_path / "c.safetensors")
    part = unpack("part", Checkpoint.load(tmp_path / "c.safetensors"))
    assert part["w"].tolist() == [0, 1, 2]
    assert part["a"].tolist() == [1, 2]
    assert part["n"] == 5
    assert part["none"] is None


def test_shared_memory_is_stored_as_separate_tensors(tmp_path):
    base = torch.arange(4.0)
    Checkpoint({"a": base, "b": base[:2]}, {}).save(tmp_path / "c.safetensors")
    assert Checkpoint.load(tmp_path / "c.safetensors").tensors["b"].tolist() == [0, 1]


@pytest.mark.parametrize("keep", [0, 7, 60])
def test_truncated_file_is_named(tmp_path, keep):
    path = tmp_path / "c.safetensors"
    Checkpoint({"a": torch.arange(100.0)}, {}).save(path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(RunError, match=r"c\.safetensors is damaged"):
        Checkpoint.load(path)


def test_foreign_safetensors_file_is_refused(tmp_path):
    from safetensors.torch import save_file

    save_file({"a": torch.zeros(1)}, tmp_path / "c.safetensors")
    with pytest.raises(RunError, match="has format 'none'"):
        Checkpoint.load(tmp_path / "c.safetensors")


def test_missing_file_says_so(tmp_path):
    with pytest.raises(RunError, match="does not exist"):
        Checkpoint.load(tmp_path / "c.safetensors")
