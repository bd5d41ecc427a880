"""The real graphs' place on the map is what their files say."""

import os

import numpy as np
import pytest

from imgcl.data import load_graph
from imgcl.training.presets import find_preset
from imgcl_lab.when.real import GRAPHS


@pytest.mark.realdata
@pytest.mark.skipif(not os.environ.get("IMGCL_DATA"), reason="needs the raw files of the real graphs")
@pytest.mark.parametrize("name", GRAPHS)
def test_knobs_of_a_real_graph(name: str) -> None:
    graph, preset = load_graph(name), find_preset("gbt", name, "fast").config()
    sizes, degrees = np.bincount(graph.y), np.diff(graph.indptr)
    rows = np.repeat(np.arange(graph.n_nodes), degrees)
    by_class = [degrees[graph.y == k].mean() for k in range(len(sizes))]
    largest = degrees[degrees >= np.quantile(degrees, 0.9)]
    found = {
        "homophily": (graph.y[rows] == graph.y[graph.indices]).mean(),
        "tail": sizes.min(),
        "ratio": sizes.max() / sizes.min(),
        "exponent": 1 + len(largest) / np.log(largest / largest.min()).sum(),
        "by_class": np.polyfit(np.log(sizes), np.log(by_class), 1)[0],
        "labels": 0.1 * graph.n_nodes / len(sizes),
        "width": preset.build_settings().dim,
        "layers": preset.build_settings().layers,
        "epochs": preset.training.epochs,
    }
    assert set(found) == set(GRAPHS[name])
    for knob, value in found.items():
        assert GRAPHS[name][knob] == pytest.approx(value, rel=0.01, abs=0.01), knob
