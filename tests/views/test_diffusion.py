"""Sparse diffusion against the dense inverse and the dense exponential."""

import os
import time

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from imgcl._core.errors import InputError
from imgcl._core.sparse import CSR
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.views import HeatDiffusion, PPRDiffusion
from imgcl.views.diffusion import heat_series


def random_block(n: int = 60, edges: int = 150, seed: int = 0) -> Block:
    rng = np.random.default_rng(seed)
    return Block.from_graph(Graph.from_edges(rng.integers(0, n, size=(2, edges)), x=np.eye(n)))


def transition(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """T and the degrees of A + I."""
    a = block.adjacency.to_scipy().toarray().astype(float) + np.eye(block.n_nodes)
    d = a.sum(axis=1)
    return a / np.sqrt(np.outer(d, d)), d


def ppr(block: Block, alpha: float = 0.2) -> np.ndarray:
    return alpha * np.linalg.inv(np.eye(block.n_nodes) - (1 - alpha) * transition(block)[0])


def heat(block: Block, t: float = 5.0) -> np.ndarray:
    return scipy.linalg.expm(-t * (np.eye(block.n_nodes) - transition(block)[0]))


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(2, 50),
    edges=st.integers(0, 150),
    seed=st.integers(0, 1000),
    epsilon=st.sampled_from([1e-2, 1e-3, 1e-5]),
)
def test_no_entry_is_off_by_more_than_the_tolerance(n: int, edges: int, seed: int, epsilon: float) -> None:
    block = random_block(n, edges, seed)
    bound = epsilon * np.sqrt(np.outer(transition(block)[1], transition(block)[1])) + 1e-6  # float32 storage
    for view, exact in (
        (PPRDiffusion(0.2, epsilon, None), ppr(block)),
        (PPRDiffusion(0.05, epsilon, None), ppr(block, 0.05)),
        (HeatDiffusion(5.0, epsilon, None), heat(block)),
        (HeatDiffusion(0.5, epsilon, None), heat(block, 0.5)),
    ):
        found = view.matrix(block.adjacency).to_scipy().toarray()
        assert (found == found.T).all()
        assert (found <= exact + 1e-6).all()  # a lower bound
        assert (exact - found <= bound).all()


@pytest.mark.parametrize(("kind", "exact"), [(PPRDiffusion, ppr), (HeatDiffusion, heat)])
def test_top_k_keeps_the_largest_entries_of_a_row(kind: type[PPRDiffusion], exact: object) -> None:
    block = random_block()
    found = kind(epsilon=1e-8, top_k=5).matrix(block.adjacency).to_scipy().toarray()
    dense = exact(block)  # type: ignore[operator]
    largest = np.sort(dense, axis=1)[:, -5, None]
    wanted = dense >= largest - 1e-7
    assert ((found > 0) == (wanted | wanted.T)).all()
    assert np.allclose(found[found > 0], dense[found > 0], atol=1e-5)
    assert (found > 0).sum() <= 2 * 5 * block.n_nodes


def test_ties_do_not_make_a_row_longer() -> None:
    star = Block.from_graph(Graph.from_edges([[0] * 30, list(range(1, 31))], x=np.eye(31)))
    lengths = torch.diff(PPRDiffusion(top_k=4).matrix(star.adjacency).indptr)
    assert lengths.sum() <= 2 * 4 * 31


def test_a_block_is_diffused_once_and_propagated_as_it_is() -> None:
    block, generator = random_block(), torch.Generator()
    view = PPRDiffusion()
    first = view(block, generator)
    assert first.diffused
    assert first.features is block.features
    assert view(block, generator).adjacency is first.adjacency
    assert PPRDiffusion(0.2)(block, generator).adjacency is first.adjacency  # kept with the graph, not with the view
    assert PPRDiffusion(0.3)(block, generator).adjacency is not first.adjacency
    assert HeatDiffusion()(block, generator).adjacency is not first.adjacency
    source = torch.randn(60, 3)
    expected = torch.from_numpy(first.adjacency.to_scipy().toarray()) @ source
    assert torch.allclose(first.normalised @ source, expected, atol=1e-5)
    assert not block.diffused


def test_the_result_does_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for threads in (1, 3):
        monkeypatch.setattr(torch, "get_num_threads", lambda count=threads: count)
        monkeypatch.setattr("imgcl.views.diffusion.CHUNK", 7)
        matrix = PPRDiffusion(top_k=5).matrix(random_block().adjacency)
        results.append((matrix.indptr, matrix.indices, matrix.weights))
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def test_coefficients_of_the_heat_series() -> None:
    coefficients, thresholds = heat_series(2.0, 1e-3)
    assert coefficients[:3].tolist() == pytest.approx([np.exp(-2), 2 * np.exp(-2), 2 * np.exp(-2)])
    assert 1 - coefficients.sum() <= 1e-4
    assert len(thresholds) == len(coefficients) - 1
    later = 1 - np.cumsum(coefficients)[:-1]
    assert (thresholds * later).sum() <= 0.6e-3 * 1.01


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PPRDiffusion(alpha=1.0), "alpha = 1.0"),
        (lambda: HeatDiffusion(t=0.0), "t = 0.0"),
        (lambda: PPRDiffusion(epsilon=0.0), "epsilon = 0.0"),
        (lambda: PPRDiffusion(top_k=0), "top_k = 0"),
    ],
)
def test_wrong_settings(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]


def weighted_block(n: int = 30) -> Block:
    rng = np.random.default_rng(4)
    weights = rng.uniform(0.2, 3, size=80)
    return Block.from_graph(Graph.from_edges(rng.integers(0, n, size=(2, 80)), x=np.eye(n), edge_weight=weights))


@pytest.mark.parametrize("name", ["ppr", "heat"])
def test_weighted_diffusions_equal_the_dense_ones(name: str) -> None:
    adjacency = weighted_block().adjacency
    a = adjacency.to_scipy().toarray().astype(float) + np.eye(30)
    scale = 1 / np.sqrt(a.sum(axis=1))
    t = a * scale[:, None] * scale
    view = {"ppr": PPRDiffusion(0.2, 1e-7, None), "heat": HeatDiffusion(3.0, 1e-7, None)}[name]
    expected = 0.2 * np.linalg.inv(np.eye(30) - 0.8 * t) if name == "ppr" else scipy.linalg.expm(-3 * (np.eye(30) - t))
    assert view.matrix(adjacency).to_scipy().toarray() == pytest.approx(expected, abs=2e-5)


def test_weights_of_1_give_the_diffusion_without_weights() -> None:
    plain = random_block().adjacency
    ones = CSR(plain.indptr, plain.indices, torch.ones(plain.n_entries), plain.n_columns)
    for view in (PPRDiffusion(top_k=5), HeatDiffusion(top_k=5)):
        assert torch.equal(view.matrix(plain).weights, view.matrix(ones).weights)


@pytest.mark.realdata
@pytest.mark.skipif("IMGCL_DATA" not in os.environ, reason="IMGCL_DATA is not set: it names the raw files' directory")
@pytest.mark.parametrize("name", ["dblp", "amazon-computers"])
def test_real_graphs_in_seconds(name: str) -> None:
    from imgcl.data import load_graph

    graph = load_graph(name)
    start = time.process_time()
    matrix = PPRDiffusion().matrix(Block.from_graph(graph).adjacency)
    assert time.process_time() - start < 20
    assert matrix.n_entries <= 2 * 64 * graph.n_nodes
    # D^1/2 1 is the eigenvector of T with eigenvalue 1: what the diffusion keeps of it is the mass it kept
    scale = np.sqrt(graph.degree + 1.0)
    kept = (matrix.to_scipy() @ scale) / scale
    assert kept.max() < 1 + 1e-4
    assert kept.mean() > 0.4
