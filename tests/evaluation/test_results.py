import json

import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl.evaluation import EvaluationResult, Groups, Scores, attribution, combine, compare
from imgcl.evaluation.render import markdown_table


def scores(correct: list[int], total: int = 10) -> Scores:
    """Two classes with ``total`` test nodes each; in cell i, ``correct[i]`` of each are right."""
    matrices = [[[c, total - c], [total - c, c]] for c in correct]
    n = len(correct)
    return Scores(
        np.array(matrices), np.full(n, 0.1), ({"C": 1.0},) * n, np.zeros(n, dtype=int), np.arange(n, dtype=int)
    )


def result(plain: list[int], pbs: list[int] | None = None) -> EvaluationResult:
    named = {"plain": scores(plain)} | ({} if pbs is None else {"pbs": scores(pbs)})
    return EvaluationResult(
        named, ("a", "b"), Groups((0,), (), (1,)), {"imbalance": "exp:10"}, scores([9]), ("a note",)
    )


def test_json_object_is_as_promised() -> None:
    entry = json.loads(result([6, 8], [8, 9]).to_json())
    assert list(entry) == ["plain", "pbs", "ceiling"]
    plain = entry["plain"]
    assert plain["accuracy"]["mean"] == pytest.approx(0.7)
    assert plain["accuracy"]["sd"] == pytest.approx(0.1 * np.sqrt(2))
    assert plain["accuracy"]["ci95"] == [0, 1]  # 0.7 ± 1.27, but a fraction cannot leave 0..1
    three = json.loads(result([7, 7, 8]).to_json())["plain"]["accuracy"]
    half = 4.30265 * 0.1 / 3  # t(0.975, 2) * sd / sqrt(3), sd = 0.1 / sqrt(3)
    assert three["ci95"] == pytest.approx([2.2 / 3 - half, 2.2 / 3 + half], abs=1e-4)
    for metric in ("head", "tail", "macro_f1", "balanced_accuracy", "g_mean", "ece"):
        assert set(plain[metric]) == {"mean", "sd", "ci95"}
        assert 0 <= plain[metric]["mean"] <= 1
    assert plain["middle"] == {"mean": None, "sd": None, "ci95": None}
    assert plain["precision"]["a"]["mean"] == pytest.approx(0.7)
    assert plain["recall"]["b"]["mean"] == pytest.approx(0.7)
    assert plain["confusion"] == [[14, 6], [6, 14]]
    assert entry["ceiling"]["accuracy"] == {"mean": 0.9, "sd": None, "ci95": None}


def test_round_trip_through_json() -> None:
    original = result([6, 8], [8, 9])
    back = EvaluationResult.from_dict(json.loads(original.to_json()))
    assert back.to_json() == original.to_json()
    assert back.notes == ("a note",)
    for wrong in ({}, {"plain": {}}, {"plain": 3}):
        with pytest.raises(InputError, match="not an evaluation result"):
            EvaluationResult.from_dict(wrong)
    endless = json.loads(original.to_json())
    endless["plain"]["cells"]["ece"][0] = float("inf")
    with pytest.raises(InputError, match="a figure that is not finite"):
        EvaluationResult.from_dict(endless)


def test_table_shows_percent_sd_ceiling_and_notes() -> None:
    lines = str(result([6, 8], [8, 9])).splitlines()
    assert lines[0] == "imbalance exp:10; percent, mean ± sd over 2 splits"
    assert lines[4].split()[:4] == ["plain", "70.0", "±", "14.1"]
    assert lines[7].split()[:2] == ["ceiling", "90.0"]
    assert lines[-1] == "a note"
    assert markdown_table(["a"], [["b"]]) == "| a |\n|---|\n| b |"


def test_frame_is_tidy() -> None:
    frame = result([6, 8], [8, 9]).to_frame()
    assert frame[["classifier", "seed", "split", "accuracy"]].to_numpy().tolist() == [
        ["plain", 0, 0, 0.6],
        ["plain", 0, 1, 0.8],
        ["pbs", 0, 0, 0.8],
        ["pbs", 0, 1, 0.9],
    ]
    assert frame["recall[a]"].tolist() == [0.6, 0.8, 0.8, 0.9]


def test_unknown_names() -> None:
    with pytest.raises(InputError, match="no classifier 'svm'"):
        result([5]).of("svm")
    with pytest.raises(InputError, match="no metric 'speed'"):
        result([5]).values("plain", "speed")


def test_combine_numbers_seeds() -> None:
    both = combine([result([6, 8]), result([7, 9])])
    assert both.of("plain").seeds.tolist() == [0, 0, 1, 1]
    assert both["plain", "accuracy"].mean == pytest.approx(0.75)
    assert both["ceiling", "accuracy"].mean == pytest.approx(0.9)
    assert "2 splits x 2 seeds" in str(both)
    assert combine([both, result([5, 5])]).of("plain").seeds.tolist() == [0, 0, 1, 1, 2, 2]
    with pytest.raises(InputError, match="cannot be combined"):
        combine([result([6]), result([6], [7])])
    with pytest.raises(InputError, match="nothing to combine"):
        combine([])


def test_paired_difference_is_narrower_than_its_parts() -> None:
    """Splits differ a lot, the gain hardly: only pairing sees it."""
    gain = compare(result([2, 5, 8]), result([3, 6, 9]))["plain", "accuracy"]
    assert gain.mean == pytest.approx(0.1)
    assert gain.ci95 == pytest.approx((0.1, 0.1))
    assert "+10.0 [+10.0, +10.0]" in str(compare(result([2, 5, 8]), result([3, 6, 9])))


def test_compare_needs_the_same_cells() -> None:
    with pytest.raises(InputError, match="cannot be paired: 2 and 3 cells"):
        compare(result([2, 5]), result([2, 5, 8]))
    other = EvaluationResult({"plain": scores([2, 5], total=12)}, ("a", "b"), Groups((0,), (), (1,)))
    with pytest.raises(InputError, match="cannot be paired: other numbers of test nodes"):
        compare(result([2, 5]), other)
    with pytest.raises(InputError, match="no classifier in common"):
        compare(result([2]), EvaluationResult({"lda": scores([2])}, ("a", "b"), Groups((0,), (), (1,))))


def test_attribution_by_hand() -> None:
    # cell means: without ImGCL 0.5 -> 0.8, with ImGCL 0.6 -> 1.0
    effects = attribution(result([5, 5], [8, 8]), result([6, 6], [10, 10]))
    assert effects["pre-training", "accuracy"].mean == pytest.approx((0.1 + 0.2) / 2)
    assert effects["classifier", "accuracy"].mean == pytest.approx((0.3 + 0.4) / 2)
    assert effects["interaction", "accuracy"].mean == pytest.approx(0.1)
    assert effects["both", "accuracy"].mean == pytest.approx(0.5)
    assert json.loads(json.dumps(effects.to_dict()))["both"]["tail"]["mean"] == pytest.approx(0.5)
