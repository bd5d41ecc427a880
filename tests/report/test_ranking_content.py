"""What the page is told for the search of one class."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl.evaluation import average_precision, predict
from imgcl.evaluation.labels import encode_labels
from imgcl.report.ranking import ranking_entry


def decode(stored: dict[str, str]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(stored["data"]), dtype=np.dtype(stored["type"]).newbyteorder("<"))


@pytest.fixture(scope="module")
def sample() -> tuple[Any, Any]:
    """200 nodes of class ok, 50 of class banned, of which 80 and 20 have no label."""
    rng = np.random.default_rng(0)
    true = np.repeat(["ok", "banned"], [200, 50])
    Z = rng.standard_normal((250, 4)) + 1.5 * (true == "banned")[:, None]
    given = np.where(np.arange(250) % 5 < 3, true, None)
    return Z, encode_labels(given)


def entry_of(sample: tuple[Any, Any], decision: str = "argmax") -> dict[str, Any]:
    Z, labels = sample
    found = ranking_entry(Z, labels, np.arange(250), decision, 0)
    assert found is not None
    return found


def test_the_rarest_class_comes_first_with_the_figures_of_predict(sample: tuple[Any, Any]) -> None:
    Z, labels = sample
    first = entry_of(sample)["classes"][0]
    names = np.array([*labels.names, ""])[labels.codes]
    frame = predict(Z, np.where(labels.codes >= 0, names, None))
    assert labels.names[first["class"]] == "banned"
    np.testing.assert_allclose(decode(first["p"]) / 10_000, frame["p_banned"], atol=1e-4)
    np.testing.assert_array_equal(decode(first["rank"]), frame["rank"])
    known = labels.codes >= 0
    area = average_precision(-decode(first["rank"])[known, None] * [1.0, 0.0], 1 - (labels.codes[known] == 0))[0]
    assert first["auprc"] == pytest.approx(area, abs=1e-6)
    assert first["share"] == pytest.approx(0.2)
    assert sum(each["nodes"] for each in first["reliability"]) == known.sum()


def test_the_threshold_is_that_of_the_rule(sample: tuple[Any, Any]) -> None:
    assert entry_of(sample)["classes"][0]["threshold"] == 0.5
    found = entry_of(sample, "flag-rate:10%")
    first, second = found["classes"]
    flagged = decode(first["p"]) >= round(10_000 * first["threshold"])
    assert 0.05 < flagged.mean() < 0.2
    assert second["threshold"] == 0.5
    assert found["rule"] == "flag-rate:10%"
    assert first["expected"]["flag_rate"]["value"] == pytest.approx(0.1, abs=0.02)


def test_classes_count_as_in_the_population_that_is_scored(sample: tuple[Any, Any]) -> None:
    assert entry_of(sample)["prior"] == {"source": "labels", "weight": [1.0, 1.0]}


def test_a_class_missing_from_the_sample_keeps_the_numbers_of_the_others() -> None:
    labels = encode_labels(np.repeat(["a", "b", "c"], [40, 5, 40]))
    shown = np.r_[0:40, 45:85]
    Z = np.eye(3)[labels.codes] + 0.1 * np.random.default_rng(0).standard_normal((85, 3))
    found = ranking_entry(Z, labels, shown, "argmax", 0)
    assert found is not None
    assert {each["class"] for each in found["classes"]} == {0, 2}
    assert found["prior"]["weight"][1] == 0


def test_too_few_labels_are_no_error_but_a_wrong_rule_is(sample: tuple[Any, Any]) -> None:
    labels = encode_labels(["a", "b", *[None] * 8])
    assert ranking_entry(np.random.default_rng(0).random((10, 2)), labels, np.arange(10), "argmax", 0) is None
    with pytest.raises(InputError, match="decision"):
        entry_of(sample, "most-likely")
