"""Tests on the real graphs need to know where they are."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def real_graphs_or_skip(request: pytest.FixtureRequest) -> None:
    if "realdata" in request.keywords and not os.environ.get("IMGCL_DATA"):
        pytest.skip("IMGCL_DATA is not set: it names the directory with the real graphs")
