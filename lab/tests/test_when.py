"""The map: its design, its cells, and what is made of a journal with known effects."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from imgcl.data import load_graph
from imgcl.evaluation.intervals import Estimate
from imgcl.studies import Context, EvaluateCell, Graphs, Results, Store, make_report, write_report
from imgcl.studies.engines.worker import Worker
from imgcl.studies.running import run_study
from imgcl_lab.when import STUDY
from imgcl_lab.when.answers import answers
from imgcl_lab.when.design import KNOBS, LEAST_NODES, MOST_NODES, Setting, design
from imgcl_lab.when.effects import SettingEffect, chance_of, counts, rank_correlations, setting_effects
from imgcl_lab.when.report import points, report
from imgcl_lab.when.rule import AVOID, EITHER, USE, Condition, find_rule

TINY = [
    Setting(
        number, 0.7, 2.0, tail=8, ratio=5, exponent=3.0, by_class=0.1, labels=2, width=8, layers=1, epochs=2, unseen=i
    )
    for number, i in enumerate((0.0, 1.0))
]


@pytest.fixture(scope="module")
def finished(in_line: None, tmp_path_factory: pytest.TempPathFactory) -> Results:
    root = tmp_path_factory.mktemp("when")
    spec = STUDY.spec.model_copy(update={"seeds": 2, "splits": 2})
    progress = run_study("when", points(spec, Graphs({}), TINY), Store(root), command="imgcl study when")
    assert (progress.computed, progress.failed) == (8, 0)
    return Results("when", Store(root).journal("when"))


# ---------------------------------------------------------------------- the design


def test_the_design_covers_every_knob_within_its_range() -> None:
    settings = design()
    assert len(settings) == 200
    assert settings == design()
    for name, knob in KNOBS.items():
        values = np.array([setting.knobs[name] for setting in settings])
        assert values.min() >= knob.low
        assert values.max() <= knob.high
    assert {setting.layers for setting in settings} == {1.0, 2.0, 3.0}
    assert {setting.unseen for setting in settings} == {0.0, 1.0}
    assert min(setting.tail for setting in settings) < 6
    assert max(setting.tail for setting in settings) > 450
    assert max(setting.ratio for setting in settings) > 500
    assert min(setting.ratio for setting in settings) < 1.2
    assert max(setting.width for setting in settings) > 230


def test_graphs_stay_small_and_labels_few() -> None:
    for setting in design():
        nodes = sum(setting.class_sizes)
        assert LEAST_NODES - 4 <= nodes <= MOST_NODES + 4
        assert min(setting.class_sizes) == setting.tail
        assert 2 <= setting.labels <= max(2, 0.15 * nodes / 4 + 1)


def test_a_setting_is_read_back_from_its_name() -> None:
    for setting in design()[:20]:
        assert Setting.parse(setting.name) == setting
        assert len(setting.name) < 75


def test_the_graph_is_what_the_setting_says() -> None:
    setting = design()[0]
    graph = load_graph(setting.source(3))
    assert graph.class_sizes.tolist() == setting.class_sizes
    assert graph.fingerprint != load_graph(setting.source(2)).fingerprint


# ---------------------------------------------------------------------- the cells


def test_both_pretrainings_of_a_seed_see_the_same_graph_and_splits() -> None:
    found = points(STUDY.spec.model_copy(update={"seeds": 2}), Graphs({}), TINY)
    assert len(found) == 8
    assert len({point.cell.key for point in found}) == 8
    plain, imgcl = found[:2]
    assert plain.cell.loads == imgcl.cell.loads
    assert plain.cell.protocol == imgcl.cell.protocol
    assert (plain.cell.pretrain.config.balance is None, imgcl.cell.pretrain.config.balance is None) == (True, False)
    assert [point.cell.pretrain.config.scope.scope for point in found[:4]] == ["train"] * 2 + ["inductive"] * 2
    assert {point.line()["pretrain"] for point in found} == {None}


@pytest.mark.parametrize("setting", TINY)
def test_a_trial_is_a_pretraining_and_its_evaluation(setting: Setting, tmp_path: Path) -> None:
    trial = points(STUDY.spec.model_copy(update={"seeds": 1}), Graphs({}), [setting])[1].cell
    graph = load_graph(trial.loads.source)
    store = Store(tmp_path)
    worker = Worker(store, None)
    assert worker.work(trial.pretrain)["status"] == "done"
    alone = worker.work(EvaluateCell(pretrain=trial.pretrain, protocol=trial.protocol))["result"]
    at_once = trial.compute(Context(lambda: graph, lambda: pytest.fail("not needed"), tmp_path / "nothing"))
    assert at_once["scores"] == alone["scores"]
    assert not (tmp_path / "nothing").exists()


def test_a_journal_makes_the_page(finished: Results, tmp_path: Path) -> None:
    effects = setting_effects(finished)
    assert [each.setting for each in effects] == TINY
    pair = finished.paired(*({"dataset": TINY[0].name, "balance": balance} for balance in ("none", "imgcl")))
    assert pair is not None
    difference = pair[1].values("best", "tail") - pair[0].values("best", "tail")
    assert effects[0].mean("tail") == pytest.approx(difference.mean())
    files = {path.name for path in write_report(make_report(finished), finished, tmp_path)}
    assert {"when.md", "when.csv", "when-map.svg", "when-knobs.png"} <= files
    assert "2 | " in (tmp_path / "when.md").read_text(encoding="utf-8")


# ---------------------------------------------------------------------- from effects to a rule


def effect(number: int, mean: float, half: float = 0.01, **knobs: float) -> SettingEffect:
    values = {**TINY[0].knobs, **knobs}
    found = Estimate(mean, half, (mean - half, mean + half))
    return SettingEffect(Setting(number, **values), {"tail": 0.5, "accuracy": 0.5}, {"tail": found, "accuracy": found})


def test_verdicts_are_counted() -> None:
    effects = [effect(0, 0.05), effect(1, -0.05), effect(2, 0.005), effect(3, 0.2)]
    assert counts(effects, "tail") == {"helps": 2, "hurts": 1, "nothing": 1}
    assert chance_of(0, 200) == 1.0
    assert chance_of(12, 200) < 0.01


def planted(noise: float) -> list[SettingEffect]:
    """Helps where homophily is above 0.6, hurts where it is not and the smallest class has up to 20 nodes."""
    rng = np.random.default_rng(0)
    effects = []
    for setting in design():
        truth = 0.05 if setting.homophily > 0.6 else -0.05 if setting.tail <= 20 else 0.0
        effects.append(effect(setting.number, truth + noise * rng.standard_normal(), **setting.knobs))
    return effects


def test_a_planted_rule_is_found_and_confirmed() -> None:
    effects = planted(noise=0.01)
    assert rank_correlations(effects, "tail")["homophily"] > 0.5
    answers = find_rule(effects, "tail")
    assert sum(answer.sizes[0] + answer.sizes[1] for answer in answers) == 200
    says = {advice: [each for each in answers if each.advice == advice] for advice in (USE, AVOID, EITHER)}
    assert says[USE]
    assert says[AVOID]
    homely, small = {**TINY[0].knobs, "homophily": 0.9}, {**TINY[0].knobs, "homophily": 0.3, "tail": 9.0}
    assert any(answer.holds(homely) for answer in says[USE])
    assert any(answer.holds(small) for answer in says[AVOID])


def test_noise_makes_no_advice() -> None:
    rng = np.random.default_rng(1)
    effects = [effect(s.number, 0.02 * rng.standard_normal(), **s.knobs) for s in design()]
    assert sum(answer.advice != EITHER for answer in find_rule(effects, "tail")) == 0


def test_a_rule_asks_only_what_a_user_can_know() -> None:
    effects = [effect(s.number, 0.1 * s.signal, **s.knobs) for s in design()]
    asked = {condition.knob for answer in find_rule(effects, "tail") for condition in answer.conditions}
    assert "signal" not in asked
    assert str(Condition("tail", above=False, threshold=20.0)) == "nodes of the smallest class at most 20"


def test_the_answers_say_what_was_found(finished: Results) -> None:
    effects = planted(noise=0.01)
    said = answers(effects, {"tail": find_rule(effects, "tail")}, finished)
    assert said[0].startswith(
        "**When to use it.** ImGCL's pre-training raises the recall of the rarest class where homophily"
    )
    assert "lowers" in said[0]
    assert said[1].startswith("**What to expect.** On average over 200 settings: tail +")
    assert len(said) == 2  # the other studies have not been run
    (nothing, _) = answers([effect(0, 0.0)], {"tail": []}, finished)
    assert "no rule held" in nothing


def test_real_graphs_stand_on_the_page_when_their_journals_lie_beside() -> None:
    here = Store(Path(__file__).parents[2] / "docs" / "results" / "studies")
    results = Results("main", here.journal("main"))
    assert results.beside("nothing") is None
    (table,) = [table for table in report(results_with_effects(results)).tables if table.title == "The real graphs"]
    assert ["Amazon-Photo", "main"] in [list(row[:2]) for row in table.rows]


def results_with_effects(results: Results) -> Results:
    """The study of the real graphs in the place of the map's, without any setting of its own."""
    results.points = []
    return results
