"""What ImGCL's pre-training changes in every setting: paired differences with intervals, from the journal alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, spearmanr

from imgcl.evaluation import EvaluationResult
from imgcl.evaluation.intervals import Estimate, estimate
from imgcl.studies.results import Results
from imgcl_lab.when.design import KNOBS, Setting

CLASSIFIER = "best"
METRICS = ("tail", "accuracy")
HELPS, HURTS, NOTHING = "helps", "hurts", "nothing"
MISSED = 0.05  # of the intervals miss 0 by chance, half of them on either side


@dataclass(frozen=True)
class SettingEffect:
    """A setting and the differences that ImGCL makes in it, by metric."""

    setting: Setting
    plain: dict[str, float]
    effects: dict[str, Estimate]

    def verdict(self, metric: str) -> str:
        """Whether the 95 % interval lies above 0, below, or has 0 inside."""
        low, high = self.effects[metric].ci95 or (0.0, 0.0)
        return HELPS if low > 0 else HURTS if high < 0 else NOTHING

    def mean(self, metric: str) -> float:
        """The mean difference."""
        return self.effects[metric].mean or 0.0


def setting_effects(results: Results) -> list[SettingEffect]:
    """The effects of every setting of which both pre-trainings have a seed in common, in the design's order."""
    found = []
    for dataset in results.values("dataset"):
        pair = results.against_plain({"dataset": dataset, "balance": "imgcl"})
        if pair is not None:
            plain = {metric: float(np.nanmean(pair[0].values(CLASSIFIER, metric))) for metric in METRICS}
            effects = {metric: _by_seed(*pair, metric) for metric in METRICS}
            found.append(SettingEffect(Setting.parse(dataset), plain, effects))
    return sorted(found, key=lambda each: each.setting.number)


def _by_seed(plain: EvaluationResult, imgcl: EvaluationResult, metric: str) -> Estimate:
    """Difference over seeds: every seed is another graph, so its splits are averaged first."""
    difference = imgcl.values(CLASSIFIER, metric) - plain.values(CLASSIFIER, metric)
    seeds = plain.of(CLASSIFIER).seeds
    return estimate([np.nanmean(difference[seeds == seed]) for seed in np.unique(seeds)])


def counts(effects: Sequence[SettingEffect], metric: str) -> dict[str, int]:
    """Number of settings by verdict."""
    verdicts = [each.verdict(metric) for each in effects]
    return {verdict: verdicts.count(verdict) for verdict in (HELPS, HURTS, NOTHING)}


def chance_of(found: int, n: int) -> float:
    """Probability that at least ``found`` of n intervals lie on one side of 0 when there is no effect anywhere.

    Example:
        >>> round(chance_of(5, 200), 2), chance_of(30, 200) < 1e-6
        (0.56, True)
    """
    return float(binom.sf(found - 1, n, MISSED / 2))


def rank_correlations(effects: Sequence[SettingEffect], metric: str) -> dict[str, float]:
    """Spearman's correlation of the effect with every knob."""
    values = [each.mean(metric) for each in effects]
    found = {}
    for knob in KNOBS:
        knobs = [each.setting.knobs[knob] for each in effects]
        constant = len(set(knobs)) < 2 or len(set(values)) < 2
        found[knob] = 0.0 if constant else float(spearmanr(knobs, values).statistic)
    return found
