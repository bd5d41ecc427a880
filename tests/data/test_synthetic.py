"""The block model delivers what it is asked for."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from imgcl._core.errors import InputError
from imgcl.data import load_graph, synthetic_graph
from imgcl.graph import Graph


def homophily(graph: Graph) -> float:
    source = np.repeat(np.arange(graph.n_nodes), graph.degree)
    return float((graph.y[source] == graph.y[graph.indices]).mean())


@given(
    sizes=st.lists(st.integers(1, 60), min_size=2, max_size=6),
    share=st.floats(0, 1),
    degree=st.floats(0, 6),
    seed=st.integers(0, 5),
)
@settings(deadline=None, max_examples=60)
def test_sizes_edges_and_homophily_are_exact(sizes: list[int], share: float, degree: float, seed: int) -> None:
    try:
        graph = synthetic_graph(class_sizes=sizes, homophily=share, mean_degree=degree, seed=seed, n_features=2)
    except InputError as error:
        assume("do not fit" not in str(error))
        raise
    total = round(sum(sizes) * degree / 2)
    assert graph.class_sizes.tolist() == sizes
    assert graph.n_edges == total
    if total:
        assert homophily(graph) == pytest.approx(round(share * total) / total)
    checked = Graph.from_scipy(graph.adjacency, graph.x, graph.y)
    assert checked.fingerprint == graph.fingerprint, "a proper simple, symmetric graph, sorted"


def test_class_ratio() -> None:
    graph = synthetic_graph(n_nodes=1110, n_classes=3, class_ratio=100, n_features=4)
    assert graph.class_sizes.tolist() == [1000, 100, 10]


def test_same_seed_same_graph() -> None:
    first, again, other = (synthetic_graph(n_nodes=200, seed=seed) for seed in (3, 3, 4))
    assert first.fingerprint == again.fingerprint
    assert first.fingerprint != other.fingerprint


def test_degree_tail() -> None:
    heavy, light, flat = (
        synthetic_graph(n_nodes=20_000, n_features=1, degree_exponent=exponent, seed=1) for exponent in (2.2, 4.0, None)
    )
    assert heavy.degree.max() > 2 * light.degree.max()
    assert flat.degree.max() < 35, "Poisson with mean 10"
    # counts above d fall as d^(1 - exponent): between degrees 40 and 160 by about 4^-2 at exponent 3
    graph = synthetic_graph(n_nodes=50_000, n_features=1, degree_exponent=3.0, seed=2)
    ratio = (graph.degree >= 40).sum() / (graph.degree >= 160).sum()
    assert 10 < ratio < 25


def test_degree_by_class() -> None:
    for power in (0.0, 0.5, -0.5):
        graph = synthetic_graph(
            class_sizes=[8000, 2000], degree_by_class=power, degree_exponent=None, homophily=1.0, n_features=1
        )
        means = [graph.degree[graph.y == k].mean() for k in (0, 1)]
        assert means[0] / means[1] == pytest.approx(4**power, rel=0.02)


def test_feature_signal_is_the_distance_between_centres() -> None:
    graph = synthetic_graph(class_sizes=[20_000, 20_000], mean_degree=0, n_features=8, feature_signal=3.0)
    centres = np.stack([graph.x[graph.y == k].mean(axis=0) for k in (0, 1)])
    assert np.linalg.norm(centres[0] - centres[1]) == pytest.approx(3.0, abs=0.05)
    assert (graph.x - centres[graph.y]).std() == pytest.approx(1.0, abs=0.01)


def test_more_classes_than_features() -> None:
    assert synthetic_graph(n_nodes=50, n_classes=5, n_features=2, mean_degree=4).x.shape == (50, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"homophily": 1.5}, "homophily is 1.5"),
        ({"mean_degree": -1.0}, "mean_degree is -1.0"),
        ({"degree_exponent": 2.0}, "degree_exponent is 2.0"),
        ({"n_features": 0}, "n_features is 0"),
        ({"feature_signal": float("nan")}, "feature_signal is nan"),
        ({"class_ratio": 0.5}, "class_ratio is 0.5"),
        ({"n_nodes": 3, "n_classes": 5}, "3 nodes cannot have 5 classes"),
        ({"class_sizes": [3, 0]}, "class_sizes is"),
        ({"class_sizes": [3.5]}, "class_sizes is"),
        ({"class_sizes": [5, 5], "homophily": 1.0, "mean_degree": 8.0}, "edges inside classes do not fit"),
        ({"n_classes": 1, "homophily": 0.5}, "edges between classes do not fit"),
        ({"mean_degree": 1e308}, "edges inside classes do not fit"),
        ({"n_nodes": 1000.5}, "n_nodes is 1000.5: give a whole number"),
        ({"n_classes": None}, "n_classes is None: give a whole number"),
        ({"n_features": "3"}, "n_features is '3': give a whole number"),
        ({"seed": 0.7}, "seed is 0.7: give a whole number"),
        ({"homophily": None}, "homophily is None: give a number"),
        ({"degree_by_class": float("inf")}, "degree_by_class is inf"),
        ({"feature_signal": 1e39}, "feature_signal is 1e.39: it must be 0..1e.15"),
        ({"class_sizes": 3}, "class_sizes is 3: give one positive"),
        ({"class_sizes": [10**30, 5]}, "has at most 2,147,483,647 nodes"),
        ({"n_nodes": 2**31}, "has at most 2,147,483,647 nodes"),
    ],
)
def test_bad_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_graph("synthetic", **options)


@pytest.mark.parametrize(
    "options",
    [
        {"n_nodes": 2**31 - 1, "n_features": 10**6},
        {"class_sizes": [10**9, 10**9], "n_features": 10**6},
        {"n_features": 10**12},
        {"n_classes": 10**9, "n_nodes": 10**9},
        {"n_nodes": 10**6, "mean_degree": 10**6 - 1},
    ],
)
def test_what_does_not_fit_into_memory_is_refused(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imgcl._core.capacity.machine_memory", lambda: 10**12)
    with pytest.raises(InputError, match=r"^a synthetic graph of .* needs at least .* GB of memory, there are 1,000: "):
        synthetic_graph(**options)


def test_whole_numbers_may_be_written_as_floats() -> None:
    graph = synthetic_graph(n_nodes=300.0, n_classes=3.0, n_features=np.float64(4), seed=1.0)  # type: ignore[arg-type]
    assert graph.fingerprint == synthetic_graph(n_nodes=300, n_classes=3, n_features=4, seed=1).fingerprint


@pytest.mark.slow
def test_a_million_nodes_in_under_a_minute() -> None:
    start = time.perf_counter()
    graph = synthetic_graph(n_nodes=10**6, n_classes=10, class_ratio=100, mean_degree=20, n_features=16)
    assert time.perf_counter() - start < 60
    assert graph.n_edges == 10**7
    assert homophily(graph) == pytest.approx(0.8)
