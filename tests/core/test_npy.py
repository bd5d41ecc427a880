"""Headers that lie are refused before memory is given to them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from imgcl._core import npy
from imgcl._core.npy import map_array, memory_limit, read_header


def header(shape: str, kind: str = "'<i8'") -> bytes:
    text = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header("(-1,)"), "negative shape"),
        (header("(4611686018427387904, 4)"), "no machine could hold"),
        (header(f"({10**4000}, {10**4000})"), "no machine could hold"),
        (header("(1000000000000,)", "'<U0'"), "no size"),
        (header("(" + "-" * 5000 + "1,)"), "."),
        (header("(" * 300), "."),
        (header("(1,)", "['a', 1, {}]"), "."),
        (b"\x93NUMPY\x01\x00\xff", "."),
        (b"\x93NUMPY\x09\x00", "unknown .npy version"),
        (b"", "."),
    ],
)
def test_a_bad_header_is_a_value_error(content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read_header(io.BytesIO(content))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "array", [np.arange(6).reshape(2, 3), np.zeros((2, 0)), np.asfortranarray(np.eye(3)), np.array(7)]
)
def test_a_mapped_array_is_the_array(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "a.npy", array)
    mapped = map_array(tmp_path / "a.npy")
    np.testing.assert_array_equal(mapped, array)
    assert mapped.dtype == array.dtype
    assert mapped.flags.f_contiguous == array.flags.f_contiguous


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header("(3,)") + bytes(23), "24 bytes claimed .* 23 there"),
        (header("(3,)") + bytes(25), "24 bytes claimed .* 25 there"),
        (header("(3,)", "'|O'") + bytes(24), "pickled objects"),
        (header("(3,)", "[('a', '<i8')]") + bytes(24), "records"),
    ],
)
def test_a_file_of_another_length_or_kind_is_not_mapped(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        map_array(tmp_path / "a.npy")


def test_the_memory_limit_is_half_of_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npy, "CGROUP", tmp_path / "memory.max")
    whole = memory_limit()
    (tmp_path / "memory.max").write_text("max\n")
    assert memory_limit() == whole
    (tmp_path / "memory.max").write_text("1000000\n")
    assert memory_limit() == 500_000
