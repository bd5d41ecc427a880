"""The references of the benchmarks do the same work: the same weights give the same rows and gradients."""

import sys
from pathlib import Path

import pytest
import torch

from imgcl.data import load_graph

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
pytest.importorskip("torch_geometric")


@pytest.fixture
def references(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import reference_methods
    import references

    yield reference_methods, references
    for name in ("reference_methods", "references"):
        sys.modules.pop(name, None)


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
def test_three_ways_to_multiply_give_one_result(references):
    methods, ways = references
    data = methods.pyg_data(load_graph("digits"))
    found = []
    for way in ways.WAYS.values():
        encoder = methods.Layers(way, [data.num_features, 16, 8], True, torch.nn.PReLU)
        for parameter in encoder.parameters():
            source = torch.Generator().manual_seed(parameter.numel())  # the same for layers of other names
            parameter.data = torch.randn(parameter.shape, generator=source)
        rows = encoder(data.x, way.normalised(data.edge_index, data.num_nodes))
        rows.square().mean().backward()
        gradient = torch.cat([p.grad.flatten() for p in sorted(encoder.parameters(), key=torch.numel)])
        found.append((rows.detach(), gradient))
    for rows, gradient in found[1:]:
        torch.testing.assert_close(rows, found[0][0], rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(gradient, found[0][1], rtol=1e-2, atol=1e-3)
