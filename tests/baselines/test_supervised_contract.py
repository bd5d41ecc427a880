"""What every supervised baseline keeps to: learns, repeats by seed, and survives classes with no label or one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from imgcl._core.errors import InputError
from imgcl.baselines import BASELINES, run_baseline
from imgcl.baselines.supervised import LOSSES, RECIPES
from imgcl.evaluation.labels import encode_labels
from imgcl.graph import Graph
from imgcl.imbalance import Split, make_splits

SUPERVISED = ("gcn", "sage", *RECIPES)


@pytest.fixture(autouse=True)
def few_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imgcl.baselines.supervised.trainer.EPOCHS", 30)
    monkeypatch.setattr("imgcl.baselines.supervised.trainer.WEIGHT_DECAYS", (5e-4,))


def predictions(name: str, graph: Graph, splits: list[Split], seed: int = 0, **options: Any) -> list[torch.Tensor]:
    made = BASELINES[name].make(graph, encode_labels(graph.y), splits, "balanced-softmax", seed, **options)
    return [each.probabilities for each in made]


def accuracy(graph: Graph, split: Split, probabilities: torch.Tensor) -> float:
    assert graph.y is not None
    return float(np.mean(probabilities.argmax(dim=1).numpy() == graph.y[split.test]))


@pytest.mark.parametrize("name", SUPERVISED)
def test_learns_repeats_and_does_not_depend_on_splits_beside_it(name: str, small_graph: Graph) -> None:
    splits = make_splits(small_graph.y, "exp:10", splits=2, train_fraction=0.2)
    first, second = predictions(name, small_graph, splits)
    assert first.sum(dim=1).numpy() == pytest.approx(np.ones(len(first)), abs=1e-5)
    assert accuracy(small_graph, splits[0], first) > 0.6
    assert torch.equal(predictions(name, small_graph, splits)[1], second)
    (alone,) = predictions(name, small_graph, splits[:1])
    assert alone.numpy() == pytest.approx(first.numpy(), abs=1e-3)
    assert not torch.equal(predictions(name, small_graph, splits[:1], seed=1)[0], first)


@pytest.mark.parametrize("name", SUPERVISED)
def test_a_class_without_a_training_label_is_never_predicted_and_one_label_is_enough(
    name: str, small_graph: Graph
) -> None:
    y = np.asarray(small_graph.y)
    (split,) = make_splits(y, "exp:10", splits=1, train_fraction=0.2)
    kept = split.train[y[split.train] != 2]
    (without,) = predictions(name, small_graph, [Split(kept, split.val, split.test)])
    assert float(without[:, 2].max()) == 0.0
    assert torch.isfinite(without).all()
    one = np.append(kept, split.train[y[split.train] == 2][:1])
    (found,) = predictions(name, small_graph, [Split(one, split.val, split.test)])
    assert torch.isfinite(found).all()
    assert float(found[:, 2].max()) > 0.0


@pytest.mark.parametrize("name", ["gcn", "graphens", "graphsmote", "dpgnn"])
def test_margins_of_tam_change_what_is_learnt(name: str, small_graph: Graph) -> None:
    splits = make_splits(small_graph.y, "exp:10", splits=1, train_fraction=0.2)
    if name == "dpgnn":
        with pytest.raises(InputError, match="tam is 1, but this baseline has no logits"):
            predictions(name, small_graph, splits, tam=1)
        return
    (plain,), (with_margins,) = (predictions(name, small_graph, splits, tam=tam) for tam in (0, 1))
    assert not torch.equal(plain, with_margins)
    assert accuracy(small_graph, splits[0], with_margins) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_graphsage_in_place_of_a_gcn(name: str, small_graph: Graph) -> None:
    splits = make_splits(small_graph.y, "exp:10", splits=1, train_fraction=0.2)
    (found,) = predictions(name, small_graph, splits, network="sage")
    assert accuracy(small_graph, splits[0], found) > 0.4


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss(loss: str, small_graph: Graph) -> None:
    result = run_baseline("gcn", small_graph, classifier=loss, splits=2, protocol="step:10")
    assert result.protocol["protocol"] == "step:10"
    assert result[loss, "balanced_accuracy"].mean > 0.4


@pytest.mark.parametrize("name", SUPERVISED)
def test_a_graph_without_edges(name: str) -> None:
    y = np.repeat([0, 1], [60, 40])
    x = np.eye(2)[y] + np.random.default_rng(0).standard_normal((100, 2)) / 4
    graph = Graph.from_edges(np.empty((2, 0), np.int64), x, y)
    splits = make_splits(y, "exp:3", splits=1)
    (found,) = predictions(name, graph, splits)
    assert torch.isfinite(found).all()


def test_wrong_options_are_explained(small_graph: Graph) -> None:
    with pytest.raises(InputError, match="network is 'gat': choose from gcn, sage"):
        run_baseline("bat", small_graph, splits=1, network="gat")
    with pytest.raises(InputError, match="'graphens' has no option 'neighbours': it has network, tam, warm_up"):
        run_baseline("graphens", small_graph, splits=1, neighbours=3)
    with pytest.raises(InputError, match="network is 3: it must be a name, for example gcn"):
        run_baseline("bat", small_graph, splits=1, network=3)
