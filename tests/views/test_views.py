"""What every view must do, and what each one does."""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from imgcl._core.errors import InputError
from imgcl._core.sparse import CSR
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.views import (
    VIEWS,
    Compose,
    EdgeAdding,
    EdgePerturbation,
    EdgeRemoving,
    FeatureDropout,
    FeatureMasking,
    FeatureShuffling,
    Identity,
    NodeDropping,
    PPRDiffusion,
    RandomWalkSubgraph,
    make_view,
    make_views,
    parse_view,
)
from imgcl.views.edge_adding import add_edges
from imgcl.views.feature_dropout import _dropped_torch

SETTINGS: dict[str, dict[str, Any]] = {name: {} for name in VIEWS} | {
    name: {"p": 0.4} for name in VIEWS if name.split("-")[-1] in {"drop", "add", "perturb", "mask", "dropout"}
}
each_view = pytest.mark.parametrize("name", VIEWS)


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def dense(block: Block) -> np.ndarray:
    return block.adjacency.to_scipy().toarray()


def random_block(n: int, edges: int, seed: int) -> Block:
    rng = np.random.default_rng(seed)
    return Block.from_graph(Graph.from_edges(rng.integers(0, n, size=(2, edges)), x=rng.normal(size=(n, 3))))


# ---------------------------------------------------------------------- all views


@each_view
def test_same_seed_same_view(block: Block, name: str) -> None:
    view = make_view(name, **SETTINGS[name])
    first, second, other = (view(block, seeded(seed)) for seed in (1, 1, 2))
    assert (dense(first) == dense(second)).all()
    assert torch.equal(first.dense_features(), second.dense_features())
    deterministic = {"identity", "ppr", "heat"}
    changed = (dense(first) != dense(other)).any() or not torch.equal(first.dense_features(), other.dense_features())
    assert changed != (name in deterministic)


@each_view
def test_the_block_given_stays_as_it_is_and_the_result_is_symmetric(block: Block, name: str) -> None:
    before, features = dense(block), block.dense_features()
    view = make_view(name, **SETTINGS[name])(block, seeded(0))
    assert (dense(block) == before).all()
    assert torch.equal(block.dense_features(), features)
    assert view.n_nodes == block.n_nodes
    assert (dense(view) == dense(view).T).all()
    assert view.diffused or not dense(view).diagonal().any()
    indptr, indices = view.adjacency.indptr, view.adjacency.indices
    assert all((torch.diff(indices[a:b]) > 0).all() for a, b in pairwise(indptr))


@each_view
def test_views_of_a_graph_without_edges(name: str) -> None:
    block = Block.from_graph(Graph.from_edges(np.empty((2, 0), dtype=np.int64), x=np.eye(4)))
    view = make_view(name, **SETTINGS[name])(block, seeded(0))
    assert np.allclose(dense(view), np.eye(4) if view.diffused else 0, atol=1e-3)
    assert torch.isfinite(view.project(torch.ones(4, 2))).all()


@pytest.mark.parametrize("name", [name for name in VIEWS if "p" in SETTINGS[name]])
def test_a_probability_of_zero_changes_nothing_and_two_is_refused(block: Block, name: str) -> None:
    view = make_view(name, p=0.0)(block, seeded(0))
    assert (dense(view) == dense(block)).all()
    assert torch.equal(view.dense_features(), block.dense_features())
    with pytest.raises(InputError, match="p = 2: a probability lies between 0 and 1"):
        make_view(name, p=2)


def test_names_and_settings_are_checked() -> None:
    with pytest.raises(InputError, match="unknown view 'edge-removing': did you mean"):
        make_view("edge-removing", p=0.1)
    with pytest.raises(InputError, match=r"view 'edge-drop'.*share"):
        make_view("edge-drop", share=0.1)
    with pytest.raises(InputError, match="length = -1"):
        RandomWalkSubgraph(length=-1)


def test_compose_applies_in_order(block: Block, generator: torch.Generator) -> None:
    assert Compose([])(block, generator) is block
    assert Identity()(block, generator) is block
    both = Compose([FeatureMasking(0.5), FeatureMasking(0.5)])(block, seeded(3))
    stream = seeded(3)
    first = FeatureMasking(0.5)(block, stream)
    assert torch.equal(both.column_mask, first.column_mask * FeatureMasking(0.5)(block, stream).column_mask)


# ---------------------------------------------------------------------- edges


def test_edge_removing_is_the_kernel_with_a_drawn_seed(block: Block) -> None:
    view = EdgeRemoving(0.5)(block, seeded(4))
    assert ((dense(view) == 0) | (dense(block) == 1)).all()
    assert 0 < view.adjacency.n_entries < block.adjacency.n_entries


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 30), edges=st.integers(0, 120), count=st.integers(0, 300), seed=st.integers(0, 1000))
def test_added_edges_are_new_and_as_many_as_asked_for(n: int, edges: int, count: int, seed: int) -> None:
    adjacency = random_block(n, edges, seed).adjacency
    after = add_edges(adjacency, count, seeded(seed))
    before, dense_after = adjacency.to_scipy().toarray(), after.to_scipy().toarray()
    assert (dense_after == dense_after.T).all()
    assert set(np.unique(dense_after)) <= {0.0, 1.0}
    assert not dense_after.diagonal().any()
    assert (dense_after[before == 1] == 1).all()
    room = n * (n - 1) // 2 - adjacency.n_entries // 2
    assert after.n_entries - adjacency.n_entries == 2 * min(count, room)


def test_added_edges_are_uniform_over_the_free_pairs() -> None:
    block = Block.from_graph(Graph.from_edges([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]], x=np.eye(7)))
    counts = np.zeros((7, 7))
    stream = seeded(0)
    for _ in range(1500):
        counts += dense(EdgeAdding(0.5)(block, stream))
    free = (dense(block) == 0) & ~np.eye(7, dtype=bool)
    # three edges over 15 free pairs: each is hit 300 times, with a standard deviation of 15
    assert abs(counts[free] - 300).max() < 65


def test_new_edges_of_a_weighted_matrix_have_the_mean_weight(block: Block, generator: torch.Generator) -> None:
    adjacency = block.adjacency
    weights = (adjacency.row_index + adjacency.indices).float()
    weighted = CSR(adjacency.indptr, adjacency.indices, weights, adjacency.n_columns)
    after = add_edges(weighted, 10, generator).to_scipy().toarray()
    new = (after != 0) & (dense(block) == 0)
    assert new.sum() == 20
    assert np.allclose(after[new], weights.mean().item())
    assert (after[~new] == weighted.to_scipy().toarray()[~new]).all()


def test_perturbation_keeps_the_number_of_edges(block: Block, generator: torch.Generator) -> None:
    view = EdgePerturbation(0.5)(block, generator)
    assert view.adjacency.n_entries == block.adjacency.n_entries
    kept = (dense(view) * dense(block)).sum() / block.adjacency.n_entries
    assert 0.3 < kept < 0.75


# ---------------------------------------------------------------------- features


def test_feature_masking_zeroes_whole_columns(block: Block, generator: torch.Generator) -> None:
    x, view = block.dense_features(), FeatureMasking(0.5)(block, generator)
    kept = view.column_mask.bool()
    assert 0 < kept.sum() < 12
    assert torch.equal(view.dense_features(), x * kept)
    assert view.features is block.features


def test_feature_dropout_zeroes_entries_and_scales_the_others(block: Block, generator: torch.Generator) -> None:
    x, view = block.dense_features(), FeatureDropout(0.3)(block, generator)
    out = view.dense_features()
    kept = out != 0
    assert torch.allclose(out[kept], x[kept] / 0.7)
    assert 0.5 < kept.sum() / (x != 0).sum() < 0.85
    weight = torch.randn(12, 3, dtype=torch.float32, requires_grad=True)
    gradient = torch.autograd.grad(view.project(weight).square().sum(), weight)[0]
    assert torch.allclose(gradient, 2 * out.T @ (out @ weight), atol=1e-3)


def test_feature_dropout_of_dense_and_sparse_storage_is_the_same() -> None:
    rng = np.random.default_rng(0)
    x = (rng.random((20, 9)) < 0.5) * rng.normal(size=(20, 9))
    graphs = [Graph.from_edges([[0], [1]], x=kind(x)) for kind in (np.asarray, sp.csr_array)]
    views = [FeatureDropout(0.4)(Block.from_graph(graph), seeded(5)).dense_features() for graph in graphs]
    assert torch.allclose(*views)
    seed = int(torch.randint(0, 2**63 - 1, (1,), generator=seeded(5), dtype=torch.int64))
    assert torch.allclose(_dropped_torch(torch.from_numpy(x).float(), 0.4, 1 / 0.6, seed), views[0])


def test_shuffling_permutes_rows_and_shares_the_features(block: Block, generator: torch.Generator) -> None:
    view = FeatureShuffling()(block, generator)
    x, shuffled = block.dense_features(), view.dense_features()
    assert torch.equal(shuffled, x[view.row_order])
    assert sorted(view.row_order.tolist()) == list(range(block.n_nodes))
    assert view.features is block.features
    assert view.adjacency is block.adjacency


# ---------------------------------------------------------------------- nodes


def test_dropped_nodes_lose_edges_and_features_and_keep_their_row(block: Block, generator: torch.Generator) -> None:
    view = NodeDropping(0.4)(block, generator)
    kept = view.row_mask.bool().numpy()
    assert 0 < kept.sum() < len(kept)
    assert (dense(view) == dense(block) * np.outer(kept, kept)).all()
    assert torch.equal(view.dense_features(), block.dense_features() * view.row_mask.unsqueeze(1))


def test_a_walk_visits_what_it_can_reach(generator: torch.Generator) -> None:
    # a path of 6 and, apart from it, an edge and an isolated node
    block = Block.from_graph(Graph.from_edges([[0, 1, 2, 3, 4, 6], [1, 2, 3, 4, 5, 7]], x=np.eye(9)))
    for _ in range(20):
        kept = RandomWalkSubgraph(starts=0.0, length=2)(block, generator).row_mask.bool().nonzero().flatten().tolist()
        assert 1 <= len(kept) <= 3
        assert kept == list(range(kept[0], kept[-1] + 1))  # a walk is connected
        assert len(kept) > 1 or kept == [8]  # only the isolated node stays where it is
    everything = RandomWalkSubgraph(starts=1.0, length=0)(block, generator)
    assert (dense(everything) == dense(block)).all()


def test_a_step_is_uniform_over_the_neighbours(generator: torch.Generator) -> None:
    star = Block.from_graph(Graph.from_edges([[0, 0, 0, 0], [1, 2, 3, 4]], x=np.eye(5)))
    visits = np.zeros(5)
    for _ in range(1000):
        visits += RandomWalkSubgraph(starts=0.0, length=1)(star, generator).row_mask.numpy()
    # a leaf is visited as the start (1/5) or from the centre (1/5 * 1/4): 250 times, standard deviation 14
    assert abs(visits[1:] - 250).max() < 60
    assert visits[0] == 1000


def test_views_after_a_diffusion_keep_it_a_diffusion(block: Block, generator: torch.Generator) -> None:
    diffused = PPRDiffusion()(block, generator)
    view = Compose([EdgeRemoving(0.3), NodeDropping(0.2), FeatureShuffling()])(diffused, generator)
    assert view.diffused
    assert view.normalised.loop == 0
    assert view.normalised.left is None
    assert (dense(view) == dense(view).T).all()
    assert replace(view, diffused=False).normalised.loop == 1


def test_views_are_read_from_text(block: Block) -> None:
    first, second = make_views("edge-drop:0.3 | edge-drop:0.4,feature-mask:0.1,node-drop:0.2")
    assert isinstance(first, EdgeRemoving)
    assert first.p == 0.3
    assert [type(part).__name__ for part in second.views] == ["EdgeRemoving", "FeatureMasking", "NodeDropping"]
    adaptive = parse_view("adaptive-edge-drop:0.3:pagerank:0.9")
    assert (adaptive.p, adaptive.scores, adaptive.cutoff) == (0.3, "pagerank", 0.9)
    same, again = make_views("ppr")
    assert same is again
    mine = EdgeRemoving(0.5)
    assert make_views(mine) == (mine, mine)
    assert make_views([mine, first]) == (mine, first)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("edge-drip:0.4", "unknown view 'edge-drip': did you mean 'edge-drop'"),
        ("edge-drop:0.4,,", "an empty name"),
        ("edge-drop", "view 'edge-drop'"),
        ("edge-drop:much", "p = 'much'"),
        ("edge-drop:0.1|edge-drop:0.2|edge-drop:0.3", "one view for both branches, or two"),
    ],
)
def test_views_that_cannot_be_read_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        make_views(text)
