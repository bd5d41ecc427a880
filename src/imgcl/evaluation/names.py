"""Classifiers and probes by name."""

from __future__ import annotations

from collections.abc import Callable

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


def resolve_probe(name: str) -> Probe:
    """The probe of that name."""
    if name not in PROBES:
        raise InputError(f"unknown probe {name!r}{did_you_mean(name, PROBES)}")
    return PROBES[name]
