"""Fit a scorer: classifier, calibration, prior and decision rule from the labels of some nodes.

Every labelled node gets logits from a model of cross-validation that was not trained on it. Calibration, decision and
quality come from those; the final model is trained on all labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError
from imgcl._core.progress import stage
from imgcl._core.seeding import RandomState, as_seed, generator
from imgcl._core.torch_settings import usual_torch
from imgcl.evaluation.alignment import ordered_labels
from imgcl.evaluation.blocks import Blocks
from imgcl.evaluation.calibration import Calibration, fit_calibration, reliability
from imgcl.evaluation.decisions import Decision, Rule, check_target, choose_decision, parse_rule
from imgcl.evaluation.estimators import EstimatorClassifier, Inductive, choose_inductive, fit_classifier
from imgcl.evaluation.labels import Labels, check_embedding, encode_labels
from imgcl.evaluation.metrics import expected_calibration_error
from imgcl.evaluation.names import resolve_probe
from imgcl.evaluation.priors import ESTIMATED, LABELS, NATURAL, Prior, estimate_from_labels, natural_prior, parse_prior
from imgcl.evaluation.ranking import ranking_metrics
from imgcl.evaluation.scorer import FittedScorer, log_odds, model_logits
from imgcl.evaluation.tasks import Model, PooledBench, Task

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FOLDS = 5
SAMPLE = 20_000  # unlabelled nodes that the prior is estimated from
DEFAULT = "ensemble"  # classifier of predictions
AS_LABELLED = ("plain",)  # classifiers whose probabilities hold at the labels' class shares; the others undo them


class Fitted(NamedTuple):
    """A scorer, and the logits of all nodes: of labelled ones by models that were not trained on them.

    ``classes`` are those of a classifier that gives nothing else.
    """

    scorer: FittedScorer
    logits: Floats
    labels: Labels
    classes: Ints | None = None

    def frame(self, Z: Any, node_names: Sequence[str] | None = None) -> pd.DataFrame:
        """The scores of all nodes."""
        classes = self.scorer.assigned(Z, self.logits) if self.classes is None else self.classes
        return self.scorer.table(self.logits, classes, node_names, self.labels.codes >= 0)


class _Trained(NamedTuple):
    """What cross-validation leaves.

    Attributes:
        model: trained on all labels.
        logits: of all nodes; of labelled ones by a model that was not trained on them.
        outside: labelled nodes that have such logits.
        unlabelled: logits of unlabelled nodes by each of those models, for they are what calibration is fitted to.
        classes: of all nodes, by the same models as ``logits``, where those are NaN.
    """

    model: Model
    logits: Floats
    outside: NDArray[np.bool_]
    unlabelled: Floats
    classes: Ints | None = None


def fit_scorer(
    Z: ArrayLike | Mapping[str, ArrayLike],
    labels: ArrayLike | Mapping[Any, Any],
    classifier: Any = DEFAULT,
    *,
    prior: Any = NATURAL,
    decision: str = "argmax",
    node_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    probe: str = "batched",
    random_state: RandomState = 0,
) -> FittedScorer:
    """Fit a classifier with calibrated probabilities and a decision rule to the labelled nodes.

    Args:
        Z: embeddings (N, d), or several blocks by name, as in :func:`imgcl.evaluation.evaluate`.
        labels: one per node; -1, ``None``, NaN, empty and the like for unlabelled. Or by name, as in
            :func:`imgcl.evaluation.predict`.
        classifier: as in :func:`imgcl.evaluation.predict`.
        prior: class shares of the nodes that will be scored, see :func:`imgcl.evaluation.predict`.
        decision: the rule, see :func:`imgcl.evaluation.predict`.
        node_names: names of the nodes, for labels by name.
        class_names: names of classes 0, 1, ... where labels are numbers.
        probe: as in :func:`imgcl.evaluation.evaluate`.
        random_state: seed of the folds, and of your classifier where it leaves its own open.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> y = np.repeat(["ok", "banned"], [80, 20])
        >>> Z = rng.standard_normal((100, 4)) + 2 * (y == "banned")[:, None]
        >>> scorer = fit_scorer(Z, np.where(np.arange(100) % 2, y, None), decision="min-recall:0.9")
        >>> scorer.class_names, scorer.prior.shares
        (('banned', 'ok'), (0.2, 0.8))
        >>> scorer.decision.expected["banned"]["recall"]["value"]
        0.9
    """
    labels = ordered_labels(labels, Z, node_names)
    return fit_all(Z, labels, classifier, prior, decision, class_names, probe, as_seed(random_state)).scorer


@usual_torch()
def fit_all(
    Z: Any, y: Any, classifier: Any, prior: Any, decision: str, class_names: Any, probe: str, seed: int
) -> Fitted:
    """As :func:`fit_scorer`, with the logits of all nodes."""
    blocks, (labels, name, chosen, wanted, rule) = Blocks.of(Z), read_task(y, classifier, prior, decision, class_names)
    check_embedding(blocks.rows, len(labels.codes))
    with stage(f"classifier {name}"):
        trained = _train(chosen, blocks, labels, probe, seed)
    if np.isnan(trained.logits).any():
        scorer = _without_probabilities(trained, name, blocks, labels, wanted, rule)
        return Fitted(scorer, trained.logits, labels, trained.classes)
    codes = labels.codes[trained.outside]
    calibration = fit_calibration(trained.logits[trained.outside], codes, _known_bias(name, chosen, trained, labels))
    shares = _prior(wanted, calibration.probabilities(trained.unlabelled), labels)
    scorer = _scorer(trained, name, blocks, labels, calibration, shares, Decision("argmax", (1.0,) * labels.n_classes))
    decided = _decide(scorer, rule, trained, codes, seed)
    quality = _quality(scorer, trained.logits[trained.outside], codes)
    return Fitted(_scorer(trained, name, blocks, labels, calibration, shares, decided, quality), trained.logits, labels)


class ScorerTask(NamedTuple):
    """What is asked for, read and checked: labels, classifier with its name, prior and rule."""

    labels: Labels
    name: str
    classifier: Inductive
    prior: str | Prior
    rule: Rule


def read_task(y: Any, classifier: Any, prior: Any, decision: str, class_names: Any = None) -> ScorerTask:
    """The parameters of :func:`fit_scorer` that need no embedding, so that one who has to train it can ask before.

    Raises:
        InputError: when one of them is wrong, or there are too few labels for it.
    """
    labels = encode_labels(y, class_names)
    wanted, rule = parse_prior(prior, labels.names, labels.sizes.tolist()), parse_rule(decision, labels.names)
    name, chosen = _single(classifier)
    if labels.sizes.max() == 1 and not isinstance(chosen, EstimatorClassifier):
        raise InputError("every class has a single label: settings cannot be chosen; give one class at least two")
    check_target(rule, labels.sizes)
    return ScorerTask(labels, name, chosen, wanted, rule)


def _single(classifier: Any) -> tuple[str, Inductive]:
    chosen = choose_inductive(classifier)
    if len(chosen) != 1:
        raise InputError(f"{len(chosen)} classifiers were named: predictions come from one")
    return next(iter(chosen.items()))


def _scorer(
    trained: _Trained,
    name: str,
    blocks: Blocks,
    labels: Labels,
    calibration: Calibration,
    prior: Prior,
    decision: Decision,
    quality: Mapping[str, Any] | None = None,
) -> FittedScorer:
    sizes = tuple(labels.sizes.tolist())
    widths, scales = dict(blocks.widths), dict(blocks.scales)
    model = trained.model
    return FittedScorer(model, name, widths, labels.names, sizes, calibration, prior, decision, quality or {}, scales)


def _decide(scorer: FittedScorer, rule: Rule, trained: _Trained, codes: NDArray[np.int64], seed: int) -> Decision:
    """The decision, chosen on the nodes outside training; with none the rule must not need them."""
    outside = trained.logits[trained.outside]
    return choose_decision(
        rule,
        scorer.probabilities(outside),
        log_odds(outside),
        codes,
        scorer.prior.shares,
        scorer.class_names,
        generator(seed, "decision"),
        rarest=scorer.target,
    )


def _quality(scorer: FittedScorer, logits: Floats, codes: NDArray[np.int64]) -> dict[str, Any]:
    """Metrics of the calibrated probabilities on labelled nodes, as common as their classes are among the labels."""
    if not len(codes):
        return {}
    p = scorer.calibration.probabilities(logits)
    values = ranking_metrics(p, codes)
    classes = {}
    for k, name in enumerate(scorer.class_names):
        metrics = {metric: _plain(per_class[k]) for metric, per_class in values.items()}
        classes[name] = {"labels": scorer.labels[k], **metrics, "reliability": reliability(p[:, k], codes == k)}
    error = _plain(expected_calibration_error(p, codes))
    return {"nodes": len(codes), "ece": error, "calibration": scorer.calibration.kind, "classes": classes}


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 6)


def _prior(wanted: str | Prior, unlabelled: Floats, labels: Labels) -> Prior:
    """The prior that was asked for; ``natural`` and ``estimated`` look at the unlabelled nodes."""
    if isinstance(wanted, Prior):
        return wanted
    shares = labels.sizes / labels.sizes.sum()
    if wanted == NATURAL:
        return natural_prior(unlabelled, labels.sizes)
    if wanted == LABELS or not len(unlabelled):
        return Prior(tuple(shares.tolist()), LABELS)
    return Prior(tuple(estimate_from_labels(unlabelled, labels.sizes).tolist()), ESTIMATED)


def _known_bias(name: str, chosen: Inductive, trained: _Trained, labels: Labels) -> NDArray[np.float64]:
    """What moves the classifier's logits to the labels' class shares, as far as its kind says."""
    log_shares = np.log(np.maximum(labels.sizes, 0.5) / labels.sizes.sum())
    if name in AS_LABELLED or isinstance(chosen, EstimatorClassifier):
        return np.zeros_like(log_shares)
    return np.asarray(trained.model.setting.get("tau", 1.0) * log_shares)


def _without_probabilities(
    trained: _Trained, name: str, blocks: Blocks, labels: Labels, wanted: str | Prior, rule: Rule
) -> FittedScorer:
    """The scorer of a classifier that only gives classes."""
    if wanted != NATURAL or rule.kind != "argmax":
        raise InputError(f"classifier {name!r} gives no probabilities: `prior` and `decision` need some")
    calibration = Calibration(1.0, (0.0,) * labels.n_classes)
    prior = Prior(tuple((labels.sizes / labels.sizes.sum()).tolist()), LABELS)
    return _scorer(trained, name, blocks, labels, calibration, prior, Decision("argmax", (1.0,) * labels.n_classes))


# ------------------------------------------------------------------ training with folds


def _train(classifier: Inductive, blocks: Blocks, labels: Labels, probe: str, seed: int) -> _Trained:
    """The final model, and logits of every node."""
    x, fold = torch.from_numpy(blocks.rows), make_folds(labels, seed)
    fitted = fit_classifier(classifier, PooledBench(_tasks(x, labels, fold), resolve_probe(probe)), seed, blocks)
    return _with_logits(fitted, blocks.rows, fold, _sample(labels, seed))


def _sample(labels: Labels, seed: int) -> NDArray[np.int64]:
    """Unlabelled nodes that stand for all of them."""
    nodes = np.flatnonzero(labels.codes < 0)
    return nodes if len(nodes) <= SAMPLE else generator(seed, "unlabelled").choice(nodes, SAMPLE, replace=False)


def _with_logits(
    models: Sequence[Model],
    rows: NDArray[np.float32],
    fold: NDArray[np.int64],
    sample: NDArray[np.int64],
) -> _Trained:
    """The models of the folds, and last the final one, with their logits."""
    *folds, final = models
    unlabelled = np.concatenate([model_logits(model, rows[sample]) for model in folds or [final]])
    logits = model_logits(final, rows)
    for i, model in enumerate(folds):
        logits[fold == i] = model_logits(model, rows[fold == i])
    classes = _classes(models, rows, fold) if np.isnan(logits).any() else None
    return _Trained(final, logits, fold >= 0, unlabelled, classes)


def _classes(models: Sequence[Model], rows: NDArray[np.float32], fold: Ints) -> Ints:
    """Class numbers, of labelled nodes by a model that was not trained on them."""
    *folds, final = models
    found = final.classify(torch.from_numpy(rows)).classes
    for i, model in enumerate(folds):
        found[fold == i] = model.classify(torch.from_numpy(rows[fold == i])).classes
    return found


def _tasks(x: torch.Tensor, labels: Labels, fold: NDArray[np.int64]) -> list[Task]:
    """One task per fold, and last the task of all labelled nodes."""
    labelled = labels.codes >= 0
    parts = [(labelled & (fold != i), fold == i) for i in range(int(fold.max()) + 1)]
    return [_task(x, labels, train, val) for train, val in [*parts, (labelled, labelled & False)]]


def _task(x: torch.Tensor, labels: Labels, train: NDArray[np.bool_], val: NDArray[np.bool_]) -> Task:
    codes = torch.from_numpy(labels.codes)
    return Task(x[train], codes[train], x[val], codes[val], labels.n_classes)


def make_folds(labels: Labels, seed: int, n_folds: int = FOLDS) -> NDArray[np.int64]:
    """The fold that validates on each node; -1 for unlabelled nodes and for a class's only node."""
    rng = generator(seed, "folds")
    fold = np.full(len(labels.codes), -1, dtype=np.int64)
    folds = int(min(n_folds, labels.sizes.max()))
    for k, size in enumerate(labels.sizes):
        if size > 1:
            nodes = rng.permutation(np.flatnonzero(labels.codes == k))
            fold[nodes] = (np.arange(size) + rng.integers(folds)) % folds
    used = np.unique(fold[fold >= 0])
    return np.where(fold >= 0, np.searchsorted(used, fold), -1)
