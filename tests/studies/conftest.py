"""Studies small enough to run whole."""

from __future__ import annotations

import pytest

from imgcl.studies import Graphs, StudySpec
from imgcl.studies.grid import expand


@pytest.fixture(scope="session")
def tiny_spec() -> StudySpec:
    """Two seeds of GBT without and with ImGCL on the embedded graph, two epochs each."""
    return StudySpec(
        name="tiny",
        datasets=("digits",),
        classifiers=("plain", "pbs"),
        settings={"epochs": 2, "dim": 8},
        seeds=2,
        splits=2,
    )


@pytest.fixture(scope="session")
def digits() -> Graphs:
    return Graphs.load(["digits"])


@pytest.fixture(scope="session")
def tiny_points(tiny_spec, digits):
    return expand(tiny_spec, digits)
