"""Classifiers and probes by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean
from imgcl.evaluation.centroids import lda, nearest_mean
from imgcl.evaluation.classifiers import (
    balanced,
    balanced_softmax,
    best,
    logit_adjust,
    pbs,
    plain,
    reweight,
    uniform,
    with_prior,
)
from imgcl.evaluation.probes import PROBES
from imgcl.evaluation.tasks import Bench, LinearModel, Probe, Weighting

Classifier = Callable[[Bench], list[LinearModel]]

CLASSIFIERS: dict[str, Classifier] = {
    "plain": plain,
    "reweight": reweight,
    "pbs": pbs,
    "logit-adjust": logit_adjust,
    "balanced-softmax": balanced_softmax,
    "nearest-mean": nearest_mean,
    "lda": lda,
    "best": best,
}

WEIGHTINGS: dict[str, Weighting] = {
    "plain": uniform,
    "reweight": balanced,
    "pbs": uniform,
    "logit-adjust": uniform,
    "balanced-softmax": with_prior,
    "best": balanced,
    "ensemble": uniform,
}
"""What each classifier asks the probe to fit, so that all fits can be made together."""


def resolve_classifiers(names: str | Sequence[str]) -> dict[str, Classifier]:
    """Classifiers by name; text may list several with commas.

    Example:
        >>> list(resolve_classifiers("plain,lda"))
        ['plain', 'lda']
    """
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    unknown = [name for name in listed if name not in CLASSIFIERS]
    if unknown or not listed:
        what = f"unknown classifier {unknown[0]!r}" if unknown else "no classifier was named"
        raise InputError(f"{what}{did_you_mean(unknown[0] if unknown else '', CLASSIFIERS)}")
    return {name: CLASSIFIERS[name] for name in listed}


def resolve_probe(name: str) -> Probe:
    """The probe of that name."""
    if name not in PROBES:
        raise InputError(f"unknown probe {name!r}{did_you_mean(name, PROBES)}")
    return PROBES[name]
