"""Files with a checksum inside: every damage is found and named, ordinary readers do not mind."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imgcl._core.checksums import read_checked_array, read_checked_json, write_checked_array, write_checked_json
from imgcl._core.errors import RunError

KIND, REMEDY = "imgcl-thing-2", "make it again"


@pytest.fixture
def json_file(tmp_path):
    write_checked_json(tmp_path / "a.json", {"text": "ä", "numbers": (1, 2.5), "by number": {3: None}}, KIND)
    return tmp_path / "a.json"


def test_json_comes_back_as_json_sees_it(json_file):
    content = read_checked_json(json_file, KIND, REMEDY)
    assert content == {"text": "ä", "numbers": [1, 2.5], "by number": {"3": None}}
    assert json.loads(json_file.read_text(encoding="utf-8"))["format"] == KIND


def test_json_from_before_there_were_checksums_is_read(tmp_path):
    (tmp_path / "a.json").write_text('{"a": 1}')
    assert read_checked_json(tmp_path / "a.json", KIND, REMEDY) == {"a": 1}


@pytest.mark.parametrize("change", ["2.5 -> 2.6", '"checksum" -> "checksom"', '"format" -> "farmat"', "} -> "])
def test_a_changed_json_file_is_named_with_what_to_do(json_file, change):
    old, new = change.split(" -> ")
    json_file.write_text(json_file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(RunError, match=f"{re.escape(str(json_file))} is damaged .*: make it again"):
        read_checked_json(json_file, KIND, REMEDY)


@pytest.mark.parametrize("content", ["", "[1]", "[" * 100_000, '"text"', "\udce4"])
def test_what_is_no_json_object_is_named(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(RunError, match=r"a\.json is damaged"):
        read_checked_json(tmp_path / "a.json", KIND, REMEDY)


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [("imgcl-thing-3", "install a newer imgcl"), ("imgcl-thing-1", "make it again with this version")],
)
def test_other_formats_are_named(tmp_path, kind, remedy):
    write_checked_json(tmp_path / "a.json", {}, kind)
    with pytest.raises(RunError, match=f"has format '{kind}', this version reads 'imgcl-thing-2': {remedy}"):
        read_checked_json(tmp_path / "a.json", KIND, REMEDY)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.zeros((0, 4)),
        np.array(["ä", "b"]),
    ],
    ids=["rows", "columns", "empty", "text"],
)
def test_arrays_come_back_and_numpy_reads_them_too(tmp_path, array):
    write_checked_array(tmp_path / "a.npy", array)
    found = read_checked_array(tmp_path / "a.npy", REMEDY)
    assert found.dtype == array.dtype
    assert np.array_equal(found, array)
    assert np.array_equal(np.load(tmp_path / "a.npy"), array)


def test_an_array_without_checksum_is_read(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3))
    assert read_checked_array(tmp_path / "a.npy", REMEDY).tolist() == [0, 1, 2]


def test_a_large_array_is_mapped_after_it_was_checked(tmp_path, monkeypatch):
    monkeypatch.setattr("imgcl._core.checksums.MAPPED_FROM", 1)
    write_checked_array(tmp_path / "a.npy", np.arange(3))
    found = read_checked_array(tmp_path / "a.npy", REMEDY)
    assert isinstance(found, np.memmap)
    found[0] = 7
    assert read_checked_array(tmp_path / "a.npy", REMEDY).tolist() == [0, 1, 2]


@given(place=st.integers(0, 10_000), bit=st.integers(0, 7), cut=st.booleans())
@settings(max_examples=300)
def test_wherever_an_array_file_is_damaged_it_is_found(tmp_path_factory, place, bit, cut):
    path = tmp_path_factory.mktemp("damage") / "a.npy"
    write_checked_array(path, np.arange(20.0))
    content = bytearray(path.read_bytes())
    place %= len(content)
    end_of_array = len(content) - 42
    if cut:
        content = content[:place]
    else:
        content[place] ^= 1 << bit
    path.write_bytes(content)
    if cut and place == end_of_array:  # what is left is an ordinary, whole file
        assert read_checked_array(path, REMEDY).tolist() == np.arange(20.0).tolist()
        return
    with pytest.raises(RunError, match=r"a\.npy is damaged .*make it again"):
        read_checked_array(path, REMEDY)


def test_an_absurd_shape_is_refused_before_memory_is_asked_for(tmp_path):
    with open(tmp_path / "a.npy", "wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 10)}
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(RunError, match=r"a\.npy is damaged \(80,000,000,000,000 bytes are missing"):
        read_checked_array(tmp_path / "a.npy", REMEDY)
