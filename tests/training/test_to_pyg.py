"""``to_pyg``: the same embeddings from torch_geometric's layers, for every method and encoder."""

import copy
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.export import Dim, export
from torch_geometric.nn import GCNConv, MessagePassing, SAGEConv

import imgcl
from imgcl import Graph, InputError
from imgcl._core.sparse import ColumnStatistics
from imgcl.encoders import ENCODERS, GAT, GCN, GIN, GraphSAGE
from imgcl.encoders.as_pyg import PyGEncoder
from imgcl.graph.block import Block
from imgcl.methods import METHODS, Method, resolve_method
from imgcl.training import Run
from imgcl.training.encoder import TrainedEncoder
from imgcl.training.settings import TrainingSettings

N, F = 40, 6


def random_graph(seed: int, *, sparse: bool = False) -> Graph:
    rng = np.random.default_rng(seed)
    x: Any = rng.normal(size=(N, F)) * [1, 5, 0.1, 1, 1, 0] + 1  # one feature does not vary
    if sparse:
        x = sp.csr_array(np.where(rng.random((N, F)) < 0.4, rng.random((N, F)), 0))
    return Graph.from_edges(rng.integers(0, N - 2, size=(2, 90)), x=x)  # the last two nodes are isolated


def shake(module: nn.Module, seed: int = 0) -> None:
    """Weights, slopes, biases and moments that no layer begins with."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in (*module.named_parameters(), *module.named_buffers()):
            if value.dtype.is_floating_point:
                noise = torch.rand(value.shape, generator=generator) - 0.5
                value.copy_(noise.abs() + 0.5 if "running_var" in name else noise)


def trained(method: str, graph: Graph, normalise: str = "none", **settings: Any) -> TrainedEncoder:
    """An encoder as after a training, with random weights."""
    kind = resolve_method(method)
    made = kind(graph.n_features, kind.Settings(**settings)).eval()
    shake(made)
    statistics = ColumnStatistics.of(graph.x) if normalise == "column" else None
    return TrainedEncoder(made, TrainingSettings(normalise=normalise), 0, torch.device("cpu"), statistics=statistics)


def assert_same(encoder: TrainedEncoder, graph: Graph) -> None:
    data, module = graph.to_pyg(), encoder.to_pyg()
    assert not module.training
    with torch.no_grad():
        rows = module(data.x, data.edge_index).numpy()
    np.testing.assert_allclose(rows, encoder.embed(graph), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_with_every_encoder(method: str, encoder: str) -> None:
    graph = random_graph(1)
    model = trained(method, graph, encoder=encoder, dim=8)
    if method == "mvgrl" and encoder != "gcn":
        with pytest.raises(InputError, match="take no edge weights, which a diffusion has: to_pyg needs encoder='gcn'"):
            model.to_pyg()
        return
    assert_same(model, graph)
    convolutions = [each for each in model.to_pyg().modules() if isinstance(each, MessagePassing)]
    assert len(convolutions) >= model.method.settings.layers


@pytest.mark.parametrize("normalise", ["none", "row", "column"])
@pytest.mark.parametrize("sparse", [False, True])
def test_raw_features_go_in(normalise: str, sparse: bool) -> None:
    graph = random_graph(2, sparse=sparse)
    model = trained("gbt", graph, normalise, dim=8)
    assert_same(model, graph)
    if not sparse:
        assert_same(model, random_graph(3))  # by the statistics of the training graph


@pytest.mark.parametrize("activation", ["none", "relu", "prelu", "elu", "rrelu", "selu"])
@pytest.mark.parametrize("norm", ["none", "batch", "layer"])
def test_norms_and_activations(norm: str, activation: str) -> None:
    model = trained("grace", random_graph(4), dim=4, norm=norm, activation=activation, dropout=0.5)
    assert_same(model, random_graph(4))


@pytest.mark.parametrize(
    "encoder",
    [
        GCN(F, [8, 4, 4], residual=True, jumping="cat", norm="batch", norm_first=False),
        GraphSAGE(F, [4, 4], residual=True, finish=False),
        GIN(F, [8, 4], eps=0.3, learn_eps=True, jumping="cat"),
        GIN(F, [4], eps=0.7),
        GAT(F, [8, 4], heads=2, slope=0.1),
    ],
)
def test_settings_of_encoders(encoder: nn.Module) -> None:
    graph = random_graph(5)
    shake(encoder)
    data = graph.to_pyg()
    expected = encoder.eval()([Block.from_graph(graph)])[0]
    assert torch.allclose(PyGEncoder([(encoder, None)]).eval()(data.x, data.edge_index), expected, atol=1e-5)


class OwnSAGE(nn.Module):
    """A module that takes no weights."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = SAGEConv(F, 4)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.convolution(x, edge_index)


class OwnGCN(nn.Module):
    """A module whose weights are not its third argument."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = GCNConv(F, 4)

    def forward(self, x: Tensor, edge_index: Tensor, scale: float = 2.0, edge_weight: Tensor | None = None) -> Tensor:
        return scale * self.convolution(x, edge_index, edge_weight)


@pytest.mark.parametrize(
    "parameters", [{}, {"method": "mvgrl"}, {"encoder": OwnSAGE()}, {"encoder": OwnGCN()}, {"encoder": nn.Linear(F, 4)}]
)
def test_weighted_graphs(parameters: dict[str, Any]) -> None:
    plain = random_graph(8)
    weights = np.random.default_rng(8).random(len(plain.indices)) + 0.2
    edges = np.stack([np.repeat(np.arange(N), plain.degree), plain.indices])
    graph = Graph.from_edges(edges, x=plain.x, edge_weight=weights)
    model = imgcl.ImGCL(epochs=2, random_state=0, **parameters).fit(graph)
    data = graph.to_pyg()
    rows = model.to_pyg()(data.x, data.edge_index, data.edge_weight).detach().numpy()
    np.testing.assert_allclose(rows, model.transform(graph), atol=1e-5, rtol=1e-4)


def test_the_module_is_free_of_the_encoder() -> None:
    graph = random_graph(6)
    model = trained("gbt", graph, dim=4, dropout=0.5)
    before, state = model.embed(graph), torch.get_rng_state()
    module = model.to_pyg().train()
    assert torch.equal(torch.get_rng_state(), state)  # torch_geometric's own weights were not drawn from it
    data = graph.to_pyg()
    module(data.x, data.edge_index).square().sum().backward()
    assert all(parameter.grad is not None for parameter in module.parameters())
    shake(module)
    np.testing.assert_array_equal(model.embed(graph), before)


def test_state_dict_round_trip() -> None:
    graph = random_graph(7)
    module, stream = trained("dgi", graph, "column", dim=4).to_pyg(), io.BytesIO()
    torch.save(module.state_dict(), stream)
    stream.seek(0)
    other = copy.deepcopy(module)
    shake(other)
    other.load_state_dict(torch.load(stream, weights_only=True))
    data = graph.to_pyg()
    assert torch.equal(other(data.x, data.edge_index), module(data.x, data.edge_index))


def test_edge_weights() -> None:
    graph = random_graph(8)
    data = graph.to_pyg()
    ones = torch.ones(data.edge_index.shape[1])
    module = trained("gbt", graph, dim=4).to_pyg()
    assert torch.allclose(module(data.x, data.edge_index, ones), module(data.x, data.edge_index))
    with pytest.raises(InputError, match="take no edge weights, and without them the rows are not those of transform"):
        trained("gbt", graph, dim=4, encoder="sage").to_pyg()(data.x, data.edge_index, ones)


def test_modules_of_users() -> None:
    graph = random_graph(9)
    for encoder in (GCNConv(F, 3), nn.Linear(F, 3)):
        assert_same(trained("gbt", graph, "row", encoder=encoder), graph)


class OwnWay(Method):  # type: ignore[type-arg]
    def __init__(self, n_features: int, settings: Any) -> None:
        super().__init__(n_features, settings)
        self.encoder = GCN(n_features, [4])

    def embed(self, block: Block) -> Tensor:
        return 2 * self.encoder([block])[0]


def test_a_method_that_embeds_in_a_way_of_its_own() -> None:
    made = OwnWay(F, OwnWay.Settings())
    with pytest.raises(InputError, match="OwnWay embeds nodes in a way of its own"):
        TrainedEncoder(made, TrainingSettings(), 0, torch.device("cpu")).to_pyg()


def test_an_estimator_and_its_run(tmp_path: Path) -> None:
    graph = imgcl.load_graph("synthetic", class_sizes=[60, 20], seed=1)
    model = imgcl.ImGCL(n_clusters=2, epochs=3, settings={"dim": 8, "normalise": "column"}).fit(graph)
    model.save(tmp_path / "run")
    data = graph.to_pyg()
    for module in (model.to_pyg(), Run(tmp_path / "run").to_pyg(), imgcl.ImGCL.load(tmp_path / "run").to_pyg()):
        with torch.no_grad():
            np.testing.assert_allclose(module(data.x, data.edge_index).numpy(), model.embedding_, atol=1e-5)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.filterwarnings("ignore")  # of torch.export itself
def test_export_to_a_program_for_graphs_of_any_size(encoder: str) -> None:
    graph = random_graph(10)
    module, data = trained("gbt", graph, "column", encoder=encoder, dim=4).to_pyg(), graph.to_pyg()
    shapes = {"x": {0: Dim("nodes")}, "edge_index": {1: Dim("edges")}}
    program = export(module, (data.x, data.edge_index), dynamic_shapes=shapes)
    other = random_graph(11).subgraph(np.arange(17)).to_pyg()
    with torch.no_grad():
        expected = module(other.x, other.edge_index)
        assert torch.allclose(program.module()(other.x, other.edge_index), expected, atol=1e-5)


ALONE = """
import sys
sys.modules["imgcl"] = sys.modules["torch_geometric"] = None
import torch
program = torch.export.load(sys.argv[1]).module()
print(float(program(torch.ones(3, {features}), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])).sum()))
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_an_exported_program_needs_torch_alone(tmp_path: Path) -> None:
    graph = random_graph(12)
    module, data = trained("gbt", graph, encoder="gat", dim=4).to_pyg(), graph.to_pyg()
    shapes = {"x": {0: Dim("nodes")}, "edge_index": {1: Dim("edges")}}
    torch.export.save(export(module, (data.x, data.edge_index), dynamic_shapes=shapes), tmp_path / "encoder.pt2")
    code = ALONE.format(features=F)
    command = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / "encoder.pt2")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    assert float(done.stdout) == pytest.approx(float(module(torch.ones(3, F), path).sum()), rel=1e-4)
