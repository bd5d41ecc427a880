"""Forms of balance through the trainer: they train, they change the result, and what makes no sense is refused."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from imgcl._core.errors import InputError
from imgcl.balance import BalancedSelector, BalanceSettings
from imgcl.data import load_graph
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.methods import METHODS
from imgcl.training import RunConfig, Trainer, TrainingSettings
from imgcl.training.checkpoint import Checkpoint
from imgcl.training.forms import apply_forms

FORMS = {
    "gbt": [
        "resample_every=1",
        "clusters_per_class=5",
        "selection=weighted",
        "statistics=balanced",
        "statistics=within",
        "prototypes=0.5",
        "augmentation=tail",
        "augmentation=curriculum",
        "selection=weighted,statistics=within,prototypes=1,augmentation=tail",
    ],
    "grace": ["negatives=other", "negatives=normalised", "negatives=other,prototypes=1,augmentation=curriculum"],
    "cca-ssg": ["selection=weighted,prototypes=1"],
    "vicreg": ["statistics=within,prototypes=1"],
    "bgrl": ["augmentation=tail"],
}
CASES = [(method, form) for method, forms in FORMS.items() for form in forms]


@cache
def graph() -> Graph:
    return load_graph("synthetic", class_sizes=[100, 60, 40], n_features=24, mean_degree=8, homophily=0.9, seed=3)


def trainer(method: str, form: str, *, epochs: int = 6, batch_size: int = 0) -> Trainer:
    config = RunConfig(
        method=method,
        method_settings={"dim": 8},
        training=TrainingSettings(epochs=epochs, lr=5e-3, batch_size=batch_size),
        balance=BalanceSettings.parse(f"fraction=0.5,labellings=3,{form}"),
        device="cpu",
    )
    return Trainer(config, graph())


@cache
def embedding(method: str, form: str) -> np.ndarray:
    run = trainer(method, form)
    run.train()
    return run.embed()


@pytest.mark.parametrize(("method", "form"), CASES)
def test_a_form_trains_and_makes_a_difference(method: str, form: str) -> None:
    found = embedding(method, form)
    assert np.isfinite(found).all()
    assert not np.array_equal(found, embedding(method, ""))


@pytest.mark.parametrize(("method", "form"), [("gbt", FORMS["gbt"][-1]), ("grace", FORMS["grace"][-1])])
def test_a_form_resumes_bit_for_bit(method: str, form: str, tmp_path: Path) -> None:
    first, second = trainer(method, form), trainer(method, form)
    for _ in range(3):
        first.step()
    first.checkpoint().save(tmp_path / "half.safetensors")
    second.restore(Checkpoint.load(tmp_path / "half.safetensors"))
    second.train()
    assert np.array_equal(second.embed(), embedding(method, form))


def test_all_methods_that_know_a_form_are_tested() -> None:
    assert {name for name, method in METHODS.items() if method.forms} == set(FORMS)


@pytest.mark.parametrize(
    ("method", "form", "message"),
    [
        ("gbt", "negatives=other", "negatives does not fit method 'gbt': choose one of grace"),
        ("grace", "selection=weighted", "selection=weighted does not fit method 'grace': choose one of gbt"),
        ("dgi", "augmentation=tail", "augmentation does not fit method 'dgi'"),
        ("bgrl", "statistics=within", "statistics does not fit method 'bgrl'"),
    ],
)
def test_a_method_that_does_not_know_the_form_is_refused(method: str, form: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        trainer(method, form)


def test_mini_batches_are_refused() -> None:
    with pytest.raises(InputError, match="prototypes needs the whole graph on one worker: use batch_size=0"):
        trainer("gbt", "prototypes=1", batch_size=32)
    trainer("gbt", "resample_every=1", batch_size=32)  # only another selection


def test_a_number_of_clusters_that_cannot_be_multiplied() -> None:
    for form in ("n_clusters=auto", "clusters=given"):
        with pytest.raises(InputError, match=r"^balance settings: clusters_per_class multiplies"):
            BalanceSettings.parse(f"clusters_per_class=5,{form}")


def test_over_clustering_makes_so_many_clusters() -> None:
    run = trainer("gbt", "clusters_per_class=5")
    run.step()
    assert run.selector is not None
    assert run.selector.n_clusters == 15
    assert len(run.selector.history[0]["sizes"]) == 15


def test_weighted_rows_are_balanced_by_their_weights() -> None:
    labels = np.repeat([0, 1], [90, 10])
    ring = torch.stack([torch.arange(100), (torch.arange(100) + 1) % 100])
    selector = BalancedSelector(
        ring, epochs=10, labels=labels, clusters="given", centrality="none", selection="weighted", alpha="constant:0"
    )
    assert torch.equal(selector(0), torch.arange(100))
    assert selector.weights[:90].tolist() == pytest.approx([100 / 180] * 90)
    assert selector.weights[90:].tolist() == pytest.approx([5.0] * 10)
    assert selector.history[0]["drawn"] == pytest.approx([0.5, 0.5])


def test_hints_follow_the_order_of_the_block() -> None:
    selector = BalancedSelector(
        graph(), epochs=4, labels=graph().y, clusters="given", selection="weighted", alpha="constant:0"
    )
    selector(0)
    order = np.random.default_rng(0).permutation(graph().n_nodes)
    settings = BalanceSettings(selection="weighted", augmentation="tail", negatives="other", prototypes=0.3)
    rows = torch.tensor([5, 2, 7])
    block, hints = apply_forms(settings, selector, Block.from_graph(graph().subgraph(order)), rows, order, 0.0)
    nodes = order[rows.numpy()]
    assert graph().y is not None
    assert hints.classes.tolist() == graph().y[nodes].tolist()
    assert hints.statistics is not None
    assert hints.statistics.weights.tolist() == pytest.approx((selector.weights[nodes] / 200).tolist())
    assert (hints.negatives, hints.prototypes) == ("other", 0.3)
    assert block.strength is not None
    sizes = np.bincount(graph().y)
    assert block.strength[rows].tolist() == pytest.approx((sizes / 100)[graph().y[nodes]].tolist())
