"""Scorers as MLflow models: written without pickle, loaded by MLflow itself, with the same scores."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import imgcl
from imgcl import Graph, ImGCL, ImGCLClassifier, InputError
from imgcl.training.mlflow_model import log_model, save_model

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow announces future changes of its own


@pytest.fixture(scope="module")
def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    graph = imgcl.load_graph("synthetic", class_sizes=[60, 20], n_features=8, seed=1)
    names = [f"n{i}" for i in range(80)]
    nodes = pd.DataFrame(graph.x, columns=[f"f{i}" for i in range(8)]).assign(id=names, kind=graph.y)
    ends = graph.to_pyg().edge_index.numpy()
    return nodes, pd.DataFrame({"src": np.array(names)[ends[0]], "dst": np.array(names)[ends[1]]})


@pytest.fixture(scope="module")
def graph(frames: tuple[pd.DataFrame, pd.DataFrame]) -> Graph:
    return Graph.from_frames(*frames, features="f*", label="kind")


@pytest.fixture(scope="module")
def model(graph: Graph) -> ImGCLClassifier:
    return ImGCLClassifier(ImGCL(n_clusters=2, epochs=3, settings={"dim": 4}), classifier="plain").fit(graph)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that MLflow logs to."""
    import mlflow

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    yield tmp_path / "mlruns"
    mlflow.set_tracking_uri(None)


def test_logged_and_loaded(model, graph, frames, store, tmp_path):
    import mlflow

    expected = model.scorer_.score(graph)
    with mlflow.start_run():
        info = log_model(model, "accounts", metadata={"owner": "risk"})
    refused = pytest.MonkeyPatch()
    for name in ("load", "loads", "Unpickler"):
        refused.setattr(pickle, name, lambda *a, **k: pytest.fail("something was unpickled"))
    try:
        loaded = mlflow.pyfunc.load_model(info.model_uri)
        pd.testing.assert_frame_equal(loaded.predict(graph), expected)
    finally:
        refused.undo()
    nodes, edges = frames
    mapping = {"nodes": nodes.drop(columns="kind"), "edges": edges, "features": "f*"}
    pd.testing.assert_frame_equal(loaded.predict(mapping), expected)
    imgcl.data.store.write_store(graph, tmp_path / "g.store")
    table = pd.DataFrame({"graph": [str(tmp_path / "g.store")]})
    pd.testing.assert_frame_equal(loaded.predict(table), expected)
    with pytest.raises(InputError, match="the table of 80 rows is not a graph: give one row with the path"):
        loaded.predict(nodes)
    assert info.metadata == {"owner": "risk"}
    files = [file.name for file in store.rglob("*") if file.is_file()]
    assert "MODEL_CARD.md" in files
    assert not [name for name in files if name.endswith((".pkl", ".pickle", ".pt"))]


def test_saved_from_a_scorer_directory(model, graph, tmp_path):
    import mlflow

    model.save(tmp_path / "scorer")
    save_model(tmp_path / "scorer", tmp_path / "model")
    assert "loader_module: imgcl.training.mlflow_model" in (tmp_path / "model" / "MLmodel").read_text()
    assert f"imgcl=={imgcl.__version__}" in (tmp_path / "model" / "requirements.txt").read_text().split()
    loaded = mlflow.pyfunc.load_model(os.fspath(tmp_path / "model"))
    pd.testing.assert_frame_equal(loaded.predict(graph), model.scorer_.score(graph))


def test_what_cannot_be_logged(graph, tmp_path):
    with pytest.raises(InputError, match="is not a scorer directory: give one that"):
        save_model(tmp_path, tmp_path / "model")
    with pytest.raises(InputError, match="model is 3: give a fitted ImGCLClassifier, a GraphScorer, or a scorer"):
        save_model(3, tmp_path / "model")
    foreign = ImGCLClassifier(ImGCL(n_clusters=2, epochs=1, settings={"dim": 4}), classifier=LogisticRegression())
    with pytest.raises(InputError, match="cannot be saved without pickle"):
        save_model(foreign.fit(graph), tmp_path / "model")
