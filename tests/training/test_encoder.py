"""A trained encoder reads other graphs as it read its own: features by name, statistics of the fit."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import imgcl
from imgcl._core.errors import InputError
from imgcl.data import synthetic_graph
from imgcl.data.store import open_store, write_store
from imgcl.graph import Graph
from imgcl.methods import METHODS
from imgcl.training import RunConfig, Trainer, TrainingSettings

NAMES = tuple(f"feature {i}" for i in range(6))
SETTINGS = {"grace": {"dim": 8, "projection": 8}, "bgrl": {"dim": 8, "predictor": 8}}
ways = pytest.mark.parametrize("batch_size", [0, 32])


def named(n_nodes=60, seed=1):
    graph = synthetic_graph(n_nodes=n_nodes, n_classes=3, n_features=6, mean_degree=6, seed=seed)
    return replace(graph, feature_names=NAMES)


def two_components():
    """Two graphs side by side, whose features differ in place and scale."""
    one, two = named(40, seed=2), named(50, seed=3)
    adjacency = sp.block_diag([one.adjacency, two.adjacency], format="csr")
    return Graph.from_scipy(adjacency, np.concatenate([one.x, 5 * two.x + 20]), feature_names=NAMES)


def trained(graph, method="gbt", **training):
    settings = TrainingSettings(**{"epochs": 2, "fanout": (3,), **training})
    config = RunConfig(method=method, method_settings=SETTINGS.get(method, {"dim": 8}), training=settings, device="cpu")
    trainer = Trainer(config, graph)
    trainer.train()
    return trainer


def with_order(graph, order):
    return replace(graph, x=graph.x[:, order], feature_names=tuple(graph.feature_names[i] for i in order))


@ways
@pytest.mark.parametrize("normalise", ["none", "row", "column"])
@pytest.mark.parametrize("sparse", [False, True])
def test_features_in_another_order_are_matched_by_name(batch_size, normalise, sparse):
    graph = named()
    if sparse:
        graph = replace(graph, x=sp.csr_array(np.where(np.abs(graph.x) > 1, graph.x, 0).astype(np.float32)))
    trainer = trained(graph, batch_size=batch_size, normalise=normalise)
    order = np.array([3, 0, 5, 1, 4, 2])
    np.testing.assert_allclose(trainer.embed(with_order(graph, order)), trainer.embed(graph), rtol=1e-4, atol=1e-6)


def test_features_of_a_store_are_matched_by_name(tmp_path):
    graph = named()
    trainer = trained(open_store(write_store(graph, tmp_path / "one.store")), batch_size=32)
    other = open_store(write_store(with_order(graph, np.arange(6)[::-1]), tmp_path / "two.store"))
    np.testing.assert_allclose(trainer.embed(other), trainer.embed(graph), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("other", *NAMES[1:]), r"'feature 0' is missing, 'other' is unknown$"),
        (("a", "b", "c", "d", "e", "f"), r"'feature 4' and 1 more are missing, 'a', 'b', 'c', 'd', 'e' and 1 more are"),
        (NAMES[:5], r"'feature 5' is missing$"),
        ((*NAMES, "more"), r"'more' is unknown$"),
    ],
)
def test_other_features_are_refused_by_name(names, message):
    graph = named()
    x = np.resize(graph.x, (graph.n_nodes, len(names)))
    with pytest.raises(InputError, match="other features than the encoder was trained on: .*" + message):
        trained(graph).embed(replace(graph, x=x, feature_names=names))


def test_names_used_twice_do_not_say_which_feature_is_which():
    graph = replace(named(), feature_names=("a", "a", "b", "c", "d", "e"))
    trainer = trained(graph)
    assert np.array_equal(trainer.embed(graph), trainer.embed())
    with pytest.raises(InputError, match="'a' is used more than once: give every feature a name of its own"):
        trainer.embed(with_order(graph, np.array([2, 0, 1, 3, 4, 5])))


def test_without_names_on_both_sides_only_the_width_is_checked():
    graph = named()
    plain = replace(graph, feature_names=None)
    for one, other in ((graph, plain), (plain, graph)):
        trainer = trained(one)
        assert np.array_equal(trainer.embed(other), trainer.embed())
    with pytest.raises(InputError, match="the graph has 5 features, the encoder was trained on 6"):
        trainer.embed(replace(plain, x=plain.x[:, :5]))


@ways
@pytest.mark.parametrize("method", METHODS)
def test_a_component_alone_is_embedded_as_within_its_graph(method, batch_size):
    whole = two_components()
    trainer = trained(whole, method, normalise="column", batch_size=batch_size)
    expected = trainer.embed()
    for nodes in (np.arange(40), np.arange(40, 90)):
        np.testing.assert_allclose(trainer.embed(whole.subgraph(nodes)), expected[nodes], rtol=1e-3, atol=1e-4)


def test_statistics_of_the_fit_serve_graphs_of_any_size():
    graph = named()
    whole = trained(graph, normalise="column", batch_size=0)
    batches = whole.encoder
    small = replace(batches, training=batches.training.model_copy(update={"batch_size": 16}))
    part = graph.subgraph(np.arange(20))
    np.testing.assert_allclose(small.embed(part), batches.embed(part), rtol=1e-3, atol=1e-4)


def test_one_node_is_embedded_by_the_statistics_of_the_fit():
    graph = named()
    assert np.isfinite(trained(graph, normalise="column").embed(graph.subgraph([3]))).all()


def test_a_feature_that_does_not_vary_in_the_training_graph_may_vary_elsewhere():
    graph = named()
    constant = np.array(graph.x)
    constant[:, 2] = 0.1
    trainer = trained(replace(graph, x=constant), normalise="column", batch_size=16)
    assert np.abs(trainer.embed(graph)).max() < 1e3


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize(("trained", "given"), [("in", "both"), ("both", "out"), ("in", "out"), ("out", "mutual")])
def test_edges_that_pass_features_another_way_are_refused(tmp_path, trained, given, saved):
    edges, x = np.array([[0, 1, 2, 2, 3], [1, 2, 0, 1, 2]]), np.eye(4)
    graphs = {way: imgcl.Graph.from_edges(edges, x=x, directed_as=way) for way in ("in", "out", "both", "mutual")}
    model = imgcl.ImGCL(epochs=2, settings={"dim": 2}).fit(graphs[trained])
    if saved:
        model.save(tmp_path / "run")
        model = imgcl.ImGCL.load(tmp_path / "run")
    assert model.transform(graphs[trained]).shape == (4, 2)
    with pytest.raises(imgcl.InputError, match="directed_as"):
        model.transform(graphs[given])
    with pytest.raises(imgcl.InputError, match="directed_as"):
        model.transform_blocks(graphs[given])


def test_mutual_edges_pass_features_both_ways():
    edges, x = np.array([[0, 1, 1, 2], [1, 0, 2, 3]]), np.eye(4)
    model = imgcl.ImGCL(epochs=2, settings={"dim": 2}).fit(imgcl.Graph.from_edges(edges, x=x))
    assert model.transform(imgcl.Graph.from_edges(edges, x=x, directed_as="mutual")).shape == (4, 2)
