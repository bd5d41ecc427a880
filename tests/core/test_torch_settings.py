"""Whatever a caller has set in torch, results are the same and the caller's settings stay."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest
import torch

import imgcl
from imgcl._core.torch_settings import compute_alone, usual_torch
from imgcl.balance import BalancedSelector
from imgcl.baselines import run_baseline
from imgcl.data import synthetic_graph
from imgcl.evaluation import evaluate, predict
from imgcl.evaluation.estimators import classifier_names
from imgcl.graph import Graph
from imgcl.methods import METHODS
from imgcl.training.estimator import make_config
from imgcl.training.pretrain import pretrain

SETTINGS = {"grace": {"projection": 16, "drop": "pagerank"}, "bgrl": {"predictor": 16}}
ENCODERS = ("gcn", "sage", "gin", "gat")


@contextmanager
def double_precision() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        assert torch.get_default_dtype() == torch.float64
        torch.set_default_dtype(torch.float32)


@contextmanager
def other_device() -> Iterator[None]:
    torch.set_default_device("meta")
    try:
        yield
    finally:
        assert torch.get_default_device().type == "meta"
        torch.set_default_device(None)


@contextmanager
def without_gradients() -> Iterator[None]:
    torch.set_grad_enabled(False)
    try:
        yield
    finally:
        assert not torch.is_grad_enabled()
        torch.set_grad_enabled(True)


CALLERS = {
    "float64": double_precision,
    "device": other_device,
    "set_grad_enabled": without_gradients,
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
}
each_caller = pytest.mark.parametrize("caller", CALLERS)


def graph() -> Graph:
    return synthetic_graph(class_sizes=[50, 25, 15], n_features=12, mean_degree=5, seed=3)


@cache
def usual_embeddings(method: str, number: int, batch_size: int = 0) -> list[np.ndarray]:
    return embeddings(method, number, batch_size)


def embeddings(method: str, number: int, batch_size: int = 0) -> list[np.ndarray]:
    settings = {"dim": 8, "dropout": 0.2, "encoder": ENCODERS[number % 4], "batch_size": batch_size}
    balance = ("imgcl", None)[number % 2]
    model = imgcl.ImGCL(method, balance=balance, epochs=3, settings={**settings, **SETTINGS.get(method, {})})
    found = model.fit(graph()).embedding_
    return [found, model.transform(graph())]


def assert_equal(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)


@each_caller
@pytest.mark.parametrize(("number", "method"), list(enumerate(METHODS)))
def test_fit_and_transform_do_not_depend_on_the_callers_settings(caller: str, number: int, method: str) -> None:
    expected = usual_embeddings(method, number)
    with CALLERS[caller]():
        found = embeddings(method, number)
    assert_equal(found, expected)


@each_caller
@pytest.mark.parametrize("method", ["gbt", "dgi"])
def test_mini_batches_do_not_depend_on_the_callers_settings(caller: str, method: str) -> None:
    expected = usual_embeddings(method, 0, batch_size=16)
    with CALLERS[caller]():
        found = embeddings(method, 0, batch_size=16)
    assert_equal(found, expected)


@each_caller
@pytest.mark.parametrize("probe", ["batched", "pygcl", "sklearn"])
def test_evaluation_does_not_depend_on_the_callers_settings(caller: str, probe: str, monkeypatch) -> None:
    monkeypatch.setattr("imgcl.evaluation.probes.STEPS", 20)
    monkeypatch.setattr("imgcl.evaluation.probes.MAX_ITER", 20)
    rows, y = np.random.default_rng(0).normal(size=(90, 6)).astype(np.float32), graph().y
    classifiers = classifier_names() if probe == "batched" else ("plain",)

    def scores() -> list[np.ndarray]:
        result = evaluate(rows, y, "exp:3", classifiers, splits=1, probe=probe, graph=graph())
        predicted = predict(rows, np.where(np.arange(90) % 3 == 0, y, -1), "plain", probe=probe)["p_0"].to_numpy()
        return [result.values(name, "ece") for name in result.classifiers] + [predicted]

    expected = scores()
    with CALLERS[caller]():
        found = scores()
    assert_equal(found, expected)


@each_caller
@pytest.mark.parametrize("baseline", ["gcn", "propagated", "label-propagation"])
def test_baselines_do_not_depend_on_the_callers_settings(caller: str, baseline: str, monkeypatch) -> None:
    monkeypatch.setattr("imgcl.baselines.supervised.trainer.EPOCHS", 5)
    expected = str(run_baseline(baseline, graph(), "exp:3", "plain", splits=1))
    with CALLERS[caller]():
        found = str(run_baseline(baseline, graph(), "exp:3", "plain", splits=1))
    assert found == expected


@each_caller
@pytest.mark.parametrize("selection", ["systematic", "poisson"])
def test_the_selector_does_not_depend_on_the_callers_settings(caller: str, selection: str) -> None:
    points = np.random.default_rng(0).normal(size=(90, 4)).astype(np.float32)

    def selected() -> list[np.ndarray]:
        selector = BalancedSelector(graph(), 3, epochs=4, selection=selection)
        return [selector(0, embed=lambda: points).numpy(), selector.weights.numpy()]

    expected = selected()
    with CALLERS[caller]():
        found = selected()
    assert_equal(found, expected)


@each_caller
def test_a_run_directory_does_not_depend_on_the_callers_settings(caller: str, tmp_path) -> None:
    config = make_config("synthetic", overrides={"dim": 8, "epochs": 4, "checkpoint_every": 2})
    expected = pretrain(graph(), config, tmp_path / "usual").embedding
    with CALLERS[caller]():
        pretrain(graph(), config, tmp_path / "other")
        found = pretrain(graph(), config, tmp_path / "other", resume=True).embedding
    assert_equal([found], [expected])


def test_the_block_has_gradients_and_ends_with_the_callers_settings() -> None:
    with torch.inference_mode(), usual_torch():
        weight = torch.zeros(2, requires_grad=True)
        (weight * 2).sum().backward()
    assert weight.grad.tolist() == [2.0, 2.0]
    with torch.no_grad():
        with usual_torch():
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()


def test_a_thread_that_computes_alone_leaves_the_number_of_new_threads() -> None:
    before, found = torch.get_num_threads(), []
    torch.set_num_threads(3)
    try:
        for call in (lambda: (compute_alone(), found.append(torch.get_num_threads())), read_threads(found)):
            thread = threading.Thread(target=call)
            thread.start()
            thread.join()
        evaluate(np.eye(3).repeat(20, axis=0), np.arange(3).repeat(20), "natural", splits=1)
        thread = threading.Thread(target=read_threads(found))
        thread.start()
        thread.join()
        assert [*found, torch.get_num_threads()] == [1, 3, 3, 3]
    finally:
        torch.set_num_threads(before)


def read_threads(found: list[int]):
    return lambda: found.append(torch.get_num_threads())
