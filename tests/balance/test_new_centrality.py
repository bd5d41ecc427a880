"""The example of CONTRIBUTING: a new centrality in five lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from imgcl.balance import CENTRALITIES, BalancedSelector
from imgcl.graph import Graph

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"


def example() -> str:
    """The code under the heading "A centrality"."""
    section = CONTRIBUTING.read_text(encoding="utf-8").split("## A centrality", 1)[1]
    return section.split("```python", 1)[1].split("```", 1)[0]


@pytest.fixture
def registered() -> Iterator[None]:
    exec(example(), {})
    yield
    del CENTRALITIES["triangles"]


@pytest.mark.usefixtures("registered")
def test_the_example_works_by_name() -> None:
    bow_tie = Graph.from_edges([[0, 1, 2, 2, 3, 4], [1, 2, 0, 3, 4, 2]], x=np.eye(5))
    assert CENTRALITIES["triangles"](bow_tie, damping=0.85, seed=0).tolist() == [1, 1, 2, 1, 1]
    selector = BalancedSelector(bow_tie, n_clusters=1, epochs=1, centrality="triangles", fraction=0.2)
    assert len(selector(0, embed=lambda: torch.eye(5))) == 1
