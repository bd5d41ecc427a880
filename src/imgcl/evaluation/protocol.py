"""Linear evaluation: many splits, several classifiers, one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from imgcl._core.errors import InputError
from imgcl._core.progress import stage
from imgcl._core.seeding import RandomState, as_seed
from imgcl._core.torch_settings import usual_torch
from imgcl._core.words import did_you_mean
from imgcl.evaluation.alignment import names_of, ordered_labels
from imgcl.evaluation.blocks import Blocks
from imgcl.evaluation.ceiling import ceiling_models
from imgcl.evaluation.estimators import choose_classifiers, cost, fit_classifier
from imgcl.evaluation.groups import class_groups
from imgcl.evaluation.labels import Labels, encode_labels
from imgcl.evaluation.metrics import confusion_matrix, expected_calibration_error
from imgcl.evaluation.names import WEIGHTINGS, resolve_probe
from imgcl.evaluation.pairing import AS_GIVEN, fingerprints
from imgcl.evaluation.ranking import RANKING, ranking_metrics
from imgcl.evaluation.results import EvaluationResult, Scores
from imgcl.evaluation.tasks import Bench, Classified, Model, Task
from imgcl.evaluation.transductive import Transductive
from imgcl.graph import Graph
from imgcl.imbalance import Protocol, Split, class_order, make_splits, natural_test, parse_protocol

TESTS = ("balanced", "natural")
FEW = 5  # a class with fewer test nodes has figures that say little
ABOUT = 0.9  # of a share: above it a random draw is as good as the graph's
DIGITS = 6  # of stored ranking metrics


@usual_torch()
def evaluate(
    Z: ArrayLike | Mapping[str, ArrayLike],
    y: ArrayLike | Mapping[Any, Any],
    imbalance: Any = "exp:100",
    classifier: Any = ("plain", "pbs"),
    splits: int | Sequence[Split] = 20,
    random_state: RandomState = 0,
    probe: str = "batched",
    *,
    test: str = "balanced",
    ceiling: int = 1,
    node_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    graph: Graph | None = None,
    protocol: str | Protocol | None = None,
    **split_options: Any,
) -> EvaluationResult:
    """Train classifiers on frozen embeddings and imbalanced labels, and test them on balanced or natural nodes.

    Args:
        Z: embeddings (N, d), finite; rows are L2-normalised before anything else. Or several blocks by name, for
            example ``{"learned": Z, "own": X}``: each is normalised apart, and every named classifier chooses a weight
            for each block, 0 included, on the validation nodes. Your own classifiers see all blocks with weight 1.
        y: labels, integers or text; -1, ``None``, NaN, empty and the like for unlabelled nodes, which are not used. One
            per node, or by name, as in :func:`imgcl.evaluation.predict`.
        imbalance: law of the training labels, see :func:`imgcl.imbalance.make_splits`. The default is the paper's;
            ``"natural"`` with ``test="natural"`` is what the command ``imgcl evaluate`` does.
        classifier: a name of ``imgcl.evaluation.CLASSIFIERS``, ``ensemble`` (a linear model and trees,
            averaged), ``trees`` (boosting or a random forest, see :class:`imgcl.evaluation.TreesClassifier`), any
            classifier with scikit-learn's conventions, or a sequence of names, classifiers and pairs
            ``("name", classifier)``; without a name a classifier is called as its class. A clone of it is fitted to the
            training nodes of each split, on class numbers 0..K-1 in the order of the result's ``class_names``. A
            ``random_state`` that is ``None`` is set to one derived from ``random_state``, so that results repeat. Its
            settings are yours: validation nodes are not used.
        splits: how many splits to draw, or the splits themselves.
        random_state: seed of the splits, and of your classifiers where they leave theirs open.
        probe: how classifiers are fitted: ``batched``, ``sklearn`` or ``pygcl``.
        test: ``balanced``: test nodes as the splits have them, by default equally many of each class; ``natural``: the
            same classifiers are tested on the labelled nodes outside training and validation, thinned to the class
            shares of the graph, so that precision, AUPRC and Brier score are those of real use.
        ceiling: on how many of the splits the ceiling is computed (logistic regression with classes weighted alike,
            trained on every label outside the test set); 0 for none. One is enough to see what is left to gain and
            keeps it cheap. A natural test set leaves no labels for it.
        node_names: names of the nodes, for labels by name; by default those of ``graph``, or the index of ``Z``.
        class_names: names of classes 0, 1, ... for the result; by default the labels themselves.
        graph: of the nodes, for ``smooth``, ``pooled`` and ``self-train``, which look at the edges and embeddings of
            all nodes (:mod:`imgcl.evaluation.transductive`).
        protocol: splits as in groups of papers, ``imgcl``, ``step:10`` or ``igl:100`` and the like
            (:mod:`imgcl.imbalance.protocols`), in place of ``imbalance`` and ``test``; head and tail classes are then
            those with the most and the fewest training labels.
        **split_options: ``train_fraction``, ``val_per_class`` and ``test_per_class`` of
            :func:`imgcl.imbalance.make_splits`.

    Returns:
        The result; ``print`` it for a table.

    Raises:
        InputError: when embedding, labels, splits or names are wrong.

    Example:
        >>> import numpy as np
        >>> y = np.repeat(["common", "fair", "rare"], [300, 100, 50])
        >>> Z = np.random.default_rng(0).standard_normal((450, 8)) + 3 * (y[:, None] == np.unique(y)) @ np.eye(3, 8)
        >>> result = evaluate(Z, y, imbalance="exp:10", classifier=("plain", "reweight"), splits=3)
        >>> result["reweight", "tail"].mean > result["plain", "tail"].mean
        True
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> evaluate(Z, y, imbalance="exp:10", classifier=KNeighborsClassifier(), splits=3).classifiers
        ('KNeighborsClassifier',)
    """
    names = names_of(Z, graph.node_names if node_names is None and graph is not None else node_names)
    labels = encode_labels(ordered_labels(y, Z, names), class_names)
    blocks = Blocks.of(Z, len(labels.codes))
    chosen, fit, seed = choose_classifiers(classifier), resolve_probe(probe), as_seed(random_state)
    drawn, entry, sizes = protocol_splits(labels, protocol, imbalance, splits, seed, test, **split_options)
    x, codes = torch.from_numpy(blocks.rows), torch.from_numpy(labels.codes)
    tasks = [_task(x, codes, split.train, split.val, labels) for split in drawn]
    bench = Bench(tasks, fit, [WEIGHTINGS[name] for name in chosen if name in WEIGHTINGS])
    looking = [name for name, each in chosen.items() if isinstance(each, Transductive)]
    if looking and (graph is None or graph.n_nodes != len(labels.codes)):
        raise InputError(f"classifier {looking[0]!r} looks at the graph: give that of these nodes (`graph`)")
    scores = {}
    with stage("", sum(map(cost, chosen))):
        for name, each in chosen.items():
            with stage(name, weight=cost(name)):
                if isinstance(each, Transductive):
                    assert graph is not None
                    scores[name] = _score_transductive(each, graph, bench, blocks, labels, drawn)
                else:
                    scores[name] = _score(fit_classifier(each, bench, seed, blocks), x, labels, drawn)
    return EvaluationResult(
        scores=scores,
        class_names=labels.names,
        groups=class_groups(sizes),
        protocol={"imbalance": law_name(drawn, imbalance, splits), "probe": probe, **entry},
        ceiling=_ceiling(blocks, labels, drawn[:ceiling], seed) if ceiling and "test" not in entry else None,
        notes=(
            *missing_classes(labels, drawn, labels.names),
            *few_test_nodes(labels, drawn),
            *rarer_in_training(labels, drawn),
            *([f"transductive, with the edges and embeddings of all nodes: {', '.join(looking)}"] if looking else []),
        ),
    )


def protocol_splits(
    labels: Labels,
    protocol: str | Protocol | None,
    imbalance: Any,
    splits: int | Sequence[Split],
    seed: int,
    test: str,
    **options: Any,
) -> tuple[list[Split], dict[str, str], NDArray[Any]]:
    """The splits to evaluate on, the entries of the result's protocol, and the sizes that make head and tail classes.

    Raises:
        InputError: when a protocol is given together with what it decides.
    """
    if protocol is None:
        drawn = with_test(draw_splits(labels, imbalance, splits, seed, **options), labels, test, seed)
        return drawn, test_entry(test), labels.sizes
    chosen = parse_protocol(protocol)
    if not isinstance(splits, int | np.integer) or options or test != "balanced":
        raise InputError(
            f"protocol {chosen.name!r} decides which nodes train, validate and test: leave out test, given splits "
            "and options of splits"
        )
    drawn = chosen.draw(labels.codes, int(splits), seed, labels.names)
    sizes = np.mean([np.bincount(labels.codes[split.train], minlength=labels.n_classes) for split in drawn], axis=0)
    return drawn, {"protocol": chosen.name, **test_entry(chosen.test)}, sizes


def with_test(drawn: Sequence[Split], labels: Labels, test: str, seed: int) -> list[Split]:
    """The splits with the test nodes that were asked for."""
    if test not in TESTS:
        raise InputError(f"test is {test!r}{did_you_mean(test, TESTS)}")
    if test == "balanced":
        return list(drawn)
    return [natural_test(split, labels.codes, seed, i) for i, split in enumerate(drawn)]


def test_entry(test: str) -> dict[str, str]:
    """The entry of the protocol; without one, test nodes are as they always were."""
    return {} if test == "balanced" else {"test": test}


def draw_splits(
    labels: Labels, imbalance: Any, splits: int | Sequence[Split], random_state: RandomState, **options: Any
) -> list[Split]:
    """The splits to evaluate on: drawn, or the given ones after a check."""
    if isinstance(splits, int | np.integer):
        return make_splits(labels.codes, imbalance, int(splits), random_state, class_names=labels.names, **options)
    listed: Any = splits
    if not isinstance(listed, Iterable) or isinstance(listed, str):
        raise InputError(f"splits is {splits!r}: give a number of splits to draw, or a list of splits")
    given = list(listed)
    if not given or options:
        wrong = "splits is empty" if not given else f"{', '.join(options)} cannot be changed in splits that are given"
        raise InputError(f"{wrong}: give a number of splits to draw, or a list of splits")
    for i, split in enumerate(given):
        if not isinstance(split, Split):
            raise InputError(
                f"splits[{i}] is of type {type(split).__name__}: give imgcl.imbalance.Split(train, val, test)"
            )
        for part in ("train", "val", "test"):
            nodes = getattr(split, part)
            if not len(nodes):
                raise InputError(f"splits[{i}].{part} is empty: every split needs train, val and test nodes")
            if nodes.min() < 0 or nodes.max() >= len(labels.codes):
                raise InputError(f"splits[{i}].{part} has nodes outside 0..{len(labels.codes) - 1}")
            unlabelled = nodes[labels.codes[nodes] < 0]
            if len(unlabelled):
                raise InputError(f"splits[{i}].{part} has node {unlabelled[0]}, which has no label")
        if len(np.unique(labels.codes[split.train])) < 2:
            raise InputError(f"splits[{i}].train has a single class: a classifier needs at least two")
    return given


def law_name(drawn: Sequence[Split], imbalance: Any, splits: int | Sequence[Split]) -> str:
    """What to call the training labels' imbalance in the protocol."""
    sizes = drawn[0].sizes
    if sizes is not None:
        return str(sizes.imbalance)
    return str(imbalance) if isinstance(splits, int) else AS_GIVEN


def missing_classes(labels: Labels, drawn: Sequence[Split], names: Sequence[str]) -> tuple[str, ...]:
    """A note for each class that some split cannot train or test."""
    notes = []
    for part, consequence in (("train", "it is never predicted there"), ("test", "it is left out of means there")):
        present = np.stack([np.bincount(labels.codes[getattr(s, part)], minlength=labels.n_classes) for s in drawn])
        for k in np.flatnonzero((present == 0).any(axis=0)).tolist():
            where = int((present[:, k] == 0).sum())
            notes.append(f"class {names[k]!r} has no {part} node in {where} of {len(drawn)} splits: {consequence}")
    return tuple(notes)


def few_test_nodes(labels: Labels, drawn: Sequence[Split]) -> tuple[str, ...]:
    """A note on classes with fewer than five test nodes in some split."""
    tested = np.stack([np.bincount(labels.codes[split.test], minlength=labels.n_classes) for split in drawn])
    fewest = tested.min(axis=0)
    few = [f"{labels.names[k]!r} {fewest[k]}" for k in np.flatnonzero((fewest > 0) & (fewest < FEW))]
    if not few:
        return ()
    return (f"classes with under {FEW} test nodes ({', '.join(few)}): their figures say little; label more",)


def rarer_in_training(labels: Labels, drawn: Sequence[Split]) -> tuple[str, ...]:
    """A note where too few nodes of the rarest class were left for as many labels as its share."""
    if drawn[0].sizes is None or not drawn[0].sizes.imbalance.is_natural:
        return ()
    trained = np.sum([split.sizes.sizes for split in drawn if split.sizes is not None], axis=0)
    k = class_order(labels.sizes)[-1]
    share, own = trained[k] / trained.sum(), labels.sizes[k] / labels.sizes.sum()
    if share > ABOUT * own:
        return ()
    why = "equally many nodes of every class are set aside first, to validate and test"
    rarer = f"{100 * share:.1f} % of the training labels, {100 * own:.1f} % of all labels"
    return (f"class {labels.names[k]!r} has {rarer}: {why}",)


def score_predictions(
    probabilities: Sequence[Tensor | np.ndarray],
    labels: Labels,
    drawn: Sequence[Split],
    settings: Sequence[dict[str, float]],
) -> Scores:
    """Scores from class probabilities (test nodes, K) of each split, rows in the order of ``split.test``."""
    values = [np.asarray(p) for p in probabilities]
    return score_classes([Classified(p.argmax(axis=1), p) for p in values], labels, drawn, settings)


def score_classes(
    classified: Sequence[Classified], labels: Labels, drawn: Sequence[Split], settings: Sequence[dict[str, float]]
) -> Scores:
    """Scores from the classes of the test nodes of each split; no calibration error where there is no probability."""
    confusion, ece = [], []
    for found, split in zip(classified, drawn, strict=True):
        truth, p = labels.codes[split.test], found.probabilities
        confusion.append(confusion_matrix(truth, found.classes, labels.n_classes))
        ece.append(np.nan if p is None else expected_calibration_error(p, truth))
    cells = np.arange(len(drawn), dtype=np.int64)
    seeds, nodes, ranking = np.zeros_like(cells), fingerprints(labels, drawn), _ranking(classified, labels, drawn)
    return Scores(np.stack(confusion), np.array(ece), tuple(settings), seeds, cells, nodes, ranking)


def _ranking(classified: Sequence[Classified], labels: Labels, drawn: Sequence[Split]) -> dict[str, np.ndarray]:
    """Metrics of the ranking (splits, K); nothing where a split has no probabilities."""
    pairs = [(found.probabilities, labels.codes[split.test]) for found, split in zip(classified, drawn, strict=True)]
    values = [ranking_metrics(p, truth) for p, truth in pairs if p is not None]
    if len(values) < len(pairs):
        return {}
    return {name: np.stack([each[name] for each in values]).round(DIGITS) for name in RANKING}


def _score(models: Sequence[Model], x: Tensor, labels: Labels, drawn: Sequence[Split]) -> Scores:
    classified = [model.classify(x[np.array(split.test)]) for model, split in zip(models, drawn, strict=True)]
    return score_classes(classified, labels, drawn, [model.setting for model in models])


def _score_transductive(
    classifier: Transductive, graph: Graph, bench: Bench, blocks: Blocks, labels: Labels, drawn: Sequence[Split]
) -> Scores:
    train, val = [split.train for split in drawn], [split.val for split in drawn]
    models = classifier.fit(graph, bench, blocks, train, val)
    classified = [model.classify(split.test) for model, split in zip(models, drawn, strict=True)]
    return score_classes(classified, labels, drawn, [model.setting for model in models])


def _task(x: Tensor, codes: Tensor, train: np.ndarray, val: np.ndarray, labels: Labels) -> Task:
    train, val = np.array(train), np.array(val)  # splits are read-only, torch wants writable
    return Task(x[train], codes[train], x[val], codes[val], labels.n_classes)


def _ceiling(blocks: Blocks, labels: Labels, drawn: Sequence[Split], seed: int) -> Scores:
    return _score(ceiling_models(blocks, labels, drawn, seed), torch.from_numpy(blocks.rows), labels, drawn)
