"""What the whole test suite shares."""

from __future__ import annotations

import os
import signal

import pytest

from imgcl.data import synthetic_graph
from imgcl.graph import Graph


def pytest_configure() -> None:
    """Ctrl-C is heard, also where the tests run in the background of a script, which ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on the real graphs need their files."""
    if os.environ.get("IMGCL_DATA"):
        return
    skip = pytest.mark.skip(reason="set IMGCL_DATA to the directory with the raw files of the real graphs")
    for item in items:
        if "realdata" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def small_graph() -> Graph:
    """Three classes of clearly different size; seconds to train on."""
    return synthetic_graph(class_sizes=[120, 50, 20], mean_degree=8, n_features=16, seed=3)
