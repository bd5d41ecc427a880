"""Embeddings of any scale, of equal rows, and as tensors: the directions of rows are all that matters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from imgcl.evaluation import CLASSIFIERS, evaluate, predict
from imgcl.evaluation.labels import check_embedding, normalise_rows

SCALES = [10.0**power for power in (-35, -30, -23, -19, -12, 15, 19, 20, 30, 35)]


@pytest.mark.parametrize("scale", SCALES)
def test_rows_have_length_one_at_any_scale(blobs: Any, scale: float) -> None:
    Z, _ = blobs
    found = normalise_rows(check_embedding(Z * np.float32(scale)))
    assert np.allclose(np.linalg.norm(found.astype(np.float64), axis=1), 1, atol=1e-6)
    assert np.allclose(found, normalise_rows(Z), atol=1e-5)
    assert np.array_equal(found, normalise_rows(Z * np.float32(scale)))


@pytest.mark.parametrize("scale", [1e-300, 1e-60, 1e60, 1e300])
def test_float64_beyond_float32(blobs: Any, scale: float) -> None:
    Z, _ = blobs
    found = normalise_rows(check_embedding(Z.astype(np.float64) * scale))
    assert np.allclose(found, normalise_rows(Z), atol=1e-6)


def test_ordinary_rows_keep_their_bits_beside_others(blobs: Any) -> None:
    Z, _ = blobs
    mixed = Z.copy()
    mixed[::2] *= np.float32(1e-30)
    by_hand = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    assert np.array_equal(normalise_rows(Z), by_hand)
    assert np.array_equal(normalise_rows(mixed)[1::2], by_hand[1::2])
    assert np.array_equal(check_embedding(Z), Z)
    rows = np.array([[0.0, 0.0], [3e-30, 4e-30]], dtype=np.float32)
    assert normalise_rows(rows).tolist() == pytest.approx(np.array([[0, 0], [0.6, 0.8]]))
    whole = np.array([[2**62, 0], [-(2**62), 2**62]])
    assert normalise_rows(check_embedding(whole)).tolist() == pytest.approx(np.array([[1, 0], [-(0.5**0.5), 0.5**0.5]]))


@pytest.mark.parametrize("scale", [1e-35, 1e-23, 1e20, 1e35])
def test_scores_do_not_depend_on_the_scale(blobs: Any, scale: float) -> None:
    Z, y = blobs
    big = Z * np.float32(scale)
    options: Any = {"imbalance": "exp:10", "classifier": "plain", "splits": 2, "ceiling": 0}
    expected = evaluate(Z, y, **options)["plain", "accuracy"].mean
    assert evaluate(big, y, **options)["plain", "accuracy"].mean == pytest.approx(expected, abs=0.005)
    some = np.where(np.arange(len(y)) % 3, -1, y)
    agree = predict(Z, some, "plain")["class"] == predict(big, some, "plain")["class"]
    assert agree.mean() > 0.995


@pytest.mark.parametrize("rows", [np.ones((180, 8)), np.zeros((180, 8)), np.arange(1.0, 9.0) * np.ones((180, 8))])
@pytest.mark.filterwarnings("error")
def test_an_embedding_of_equal_rows_gives_chance(rows: np.ndarray) -> None:
    y = np.repeat([0, 1, 2], [80, 60, 40])
    result = evaluate(rows, y, "exp:5", tuple(CLASSIFIERS), splits=2)
    for name in CLASSIFIERS:
        assert result[name, "accuracy"].mean == pytest.approx(1 / 3)
    assert result["lda", "ece"].mean == pytest.approx(0, abs=1e-6)
    for prior, shares in (("balanced", (1 / 3, 1 / 3, 1 / 3)), ("natural", (4 / 9, 3 / 9, 2 / 9))):
        found = predict(rows, y, "lda", prior=prior)[["p_0", "p_1", "p_2"]].to_numpy()
        assert found == pytest.approx(np.tile(shares, (180, 1)), abs=0.01)


def test_lda_of_classes_without_scatter_finds_them() -> None:
    y = np.repeat([0, 1, 2], [80, 60, 40])
    assert evaluate(np.eye(8)[y], y, "exp:5", "lda", splits=2)["lda", "accuracy"].mean == 1


def test_a_tensor_that_requires_grad_is_detached(blobs: Any) -> None:
    Z, y = blobs
    tensor = torch.tensor(Z, requires_grad=True)
    options: Any = {"imbalance": "exp:10", "classifier": "plain", "splits": 2}
    assert evaluate(tensor, y, **options).to_json() == evaluate(Z, y, **options).to_json()
    assert predict(tensor, y, "plain").equals(predict(Z, y, "plain"))
    assert tensor.grad is None
    assert check_embedding(tensor.bfloat16()).dtype == np.float32
