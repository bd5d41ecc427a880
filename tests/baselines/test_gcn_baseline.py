import numpy as np
import pytest
import torch

import imgcl.baselines.supervised.trainer as module
from imgcl.baselines import gcn, label_propagation
from imgcl.evaluation.labels import Labels, encode_labels
from imgcl.graph import Graph
from imgcl.imbalance import Split, make_splits


@pytest.fixture(scope="module")
def labelled(small_graph: Graph) -> tuple[Graph, Labels, list[Split]]:
    labels = encode_labels(small_graph.y)
    return small_graph, labels, make_splits(labels.codes, "exp:10", splits=2, train_fraction=0.2)


def accuracy(labels: Labels, split: Split, probabilities: torch.Tensor) -> float:
    return float(np.mean(probabilities.argmax(dim=1).numpy() == labels.codes[split.test]))


@pytest.mark.parametrize("classifier", ["plain", "reweight", "pbs"])
def test_gcn_learns(
    labelled: tuple[Graph, Labels, list[Split]], classifier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, labels, splits = labelled
    monkeypatch.setattr(module, "EPOCHS", 40)
    made = gcn(graph, labels, splits, classifier)
    for split, prediction in zip(splits, made, strict=True):
        assert prediction.probabilities.sum(dim=1).numpy() == pytest.approx(np.ones(len(split.test)), abs=1e-5)
        assert accuracy(labels, split, prediction.probabilities) > 0.6
        assert prediction.setting["epoch"] % module.EVERY == 0


def test_a_network_does_not_depend_on_its_neighbours(
    labelled: tuple[Graph, Labels, list[Split]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Splits that train side by side share products, not results; and the same seed gives the same numbers."""
    graph, labels, splits = labelled
    monkeypatch.setattr(module, "EPOCHS", 20)
    together = gcn(graph, labels, splits, "reweight", seed=1)
    alone = gcn(graph, labels, splits[:1], "reweight", seed=1)
    again = gcn(graph, labels, splits, "reweight", seed=1)
    assert together[0].probabilities.numpy() == pytest.approx(alone[0].probabilities.numpy(), abs=1e-4)
    assert torch.equal(together[1].probabilities, again[1].probabilities)


def test_features_have_rows_of_length_one() -> None:
    x = np.array([[3.0, 4.0], [0.0, 2.0], [0.0, 0.0]])
    rows = np.array([[0.6, 0.8], [0.0, 1.0], [0.0, 0.0]])
    assert module.unit_rows(Graph.from_edges([[0, 1], [1, 2]], x)).toarray() == pytest.approx(rows, abs=1e-6)


def test_label_propagation_on_a_path() -> None:
    """Labels at both ends of a path: every node takes the nearer end's; without balance the heavier end wins."""
    n = 12
    y = np.array([0] * 6 + [1] * 6)
    graph = Graph.from_edges([np.arange(n - 1), np.arange(1, n)], x=np.ones((n, 1)), y=y)
    split = Split(np.array([0, 1, 11]), np.array([2, 10]), np.array([3, 4, 5, 6, 7, 8, 9]))
    (balanced,) = label_propagation(graph, encode_labels(y), [split], "reweight")
    assert balanced.probabilities.argmax(dim=1).tolist()[:2] == [0, 0]
    assert balanced.probabilities.argmax(dim=1).tolist()[-2:] == [1, 1]
    (plain,) = label_propagation(graph, encode_labels(y), [split], "plain")
    assert (plain.probabilities[:, 0] >= balanced.probabilities[:, 0] - 1e-6).all()


def test_label_propagation_where_no_label_reaches() -> None:
    y = np.array([0, 1, 0, 1, 0, 1])
    graph = Graph.from_edges([[0, 1], [2, 3]], x=np.ones((6, 1)), y=y)  # nodes 4 and 5 are isolated
    split = Split(np.array([0, 1]), np.array([2, 3]), np.array([4, 5]))
    (made,) = label_propagation(graph, encode_labels(y), [split], "plain")
    assert made.probabilities.numpy() == pytest.approx(np.full((2, 2), 0.5))
