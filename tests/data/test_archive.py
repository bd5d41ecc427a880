"""Reading arrays from damaged and hostile files."""

from __future__ import annotations

import contextlib
import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imgcl._core.errors import DataNotFoundError, GraphError
from imgcl.data.archive import Archive


class Trap:
    """Unpickling this is an error the tests would notice."""

    def __reduce__(self) -> tuple:
        return (pytest.fail, ("something was unpickled",))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    trap = np.empty((), dtype=object)
    trap[()] = Trap()
    file = tmp_path / "file.npz"
    np.savez_compressed(file, numbers=np.arange(1000), text=np.array(["a", "bc"]), trap=trap)
    return file


def npy_header(shape: str, descr: str = "<i8") -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


def write_member(path: Path, content: bytes, method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr("numbers.npy", content)
    return path


def test_reads_only_what_is_asked(path: Path) -> None:
    with Archive(path) as archive:
        np.testing.assert_array_equal(archive.read("numbers"), np.arange(1000))
        assert archive.read("text").tolist() == ["a", "bc"]
        assert archive.describe("numbers").shape == (1000,)
        assert archive.describe("numbers").dtype == np.int64
        assert not archive.is_plain("trap")
        assert not archive.is_plain("absent")


def test_never_unpickles(path: Path) -> None:
    with Archive(path) as archive, pytest.raises(GraphError, match=r"'trap' has dtype object.*pickled"):
        archive.read("trap")


def test_a_pickle_is_not_an_archive(tmp_path: Path) -> None:
    file = tmp_path / "file.npz"
    file.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(GraphError, match=r"not a readable \.npz file"):
        Archive(file)


def test_missing_file_and_missing_array(path: Path) -> None:
    with pytest.raises(DataNotFoundError, match="there is no file"):
        Archive(path.parent / "other.npz")
    with Archive(path) as archive:
        with pytest.raises(GraphError, match=r"'labels' is missing \(the file has numbers, text, trap"):
            archive.read("labels")
        with pytest.raises(GraphError, match="expected 2 dimension"):
            archive.read("numbers", ndim=2)


@pytest.mark.parametrize("shape", [(10**15,), (10**8, 10**8), (7,), (2**70, 2), (10**4000, 10**4000)])
def test_a_claimed_shape_is_checked_before_allocation(tmp_path: Path, shape: tuple[int, ...]) -> None:
    file = write_member(tmp_path / "file.npz", npy_header(str(shape)) + bytes(80))
    with Archive(file) as archive, pytest.raises(GraphError, match=r"claims shape|shape that no machine could hold"):
        archive.read("numbers")


def test_more_than_the_machine_holds_is_refused_before_allocation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("imgcl.data.archive.memory_limit", lambda: 1_000)
    np.savez(tmp_path / "file.npz", first=np.zeros(100), second=np.zeros(100))
    with Archive(tmp_path / "file.npz") as archive:
        assert len(archive.read("first")) == len(archive.read("first")) == 100  # asking again claims nothing
        with pytest.raises(
            GraphError, match=r"arrays up to 'second' take .* more than half of the memory .* imgcl import"
        ):
            archive.read("second")


def test_a_decompression_bomb_is_refused_before_allocation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imgcl.data.archive.BOMB_SIZE", 10**6)
    np.savez_compressed(tmp_path / "bomb.npz", zeros=np.zeros(10**6))
    with (
        Archive(tmp_path / "bomb.npz") as archive,
        pytest.raises(GraphError, match=r"decompression bomb.*numpy\.savez"),
    ):
        archive.read("zeros")
    np.savez(tmp_path / "meant.npz", zeros=np.zeros(10**6))
    with Archive(tmp_path / "meant.npz") as archive:
        assert len(archive.read("zeros")) == 10**6


def test_names_that_lead_out_of_the_archive_are_only_names(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "file.npz", "w") as file:
        for name in ("../outside.npy", "/absolute.npy"):
            file.writestr(name, npy_header("(10,)") + bytes(80))
    with Archive(tmp_path / "file.npz") as archive:
        assert len(archive.read("../outside")) == 10
    assert [path.name for path in tmp_path.iterdir()] == ["file.npz"]
    assert not (tmp_path.parent / "outside.npy").exists()


def test_a_lying_directory_entry_is_refused(tmp_path: Path) -> None:
    file = write_member(tmp_path / "file.npz", npy_header("(10,)") + bytes(80))
    content = bytearray(file.read_bytes())
    entry = content.rindex(b"PK\x01\x02")  # the directory's record: sizes are at 20 and 24
    content[entry + 20 : entry + 28] = (2**31).to_bytes(4, "little") * 2
    file.write_bytes(bytes(content))
    with pytest.raises(GraphError), Archive(file) as archive:
        archive.read("numbers")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not an array",
        npy_header("(-1,)"),
        npy_header("(10,)", "nonsense"),
        npy_header("__import__('os')") + bytes(80),
        b"\x93NUMPY\x09\x00" + bytes(100),
        npy_header("(10,)") + bytes(79),
        npy_header("(" + "-" * 5000 + "1,)"),  # the parser of Python runs out of stack
        npy_header("(1000000000000,)", "<U0"),  # no bytes at all, and a million million names
    ],
)
def test_malformed_arrays(tmp_path: Path, content: bytes) -> None:
    with Archive(write_member(tmp_path / "file.npz", content)) as archive, pytest.raises(GraphError, match="numbers"):
        archive.read("numbers")


def test_foreign_compression_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(10))
    file = write_member(tmp_path / "file.npz", buffer.getvalue(), zipfile.ZIP_LZMA)
    with Archive(file) as archive, pytest.raises(GraphError, match="numpy does not write"):
        archive.read("numbers")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cut=st.floats(0, 0.999))
def test_truncated_anywhere(path: Path, cut: float) -> None:
    content = path.read_bytes()
    broken = path.with_name("broken.npz")
    broken.write_bytes(content[: int(cut * len(content))])
    with pytest.raises(GraphError), Archive(broken) as archive:
        archive.read("numbers")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(place=st.integers(0, 10_000), value=st.integers(0, 255))
def test_a_changed_byte_is_harmless_or_reported(path: Path, place: int, value: int) -> None:
    content = bytearray(path.read_bytes())
    content[place % len(content)] = value
    changed = path.with_name("changed.npz")
    changed.write_bytes(bytes(content))
    with contextlib.suppress(GraphError), Archive(changed) as archive:
        np.testing.assert_array_equal(archive.read("numbers"), np.arange(1000))
