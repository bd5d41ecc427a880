"""The shared cache of compiled kernels."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from numba.core.caching import IndexDataCacheFile

from imgcl._core.compiled import SharedCacheFile, njit

MODULE = """
import sys
import numpy as np
from imgcl._core.compiled import njit

@njit(nogil=True)
def total(values):
    out = 0.0
    for value in values:
        out += value
    return out

kind = sys.argv[1]
print(total(np.arange(5, dtype=kind)), sum(total.stats.cache_hits.values()))
"""


def run(folder: Path, kind: str) -> tuple[float, int]:
    file = folder / "kernel.py"
    if not file.exists():
        file.write_text(MODULE)
    done = subprocess.run([sys.executable, file, kind], capture_output=True, text=True, check=True, timeout=120)
    value, hits = done.stdout.split()
    return float(value), int(hits)


def files(kind: type[IndexDataCacheFile], folder: Path) -> IndexDataCacheFile:
    return kind(str(folder), "kernel-1.py311", source_stamp=(1, 2))


def test_two_processes_that_save_different_signatures_at_once_keep_their_own_code(tmp_path, monkeypatch):
    first, second = (files(SharedCacheFile, tmp_path) for _ in range(2))
    empty = first._load_index()
    for each in (first, second):  # both have read the index before either has written it
        monkeypatch.setattr(each, "_load_index", lambda: dict(empty))
    second.save("float64", "code of float64")
    first.save("float32", "code of float32")
    reader = files(SharedCacheFile, tmp_path)
    found = {key: reader.load(key) for key in ("float32", "float64")}
    assert found["float32"] == "code of float32"
    assert found["float64"] in (None, "code of float64")  # forgotten at worst


def test_damaged_files_are_compiled_again(tmp_path):
    cache = files(SharedCacheFile, tmp_path)
    cache.save("a", "code")
    assert cache.load("a") == "code"
    (data,) = tmp_path.glob("*.nbc")
    data.write_bytes(data.read_bytes()[:5])
    assert cache.load("a") is None
    (index,) = tmp_path.glob("*.nbi")
    index.write_bytes(b"\x80\x05nonsense")
    assert cache.load("a") is None
    cache.save("a", "code again")
    assert cache.load("a") == "code again"


def test_a_cache_that_cannot_be_written_is_none(tmp_path):
    cache = files(SharedCacheFile, tmp_path / "missing")
    cache.save("a", "code")
    assert cache.load("a") is None


def test_kernels_come_from_the_cache_in_the_next_process(tmp_path):
    assert run(tmp_path, "float32") == (10.0, 0)
    assert run(tmp_path, "float32") == (10.0, 1)
    assert run(tmp_path, "int64") == (10.0, 0)
    assert run(tmp_path, "float32") == (10.0, 1)


def test_without_a_place_for_the_cache_kernels_are_compiled_each_time(monkeypatch):
    def no_locator(*_):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr("numba.core.dispatcher.FunctionCache", no_locator)
    kernel = njit()(lambda x: x + 1)
    assert kernel(np.float64(1)) == 2


def test_kernels_can_be_run_as_plain_python(tmp_path):
    """As coverage and debuggers want them."""
    file = tmp_path / "kernel.py"
    file.write_text(
        "from imgcl._core.compiled import njit\n\n@njit()\ndef one():\n    return 1\n\nprint(type(one).__name__)\n"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, file], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "function"


def test_the_kernels_of_the_package_have_the_shared_cache():
    from imgcl._core.sparse.kernels import balanced_bounds

    assert type(balanced_bounds._cache._cache_file) is SharedCacheFile
