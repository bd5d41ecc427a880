"""Graph contrastive learning that serves rare classes.

The names below are the public interface; they are loaded when first used, so that ``import imgcl`` is quick.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from imgcl._version import __version__

# torch and numba each keep a pool of OpenMP threads. By default an idle thread spins for milliseconds and takes the
# core that others wait for, which two trainings on a machine feel; one that sleeps at once wakes late. So it spins, but
# for microseconds (benchmarks/waiting.py measures the three). Read by the pools when the first of them is loaded.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")

if TYPE_CHECKING:
    from imgcl.balance import BalancedSelector, BalanceSettings
    from imgcl.data import load_graph
    from imgcl.errors import ImgclError
    from imgcl.estimator import ImGCL
    from imgcl.evaluate import evaluate
    from imgcl.graph import Graph

_HOMES = {
    "BalanceSettings": "imgcl.balance",
    "BalancedSelector": "imgcl.balance",
    "Graph": "imgcl.graph",
    "ImGCL": "imgcl.estimator",
    "ImgclError": "imgcl.errors",
    "evaluate": "imgcl.evaluate",
    "load_graph": "imgcl.data",
}

__all__ = [
    "BalanceSettings",
    "BalancedSelector",
    "Graph",
    "ImGCL",
    "ImgclError",
    "__version__",
    "evaluate",
    "load_graph",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'imgcl' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
