import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from imgcl._core.errors import RunError
from imgcl.training.checkpoint import UNCHECKED, Checkpoint, pack, unpack


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
    save_file({"a": torch.zeros(1)}, tmp_path / "c.safetensors")
    with pytest.raises(RunError, match="has format 'none'"):
        Checkpoint.load(tmp_path / "c.safetensors")


def test_missing_file_says_so(tmp_path):
    with pytest.raises(RunError, match="does not exist"):
        Checkpoint.load(tmp_path / "c.safetensors")


@given(place=st.integers(0, 10**6), bit=st.integers(0, 7))
@settings(max_examples=300)
def test_whichever_bit_flips_it_is_found(tmp_path_factory, place, bit):
    path = tmp_path_factory.mktemp("flip") / "c.safetensors"
    Checkpoint({"a": torch.arange(30.0), "b": torch.tensor(1)}, {"epoch": 3, "losses": [0.5]}).save(path)
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 1 << bit
    path.write_bytes(content)
    with pytest.raises(RunError, match=r"c\.safetensors (is damaged|has format)"):
        Checkpoint.load(path)


def test_a_checkpoint_from_before_there_were_checksums_is_read(tmp_path):
    save_file({"a": torch.ones(2)}, tmp_path / "c", metadata={"format": UNCHECKED, "values": '{"epoch": 3}'})
    assert Checkpoint.load(tmp_path / "c").values == {"epoch": 3}


def test_a_newer_checkpoint_is_named(tmp_path):
    save_file({"a": torch.ones(2)}, tmp_path / "c", metadata={"format": "imgcl-checkpoint-3", "values": "{}"})
    with pytest.raises(RunError, match=r"has format 'imgcl-checkpoint-3', .*: install a newer imgcl"):
        Checkpoint.load(tmp_path / "c")


def test_what_is_not_finite_is_named():
    good = {"method/w": torch.ones(2), "selector/x": torch.tensor([float("inf")])}
    assert Checkpoint(good, {}).not_finite() is None
    assert Checkpoint({**good, "method/v": torch.tensor([float("nan")])}, {}).not_finite() == "method/v"
