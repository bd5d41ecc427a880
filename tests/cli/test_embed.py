"""``imgcl embed --graph``: a new graph by the encoder of a run."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import imgcl
from imgcl.cli import app
from imgcl.data import synthetic_graph
from imgcl.data.store import write_store

FEATURES = tuple(f"feature {i}" for i in range(6))


def graph_of(n_nodes, seed, order=range(6)):
    graph = synthetic_graph(n_nodes=n_nodes, n_classes=3, n_features=6, mean_degree=6, seed=seed)
    order = list(order)
    names = tuple(f"node {i}" for i in range(n_nodes))
    return replace(graph, x=graph.x[:, order], feature_names=tuple(FEATURES[i] for i in order), node_names=names)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("embed")
    fitted = imgcl.ImGCL(epochs=3, settings={"dim": 8, "normalise": "column"}, device="cpu").fit(graph_of(60, 1))
    fitted.save(folder / "run")
    return fitted, folder / "run"


def embed(run, graph, file, *more):
    arguments = ["embed", run, "--graph", graph, "--out", file, *more]
    return CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=True)


def test_a_new_graph_is_embedded_with_its_own_names(model, tmp_path):
    fitted, run = model
    new = graph_of(40, 2, order=[5, 3, 1, 0, 2, 4])
    write_store(new, tmp_path / "new.store")
    done = embed(run, tmp_path / "new.store", tmp_path / "deep" / "z.csv", "--device", "cpu")
    assert done.exit_code == 0, done.exception
    frame = pd.read_csv(tmp_path / "deep" / "z.csv")
    assert frame["node"].tolist() == list(new.node_names)
    expected = fitted.transform_blocks(new)
    assert list(expected) == ["learned", "own", "neighbours"]
    np.testing.assert_allclose(frame.drop(columns="node"), np.hstack(list(expected.values())), rtol=1e-5, atol=1e-6)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["z.csv"]


def test_a_store_in_mini_batches(model, tmp_path):
    new = graph_of(40, 2)
    batches = imgcl.ImGCL(epochs=3, settings={"dim": 8, "batch_size": 16}, device="cpu").fit(graph_of(60, 1))
    batches.save(tmp_path / "run")
    write_store(new, tmp_path / "new.store")
    assert embed(tmp_path / "run", tmp_path / "new.store", tmp_path / "z.npy").exit_code == 0
    np.testing.assert_allclose(np.load(tmp_path / "z.npy"), batches.transform(new), rtol=1e-5, atol=1e-6)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.store", "run", "z.npy"]


def test_other_features_are_refused_by_name(model, tmp_path):
    new = replace(graph_of(40, 2), feature_names=(*FEATURES[:5], "weight"))
    write_store(new, tmp_path / "new.store")
    done = embed(model[1], tmp_path / "new.store", tmp_path / "z.npy")
    assert isinstance(done.exception, imgcl.InputError)
    assert "'feature 5' is missing, 'weight' is unknown" in str(done.exception)
    assert not (tmp_path / "z.npy").exists()


def test_options_of_another_graph_need_one(model, tmp_path):
    done = CliRunner().invoke(app, ["embed", str(model[1]), "--out", str(tmp_path / "z.npy"), "--device", "cpu"])
    assert "give it with --graph" in str(done.exception)
