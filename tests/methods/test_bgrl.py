import copy
import math

import pytest
import torch

from imgcl.data import load_graph
from imgcl.graph.block import Block
from imgcl.methods import BGRL
from imgcl.methods.bgrl import BGRLSettings


@pytest.fixture
def method() -> BGRL:
    torch.manual_seed(0)
    return BGRL(6, BGRLSettings(dim=4, predictor=8))


@pytest.fixture
def block() -> Block:
    return Block.from_graph(load_graph("synthetic", class_sizes=[20, 10], n_features=6, mean_degree=4, seed=0))


def test_the_target_starts_on_its_own(method: BGRL) -> None:
    online, target = method.encoder.layers[0].weight, method.target.layers[0].weight
    assert not torch.equal(online, target)


@pytest.mark.parametrize("progress", [0.0, 0.25, 0.5, 1.0])
def test_one_step_of_the_moving_average(method: BGRL, progress: float) -> None:
    """Every tensor moves by the same factor, 1 - (1 - 0.99)(1 + cos(pi t/T))/2, and only once."""
    before = copy.deepcopy(list(method.target.parameters()))
    online = copy.deepcopy(list(method.encoder.parameters()))
    method.after_step(progress)
    momentum = 1 - (1 - 0.99) * (1 + math.cos(math.pi * progress)) / 2
    for old, other, now in zip(before, online, method.target.parameters(), strict=True):
        torch.testing.assert_close(now, momentum * old + (1 - momentum) * other)
    for old, now in zip(online, method.encoder.parameters(), strict=True):
        assert torch.equal(old, now)


def test_the_target_never_receives_gradient(method: BGRL, block: Block) -> None:
    method.loss(block, None, torch.Generator().manual_seed(0)).backward()
    assert all(parameter.grad is None for parameter in method.target.parameters())
    assert all(parameter.grad is not None for parameter in method.encoder.parameters() if parameter.ndim == 2)
    assert all(parameter.grad is not None for parameter in method.predictor.parameters())


def test_the_embedding_is_the_online_encoder_s(method: BGRL, block: Block) -> None:
    method.eval()
    before = method.embed(block)
    with torch.no_grad():
        for parameter in method.target.parameters():
            parameter.fill_(0.5)
    assert torch.equal(method.embed(block), before)


def test_loss_is_the_sum_of_both_directions(block: Block) -> None:
    """Views without randomness and a predictor that is the identity: 2 - 2 cos(online, target)."""
    settings = BGRLSettings(
        dim=4, predictor=8, edge_drop_1=0, edge_drop_2=0, feature_mask_1=0, feature_mask_2=0, norm="none"
    )
    method = BGRL(6, settings)
    with torch.no_grad():
        for weights in method.predictor.parameters():
            weights.zero_()
        method.predictor.activation.weight.fill_(1)
        torch.nn.init.eye_(method.predictor.first.weight)
        torch.nn.init.eye_(method.predictor.last.weight)
    online, target = method.encoder([block])[0], method.target([block])[0]
    cosine = torch.nn.functional.cosine_similarity(online, target).mean().item()
    loss = method.loss(block, None, torch.Generator()).item()
    assert loss == pytest.approx(2 - 2 * cosine, rel=1e-5)
