"""torch and numba bring an OpenMP library each, and share the threads of one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os
import {first}
import torch
import numpy as np
from imgcl._core.sparse.threads import threaded

@threaded()
def double(x, threads):
    for i in range(len(x)):
        x[i] *= 2

def tasks():
    return len(os.listdir("/proc/self/task"))

torch.set_num_threads(2)
rows = torch.randn(3_000_000)
torch.exp(rows)
alone = tasks()
double(np.ones(1000), 2)
torch.exp(rows)
print(tasks() - alone, torch.get_num_threads())
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
@pytest.mark.parametrize("first", ["torch", "numba"])
def test_numba_adds_no_pool_to_that_of_torch(first):
    surroundings = {**os.environ, "OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(first=first)],
        env=surroundings,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["0", "2"]
