"""Freed memory is kept while a block runs, and handed back after it."""

import sys
from pathlib import Path

import numpy as np
import pytest

from imgcl.training.hardware import LARGEST, reuse_freed_memory


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_freed_arrays_stay_resident_inside_the_block_alone() -> None:
    before = resident_mb()
    with reuse_freed_memory():
        arrays = [np.ones(LARGEST // 8 // 2) for _ in range(10)]  # 16 MB each
        held = resident_mb() - before
        del arrays
        kept = resident_mb() - before
    after = resident_mb() - before
    assert held > 140
    assert kept > 0.8 * held
    assert after < 0.3 * held


def test_an_error_passes_through() -> None:
    with pytest.raises(ZeroDivisionError), reuse_freed_memory():
        _ = 1 / 0


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_memory_is_kept_until_the_last_of_several_blocks_ends() -> None:
    before = resident_mb()
    with reuse_freed_memory():
        with reuse_freed_memory():
            arrays = [np.ones(LARGEST // 8 // 2) for _ in range(10)]
        held = resident_mb() - before
        del arrays
        assert resident_mb() - before > 0.8 * held
    assert resident_mb() - before < 0.3 * held
