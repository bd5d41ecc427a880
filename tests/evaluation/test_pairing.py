"""Only evaluations on the same nodes are paired or combined; others are refused with what differs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl.evaluation import EvaluationResult, attribution, combine, compare, evaluate
from imgcl.imbalance import make_splits

CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "law": ({"imbalance": "exp:2"}, "imbalance exp:8 and exp:2, other training nodes in 2 of 2 splits"),
    "seed of the splits": ({"random_state": 1}, "other training nodes .*, other test nodes in 2 of 2 splits"),
    "number of splits": ({"splits": 3}, "2 and 3"),
    "test nodes": ({"test_per_class": 15}, "other test nodes in 2 of 2 splits"),
    "probe": ({"probe": "sklearn"}, "probe batched and sklearn"),
}


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [80, 60, 40])
    return np.eye(3)[y] + 0.8 * rng.standard_normal((180, 3)), y


def evaluated(data: tuple[np.ndarray, np.ndarray], **changes: Any) -> EvaluationResult:
    options = {"imbalance": "exp:8", "classifier": ("plain", "reweight"), "splits": 2, "ceiling": 0, **changes}
    return evaluate(*data, **options)


@pytest.mark.parametrize("change", CHANGES)
def test_another_protocol_is_refused_with_what_differs(data: Any, change: str) -> None:
    changed, words = CHANGES[change]
    a, b = evaluated(data), evaluated(data, **changed)
    for pair in (compare, lambda a, b: combine([a, b]), lambda a, b: attribution(a, b, ("plain", "reweight"))):
        with pytest.raises(InputError, match=f"cannot be .*{words}.*; evaluate both with the same"):
            pair(a, b)


def test_other_labels_on_the_same_nodes_are_refused(data: Any) -> None:
    Z, y = data
    splits = make_splits(y, "exp:8", 2)
    moved = y.copy()
    moved[[0, 80]] = moved[[80, 0]]
    a, b = (evaluated((Z, labels), splits=splits) for labels in (y, moved))
    with pytest.raises(InputError, match="cannot be paired: other labels"):
        compare(a, b)
    with pytest.raises(InputError, match="cannot be combined: other labels"):
        combine([a, b])


def test_the_same_splits_are_paired_however_they_came(data: Any) -> None:
    Z, y = data
    drawn, given = evaluated(data), evaluated((2 * Z, y), splits=make_splits(y, "exp:8", 2), random_state=7)
    assert compare(drawn, given)["plain", "accuracy"].mean == 0
    assert compare(drawn, given).notes == ()
    assert combine([drawn, given]).of("plain").seeds.tolist() == [0, 0, 1, 1]
    lawless = [replace(split, sizes=None) for split in make_splits(y, "exp:8", 2)]
    assert combine([drawn, evaluated(data, splits=lawless)]).notes == ()


def test_nodes_are_saved_and_read(data: Any) -> None:
    a, b = evaluated(data, ceiling=1), evaluated(data, random_state=1, ceiling=1)
    back = EvaluationResult.from_dict(json.loads(a.to_json()))
    assert back.of("plain").nodes == a.of("plain").nodes
    assert len(back.of("ceiling").nodes) == 1
    assert back.to_json() == a.to_json()
    assert compare(a, back).notes == ()
    with pytest.raises(InputError, match="cannot be paired"):
        compare(back, b)
    both = combine([a, back])
    with pytest.raises(InputError, match="cannot be paired: 4 and 2 cells"):
        compare(both, a)
    with pytest.raises(InputError, match="other test nodes in 4 of 4"):
        compare(both, combine([b, b]))


def test_damaged_nodes_are_refused(data: Any) -> None:
    for damage in ({"labels": ["a"]}, {"labels": [], "train": [], "val": [], "test": []}, 3):
        entries = json.loads(evaluated(data).to_json())
        entries["plain"]["cells"]["nodes"] = damage
        with pytest.raises(InputError, match="not an evaluation result"):
            EvaluationResult.from_dict(entries)


def old(result: EvaluationResult) -> EvaluationResult:
    """As read from a file of a version that did not record nodes."""
    entries = json.loads(result.to_json())
    for entry in entries.values():
        del entry["cells"]["nodes"]
    return EvaluationResult.from_dict(entries)


def test_results_without_nodes_are_compared_by_what_they_record_and_it_is_said(data: Any) -> None:
    a = evaluated(data)
    effects = compare(old(a), a)
    assert "does not record its nodes" in effects.notes[0]
    assert str(effects).endswith(effects.notes[0])
    assert "does not record its nodes" in str(combine([a, old(a)]))
    assert old(a).notes == ()
    for change in ("law", "number of splits", "test nodes", "probe"):
        with pytest.raises(InputError, match="cannot be paired"):
            compare(old(a), evaluated(data, **CHANGES[change][0]))
    other = replace(old(a), groups=replace(a.groups, head=a.groups.tail, tail=a.groups.head))
    with pytest.raises(InputError, match="head, middle and tail"):
        compare(a, other)
