"""Freed memory is kept while a block runs, and handed back after it."""

import json
import subprocess
import sys

import pytest

from imgcl.training.hardware import reuse_freed_memory

# In a process of its own: memory that earlier tests freed would be used first, and nothing would grow.
MEASURE = """
import json
from pathlib import Path

import numpy as np

from imgcl.training.hardware import LARGEST, reuse_freed_memory


def resident_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def arrays():
    return [np.ones(LARGEST // 8 // 2) for _ in range(10)]  # 16 MB each


start, seen = resident_mb(), []


def look():
    seen.append(resident_mb() - start)


"""


def measured(code: str) -> list[float]:
    """Resident megabytes above the start, whenever the code said ``look()``."""
    program = f"{MEASURE}{code}\nprint(json.dumps(seen))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    seen: list[float] = json.loads(done.stdout)
    return seen


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_freed_arrays_stay_resident_inside_the_block_alone() -> None:
    held, kept, after = measured("""
with reuse_freed_memory():
    some = arrays()
    look()
    del some
    look()
look()
""")
    assert held > 140
    assert kept > 0.8 * held
    assert after < 0.3 * held


def test_an_error_passes_through() -> None:
    with pytest.raises(ZeroDivisionError), reuse_freed_memory():
        _ = 1 / 0


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_memory_is_kept_until_the_last_of_several_blocks_ends() -> None:
    held, kept, after = measured("""
with reuse_freed_memory():
    with reuse_freed_memory():
        some = arrays()
    look()
    del some
    look()
look()
""")
    assert held > 140
    assert kept > 0.8 * held
    assert after < 0.3 * held
