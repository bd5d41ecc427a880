"""What a user wants to know, in sentences that the journals decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from imgcl.evaluation import Estimate, compare
from imgcl.evaluation.intervals import estimate
from imgcl.studies.report import titled
from imgcl.studies.results import Results
from imgcl_lab import forms
from imgcl_lab.when.effects import CLASSIFIER, HELPS, HURTS, METRICS, SettingEffect, counts
from imgcl_lab.when.rule import AVOID, USE, Answer


def answers(effects: Sequence[SettingEffect], rules: Mapping[str, Sequence[Answer]], results: Results) -> list[str]:
    """When to use it, what to expect, what else was tried."""
    return [*_when(rules["tail"]), _expect(effects), *_tried(results), *_few_labels(results)] if effects else []


def _when(rule: Sequence[Answer]) -> list[str]:
    said = []
    for advice, words in ((USE, "raises"), (AVOID, "lowers")):
        where = [str(answer) for answer in rule if answer.advice == advice]
        if where:
            said.append(
                f"ImGCL's pre-training {words} the recall of the rarest class where {'; or where '.join(where)}."
            )
    if not said:
        said = ["No question about a graph tells where ImGCL's pre-training helps: no rule held on both halves."]
    return [f"**When to use it.** {' '.join(said)}"]


def _expect(effects: Sequence[SettingEffect]) -> str:
    parts = []
    for metric in METRICS:
        found, mean = counts(effects, metric), estimate([each.mean(metric) for each in effects])
        parts.append(f"{metric} {mean.points()} points, better in {found[HELPS]} and worse in {found[HURTS]} settings")
    return f"**What to expect.** On average over {len(effects)} settings: {'; '.join(parts)}."


def _tried(results: Results) -> list[str]:
    other = results.beside("forms")
    if other is None or not other.find(stage=forms.CONFIRM):
        return []
    method, form = forms.choice(other)
    confirmed = forms.gains(other, forms.CONFIRM, method, form)
    number = sum(len(each) for each in forms.FORMS.values())
    helped = [titled(dataset) for dataset, gained in confirmed.items() if forms.helps(gained)]
    where = f"helped on {', '.join(helped)} of the" if helped else "helped on none of the"
    return [
        f"**What we tried.** Of {number} other [forms](forms.md) of balance, *{form}* ({titled(method)}) did best on "
        f"validation nodes of two graphs; it {where} {len(confirmed)} graphs that it was confirmed on."
    ]


def _few_labels(results: Results) -> list[str]:
    other = results.beside("starved")
    gains = [] if other is None else [gain for group in other.groups() if (gain := _gain(other, group)) is not None]
    if not gains:
        return []
    means = sorted(100 * (gain.mean or 0.0) for gain in gains)
    clear = sum(gain.ci95 is not None and not gain.ci95[0] <= 0 <= gain.ci95[1] for gain in gains)
    return [
        f"**With [few labels](starved.md)** (1 %, 0.5 %, five per class), tail recall changes by {means[0]:+.1f} to "
        f"{means[-1]:+.1f} points on the real graphs; {clear} of {len(gains)} intervals miss 0."
    ]


def _gain(results: Results, group: dict[str, str]) -> Estimate | None:
    """ImGCL minus plain of one graph and number of labels."""
    pair = results.against_plain(group)
    if group["balance"] != "imgcl" or pair is None:
        return None
    return compare(*pair, classifiers=(CLASSIFIER,), metrics=("tail",))[CLASSIFIER, "tail"]
