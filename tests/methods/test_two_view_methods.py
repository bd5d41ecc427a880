import pytest
import torch

from imgcl._core.errors import InputError
from imgcl.data import load_graph
from imgcl.graph.block import Block
from imgcl.losses import info_nce
from imgcl.methods import GRACE, METHODS, resolve_method
from imgcl.methods.grace import GRACESettings
from imgcl.methods.two_views import make_view
from imgcl.training.settings import RunConfig
from imgcl.views import AdaptiveEdgeRemoving, AdaptiveFeatureMasking, EdgeRemoving, FeatureMasking


@pytest.fixture(scope="module")
def block() -> Block:
    return Block.from_graph(load_graph("synthetic", class_sizes=[40, 20], n_features=6, mean_degree=6, seed=0))


def test_grace_projects_and_contrasts_the_selected_rows(block: Block) -> None:
    still = {"edge_drop_1": 0, "edge_drop_2": 0, "feature_mask_1": 0, "feature_mask_2": 0}
    method, rows = GRACE(6, GRACESettings(dim=4, projection=5, tau=0.3, **still)), torch.tensor([2, 3, 5, 7])
    projected = method.projector(method.encoder([block])[0][rows])
    expected = info_nce(projected, projected, 0.3).item()
    assert method.loss(block, rows, torch.Generator()).item() == pytest.approx(expected, rel=1e-5)


def test_grace_contrasts_a_random_share_of_the_nodes_where_none_are_selected(block: Block) -> None:
    method = GRACE(6, GRACESettings(dim=4, sample=0.1))
    seen: set[int] = set()
    method.encoder.register_forward_pre_hook(lambda _, inputs: seen.update(inputs[1].tolist()))
    generator = torch.Generator().manual_seed(0)
    loss = method.loss(block, None, generator)
    assert len(seen) == 6
    assert torch.isfinite(loss)
    for _ in range(80):
        method.loss(block, None, generator)
    assert seen == set(range(60))
    seen.clear()
    method.loss(block, torch.arange(20), generator)
    assert seen == set(range(20))


def test_the_two_views_have_their_own_probabilities(block: Block) -> None:
    method = GRACE(6, GRACESettings(dim=4, edge_drop_1=0.1, edge_drop_2=0.8))
    first, second = method.draw(block, torch.Generator().manual_seed(0))
    assert second.adjacency.n_entries < 0.5 * block.adjacency.n_entries < first.adjacency.n_entries


@pytest.mark.parametrize("drop", ["uniform", "degree", "pagerank", "eigenvector"])
def test_drop_chooses_the_views(block: Block, drop: str) -> None:
    kinds = {type(part) for part in make_view(0.3, 0.2, drop).views}
    uniform = {EdgeRemoving, FeatureMasking}
    assert kinds == (uniform if drop == "uniform" else {AdaptiveEdgeRemoving, AdaptiveFeatureMasking})
    loss = GRACE(6, GRACESettings(dim=4, drop=drop)).loss(block, None, torch.Generator().manual_seed(0))
    assert torch.isfinite(loss)


@pytest.mark.parametrize("encoder", ["gcn", "sage", "gin", "gat"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_every_encoder(block: Block, method: str, encoder: str) -> None:
    built = METHODS[method](6, METHODS[method].Settings(dim=8, layers=2, encoder=encoder, dropout=0.2, residual=True))
    loss = built.loss(block, torch.arange(0, 60, 2), torch.Generator().manual_seed(0))
    loss.backward()
    assert torch.isfinite(loss)
    assert built.eval().embed(block).shape[0] == 60


def test_a_wrong_setting_says_which() -> None:
    config = RunConfig(method="grace", method_settings={"tau": 0.001})
    with pytest.raises(InputError, match=r"setting tau = 0\.001"):
        config.build_settings()


def test_an_unknown_method_lists_the_known() -> None:
    with pytest.raises(InputError, match=r"unknown method 'simclr': choose from gbt, grace, bgrl, dgi, mvgrl"):
        resolve_method("simclr")
