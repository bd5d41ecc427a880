"""The study `when`: its points, and what its journal says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from imgcl.data import load_graph
from imgcl.evaluation.intervals import estimate
from imgcl.studies.cells import GraphRef, PretrainCell, TrialCell
from imgcl.studies.grid import Graphs, Point, StudySpec
from imgcl.studies.protocol import Protocol
from imgcl.studies.report import Report, Table, titled
from imgcl.studies.results import Results
from imgcl.studies.study import Study
from imgcl_lab.when.answers import answers
from imgcl_lab.when.design import BALANCES, KNOBS, Setting, design
from imgcl_lab.when.effects import (
    HELPS,
    HURTS,
    METRICS,
    MISSED,
    NOTHING,
    SettingEffect,
    chance_of,
    counts,
    rank_correlations,
    setting_effects,
)
from imgcl_lab.when.figures import effect_map, knob_effects
from imgcl_lab.when.real import real_effects
from imgcl_lab.when.rule import EITHER, Answer, find_rule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEXT = (
    "What GBT gains when it is pre-trained with ImGCL instead of without, on small synthetic graphs of four classes "
    "whose knobs follow a low-discrepancy design. Both embeddings are evaluated on the same balanced test nodes, by "
    "the classifier that validation nodes prefer (`plain`, `reweight` or `logit-adjust`). An effect is the mean of the "
    "paired differences over the seeds, each of which is another graph, with its 95 % interval; it *helps* or *hurts* "
    "where that misses 0. Tail is the recall of the smallest class."
)
LIMITS = (
    "The smallest class has 5 to 500 nodes, and graphs have 200 to 5,600: the class-size ratio is drawn from what that "
    "leaves between 1 and 1000 (with 5 nodes in the smallest class 27 to 1000, with 500 nodes at most 5.4), so the two "
    "knobs are not independent of each other. Labels are at most 15 % of the nodes."
)


def points(spec: StudySpec, graphs: Graphs, settings: Sequence[Setting] | None = None) -> list[Point]:
    """Every setting without and with ImGCL, seeds last."""
    return [
        Point({"dataset": setting.name, "imbalance": setting.imbalance, "seed": seed} | labels, cell)
        for seed in range(spec.seeds)
        for setting in (design() if settings is None else settings)
        for labels, cell in _pair(spec, setting, seed)
    ]


def _pair(spec: StudySpec, setting: Setting, seed: int) -> list[tuple[dict[str, Any], TrialCell]]:
    source = setting.source(seed)
    graph = load_graph(source)
    ref = GraphRef(source=source, name=graph.name, fingerprint=graph.fingerprint, n_classes=graph.n_classes)
    protocol = Protocol(
        imbalance=setting.imbalance, classifiers=spec.classifiers, splits=spec.splits, seed=seed, ceiling=0
    )
    found = []
    for method in spec.methods:
        for balance in spec.balances:
            config = setting.config(method, balance, seed, spec.settings)
            cell = TrialCell(pretrain=PretrainCell(graph=ref, config=config), protocol=protocol)
            found.append(({"method": method, "balance": balance}, cell))
    return found


def report(results: Results) -> Report:
    """The effect over all settings, by knob, the rule, the real graphs; the map as figures."""
    effects = setting_effects(results)
    rules = {metric: find_rule(effects, metric) for metric in METRICS}
    tables = [_overall(effects), _knobs(effects), *(_rule(metric, rules[metric]) for metric in METRICS)]
    if real := _real(results, rules["tail"]):
        tables.append(real)
    figures = {"when-map": partial(_map, effects), "when-knobs": partial(_knob_panels, effects)} if effects else {}
    text = [*answers(effects, rules, results), TEXT, LIMITS]
    return Report("When does ImGCL help?", text, tables, figures, _rows(effects))


def _overall(effects: Sequence[SettingEffect]) -> Table:
    rows = []
    for metric in METRICS:
        found, n = counts(effects, metric), len(effects)
        chances = [f"{chance_of(found[verdict], n):.2g}" for verdict in (HELPS, HURTS)]
        mean = estimate([each.mean(metric) for each in effects]).points()
        rows.append([metric, str(n), mean, *(str(found[verdict]) for verdict in (HELPS, HURTS, NOTHING)), *chances])
    note = (
        f"Of {len(effects)} intervals about {MISSED / 2 * len(effects):.0f} would lie above 0, and as many below, if "
        "nothing had any effect; the last columns are the probabilities that chance alone gives as many as were found."
    )
    header = ["metric", "settings", "mean effect", HELPS, HURTS, NOTHING, f"chance of {HELPS}", f"chance of {HURTS}"]
    return Table("Effect of ImGCL's pre-training over all settings", header, rows, note)


def _knobs(effects: Sequence[SettingEffect]) -> Table:
    found = {metric: rank_correlations(effects, metric) for metric in METRICS}
    order = sorted(KNOBS, key=lambda knob: -abs(found["tail"][knob]))
    rows = [[KNOBS[knob].title, *(f"{found[metric][knob]:+.2f}" for metric in METRICS)] for knob in order]
    note = "With 200 settings a correlation beyond 0.14 is unlikely by chance alone, beyond 0.21 even for one of 22."
    return Table("Rank correlation of the effect with every knob", ["knob", *METRICS], rows, note)


def _rule(metric: str, answers: Sequence[Answer]) -> Table:
    rows = [
        [
            str(each),
            f"{each.found.points()} ({each.sizes[0]})",
            f"{each.checked.points()} ({each.sizes[1]})",
            each.advice,
        ]
        for each in answers
    ]
    note = (
        "A tree of two questions, made from the settings with even numbers and checked on the odd ones (in brackets: "
        "how many). The intervals are over settings. Advice is given where both agree."
    )
    return Table(f"The rule for {metric}", ["where", "found", "checked", "advice"], rows, note)


def _real(results: Results, rule: Sequence[Answer]) -> Table | None:
    rows = []
    for each in real_effects(results):
        advice = next((answer.advice for answer in rule if answer.holds(each.knobs)), EITHER)
        rows.append([titled(each.dataset), each.study, *(each.effects[metric].points() for metric in METRICS), advice])
    note = "GBT with `logit-adjust`, from the journals of the studies named; last, what the rule for tail says."
    header = ["graph", "study", *METRICS, "the rule says"]
    return Table("The real graphs", header, rows, note) if rows else None


def _rows(effects: Sequence[SettingEffect]) -> list[dict[str, Any]]:
    return [
        {"setting": each.setting.number, **each.setting.knobs, "metric": metric, "plain": each.plain[metric]}
        | {
            "effect": each.effects[metric].mean,
            **dict(zip(("low", "high"), each.effects[metric].ci95 or (), strict=False)),
        }
        | {"verdict": each.verdict(metric)}
        for each in effects
        for metric in METRICS
    ]


def _map(effects: Sequence[SettingEffect]) -> Figure:
    """Both metrics over the two knobs that tell most about the tail."""
    found = rank_correlations(effects, "tail")
    x, y = sorted(KNOBS, key=lambda knob: -abs(found[knob]))[:2]
    return effect_map(
        [each.setting.knobs[x] for each in effects],
        [each.setting.knobs[y] for each in effects],
        {metric: [each.mean(metric) for each in effects] for metric in METRICS},
        {metric: [each.verdict(metric) for each in effects] for metric in METRICS},
        labels=(KNOBS[x].title, KNOBS[y].title),
        logarithmic=(KNOBS[x].log, KNOBS[y].log),
    )


def _knob_panels(effects: Sequence[SettingEffect]) -> Figure:
    return knob_effects(
        {knob.title: [each.setting.knobs[key] for each in effects] for key, knob in KNOBS.items()},
        {metric: [each.mean(metric) for each in effects] for metric in METRICS},
        logarithmic={knob.title for knob in KNOBS.values() if knob.log},
    )


STUDY = Study(
    StudySpec(
        name="when",
        datasets=("synthetic",),
        balances=BALANCES,
        classifiers=("plain", "best"),
        settings={"lr": 5e-3},  # few epochs
        seeds=5,
        splits=4,
    ),
    report,
    points,
    figures=True,
)
