"""Numba's pool and torch share OpenMP: starting the one leaves the other as it was."""

import os
import subprocess
import sys

CODE = """
import numpy as np
import torch
from numba import prange
from imgcl._core.sparse.threads import _pool, threaded

@threaded()
def add(x, n_threads):
    for i in prange(len(x)):
        x[i] += 1

x = np.zeros(100)
assert _pool() is None
for _ in range(3):
    add(x, 2)
assert _pool() is not None
assert (x == 3).all()
print(torch.get_num_threads())
"""


def test_the_first_parallel_kernel_leaves_torchs_threads_alone():
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=300)
    assert (done.stdout.strip(), done.stderr) == ("1", "")
