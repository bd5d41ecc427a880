"""The card of a scorer: metadata that a YAML reader understands, then what was measured."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

import imgcl
from imgcl.evaluation import fit_scorer
from imgcl.training.model_card import model_card
from imgcl.training.record import GraphRecord
from imgcl.training.settings import RunConfig

NAMES = ('ok: "fine"', "banned\nor worse", "größer #1")


@pytest.fixture(scope="module")
def card() -> tuple[str, object]:
    y = np.repeat(NAMES, [40, 12, 8])
    Z = np.random.default_rng(0).standard_normal((60, 4)) + 2 * (y[:, None] == np.unique(y)) @ np.eye(3, 4)
    scorer = fit_scorer(Z, y, "plain")
    record = GraphRecord.of(imgcl.Graph.from_edges([[0], [1]], x=np.eye(2), name="---\naccounts: 7"))
    return model_card(scorer, RunConfig(), record), scorer


def test_the_metadata_is_yaml_whatever_things_are_called(card):
    text, scorer = card
    begin, head, body = text.split("---\n", 2)
    assert begin == ""
    found = yaml.safe_load(head)
    assert found["tags"][-2:] == ["class-imbalance", "gbt"]
    assert found["library_name"] == "imgcl"
    assert "license" not in found  # for the user to choose
    assert "# license: choose one" in head
    (result,) = found["model-index"][0]["results"]
    assert result["dataset"]["name"] == "---\naccounts: 7"
    values = {metric["name"]: metric["value"] for metric in result["metrics"]}
    for name in NAMES:
        assert values[f"AUPRC, class {name}"] == scorer.quality["classes"][name]["auprc"]
    assert {metric["type"] for metric in result["metrics"]} == {"roc_auc", "average_precision", "brier_score"}
    assert body.startswith("\n# Model card: nodes of ")


def test_nothing_is_claimed_that_was_not_measured(card):
    _, scorer = card
    record = GraphRecord.of(imgcl.Graph.from_edges([[0], [1]], x=np.eye(2)))
    head = yaml.safe_load(model_card(replace(scorer, quality={}), RunConfig(), record).split("---\n", 2)[1])
    assert "model-index" not in head
