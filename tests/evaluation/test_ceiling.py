"""The ceiling: every label outside the test set teaches, at a setting that some of them chose."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

import imgcl
from imgcl.evaluation import Blocks, ceiling
from imgcl.evaluation.labels import encode_labels
from imgcl.imbalance import make_splits


def test_it_is_the_logistic_regression_on_all_labels(blobs, monkeypatch):
    Z, y = blobs
    monkeypatch.setattr(ceiling, "SEARCHED", 40)
    [split] = make_splits(y, "exp:5", 1)
    blocks = Blocks.of(Z)
    [model] = ceiling.ceiling_models(blocks, encode_labels(y), [split], seed=0)
    outside = np.setdiff1d(np.arange(len(y)), split.test)
    exact = LogisticRegression(C=model.setting["C"], class_weight="balanced", tol=1e-8, max_iter=10_000)
    exact.fit(blocks.rows[outside], y[outside])
    expected = exact.predict_proba(blocks.rows[split.test])
    rows = torch.from_numpy(blocks.rows[split.test])
    np.testing.assert_allclose(model.classify(rows).probabilities, expected, atol=0.02)


def test_blocks_have_the_weights_that_were_chosen(blobs):
    Z, y = blobs
    noise = np.random.default_rng(0).standard_normal((len(y), 30))
    result = imgcl.evaluate({"told": Z, "noise": noise}, y, "exp:5", "plain", 2)
    alone = imgcl.evaluate(Z, y, "exp:5", "plain", 2)
    assert result["ceiling", "accuracy"].mean == pytest.approx(alone["ceiling", "accuracy"].mean, abs=0.05)
    assert set(result.of("ceiling").settings[0]) == {"C", "weight told", "weight noise"}
