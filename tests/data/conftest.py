"""Small files in the layouts that the loaders read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp


@pytest.fixture(autouse=True)
def nothing_from_outside(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test but those marked ``realdata`` sees the machine's own data, and none its cache."""
    if "realdata" not in request.keywords:
        monkeypatch.delenv("IMGCL_DATA", raising=False)
    elif not os.environ.get("IMGCL_DATA"):
        pytest.skip("IMGCL_DATA is not set: it names the directory with the real graphs")
    monkeypatch.setenv("IMGCL_CACHE", str(tmp_path / "cache"))


def csr_parts(prefix: str, matrix: sp.csr_array) -> dict[str, np.ndarray]:
    return {
        f"{prefix}_data": matrix.data,
        f"{prefix}_indices": matrix.indices,
        f"{prefix}_indptr": matrix.indptr,
        f"{prefix}_shape": np.array(matrix.shape),
    }


@pytest.fixture
def arrays() -> dict[str, Any]:
    """0 - 1 - 2 and 3 alone, one direction stored, a self-loop; 0.5s among the features."""
    adjacency = sp.csr_array(np.array([[0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=np.float32))
    features = sp.csr_array(np.array([[0.5, 0, 0], [0, 2, 0], [0, 0, 1], [1, 1, 0]]))
    return {
        **csr_parts("adj", adjacency),
        **csr_parts("attr", features),
        "labels": np.array([0, 1, 1, 0]),
        "class_names": np.array(["cats", "dogs"]),
    }
