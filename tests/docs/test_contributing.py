"""The examples of CONTRIBUTING add things from outside the package, as they stand. (A centrality: tests/balance.)"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import imgcl
from imgcl.cli import app
from imgcl.data.public import PUBLIC
from imgcl.evaluation import CLASSIFIERS
from imgcl.graph import Block

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"


def example(heading: str) -> dict[str, Any]:
    """The names that the Python code under a heading defines."""
    section = CONTRIBUTING.read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    names: dict[str, Any] = {"__name__": "example"}
    exec(section.split("```python", 1)[1].split("```", 1)[0], names)
    return names


@pytest.fixture
def graph() -> imgcl.Graph:
    return imgcl.load_graph("synthetic", class_sizes=[60, 30, 15], n_features=12, seed=0)


def test_a_method_is_a_class(graph: imgcl.Graph) -> None:
    model = imgcl.ImGCL(
        method=example("A method")["MyMethod"], balance="imgcl", epochs=6, settings={"dim": 8, "edge_drop": 0.2}
    )
    first, second = (model.fit(graph).embedding_ for _ in range(2))
    assert first.shape == (105, 8)
    assert np.array_equal(first, second)
    assert model.history_["labellings"]  # balanced like ours


def test_a_view_is_a_function(graph: imgcl.Graph) -> None:
    view = example("A view")["drop_half_of_the_edges"]
    block = Block.from_graph(graph)
    left = view(block, torch.Generator().manual_seed(0)).adjacency.n_entries / block.adjacency.n_entries
    assert 0.3 < left < 0.7
    model = imgcl.ImGCL(method="gbt", views=view, epochs=4, settings={"dim": 8}).fit(graph)
    assert np.isfinite(model.embedding_).all()


def test_a_classifier_is_a_function(graph: imgcl.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CLASSIFIERS, "half-balanced", CLASSIFIERS["plain"])  # so that it is gone after the test
    example("A classifier")
    names = ("plain", "half-balanced", "reweight")
    result = imgcl.evaluate(graph.x, graph.y, imbalance="exp:10", classifier=",".join(names), splits=2)
    assert set(names) <= set(result.classifiers)
    scores = [result.values(name, "balanced_accuracy") for name in names]
    assert not np.array_equal(scores[1], scores[0])
    assert not np.array_equal(scores[1], scores[2])


def test_a_data_set_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PUBLIC, "two-nodes", PUBLIC["dblp"])  # so that it is gone after the test
    example("A data set")
    adjacency = {"adj_data": [1.0], "adj_indices": [1], "adj_indptr": [0, 1, 1], "adj_shape": [2, 2]}
    np.savez(tmp_path / "two_nodes.npz", **adjacency, attr_matrix=np.eye(2), labels=[0, 1])
    assert imgcl.load_graph("two-nodes", data_dir=tmp_path).n_nodes == 2
    assert "two-nodes" in CliRunner().invoke(app, ["datasets", "--data-dir", str(tmp_path)]).output
    shown = CliRunner().invoke(app, ["info", "two-nodes", "--data-dir", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
