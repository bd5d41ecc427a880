"""``imgcl.ImGCLClassifier``: from a graph with some labels to classes and probabilities, as in scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError

from imgcl._core.errors import InputError
from imgcl._core.progress import verbose as shown
from imgcl._core.seeding import RandomState, as_seed
from imgcl._core.unlabelled import are_numbers, as_text, label_array, labelled, whole_numbers
from imgcl.evaluation import fit_scorer
from imgcl.evaluation.alignment import is_by_name, ordered_labels
from imgcl.evaluation.fitting import read_task
from imgcl.evaluation.scorer import log_odds
from imgcl.graph import Graph
from imgcl.training.estimator import ImGCL, _parameters, named_features
from imgcl.training.folds import GraphNodes
from imgcl.training.record import GraphRecord
from imgcl.training.scoring import GraphScorer

Blocks = dict[str, NDArray[np.float32]]
Content = tuple[str, tuple[str, ...] | None]


class ImGCLClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify the nodes of a graph: pre-training without labels, then a calibrated classifier on the labels there are.

    Where data is expected it takes a graph, anything ``load_graph`` takes, or
    :class:`~imgcl.training.folds.GraphNodes`: some nodes of a graph. Nodes that are not among them are unlabelled for
    the fit, and present. With :class:`~imgcl.training.folds.LabelledFolds` as splitter it works in ``GridSearchCV``.

    Args:
        embedding: how nodes are embedded: an :class:`imgcl.ImGCL`, of which a clone is fitted (by default one with
            default settings), or the directory of a finished run, which is used as it is: nothing is trained then.
        classifier: as in :func:`imgcl.evaluation.predict`: a name, or a classifier of scikit-learn.
        prior: class shares of the nodes that are scored, see :func:`imgcl.evaluation.predict`.
        decision: how probabilities become classes, see :mod:`imgcl.evaluation.decisions`.
        random_state: seed of the folds on which settings, calibration and decision are chosen.
        verbose: as in :class:`imgcl.ImGCL`, for the pre-training and the classifier.

    Attributes:
        classes_: the classes, sorted.
        n_features_in_: width of the features.
        feature_names_in_: names of the features, if the fitted graph has them.
        scorer_: the encoder with all that was fitted, a :class:`~imgcl.training.scoring.GraphScorer`.

    Example:
        >>> import imgcl
        >>> graph = imgcl.load_graph("synthetic", class_sizes=[60, 20], seed=1)
        >>> labels = [int(k) if node % 2 else -1 for node, k in enumerate(graph.y)]
        >>> embedding = imgcl.ImGCL(n_clusters=2, epochs=5, settings={"dim": 8})
        >>> model = imgcl.ImGCLClassifier(embedding, decision="balanced").fit(graph, labels)
        >>> model.predict_proba(graph).shape, model.score(graph, graph.y) > 0.6
        ((80, 2), True)
    """

    def __init__(
        self,
        embedding: ImGCL | str | Path | None = None,
        *,
        classifier: Any = "ensemble",
        prior: Any = "natural",
        decision: str = "argmax",
        random_state: RandomState = 0,
        verbose: int = 0,
    ) -> None:
        self.embedding = embedding
        self.classifier = classifier
        self.prior = prior
        self.decision = decision
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, verbose: int | None = None) -> ImGCLClassifier:
        """Pre-train on the graph, and fit the classifier to the labels.

        Args:
            X: a graph, or some of its nodes.
            y: one label per node of ``X``; -1, ``None``, NaN, empty and the like for unlabelled. Or by name, as a
                mapping or a pandas ``Series``, see :func:`imgcl.evaluation.predict`. By default the graph's labels.
            verbose: in place of the parameter of that name, for this fit.
        """
        with shown(self.verbose if verbose is None else verbose):
            return self._fit(X, y)

    def _fit(self, X: Any, y: Any) -> ImGCLClassifier:
        nodes = GraphNodes.of(X)
        labels, class_names = _labels(nodes, y)
        read_task(labels, self.classifier, self.prior, self.decision, class_names)  # before a long pre-training
        seed = as_seed(self.random_state)
        embedding = self._embedded(nodes)
        blocks = _blocks_of(embedding, nodes)
        scorer = fit_scorer(
            blocks,
            labels,
            self.classifier,
            prior=self.prior,
            decision=self.decision,
            class_names=class_names,
            random_state=seed,
        )
        self.scorer_ = GraphScorer.of(embedding, scorer)
        self.classes_ = _classes(scorer.class_names, labels, named=class_names is not None)
        self.n_features_in_ = nodes.graph.n_features
        self._seen: tuple[Content, Blocks] | None = (_content(nodes.graph), blocks)
        return self

    def _embedded(self, nodes: GraphNodes) -> ImGCL:
        """The embedding, fitted: by now, or a run that was finished before."""
        if isinstance(self.embedding, str | Path):
            return ImGCL.load(self.embedding)
        if self.embedding is not None and not isinstance(self.embedding, ImGCL):
            raise InputError(f"embedding is {self.embedding!r}: give an imgcl.ImGCL, or the directory of a run")
        fresh: ImGCL = ImGCL() if self.embedding is None else clone(self.embedding)
        return fresh.fit(nodes.graph)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities (n, K) at the prior, columns as ``classes_``.

        Raises:
            InputError: when the classifier has none.
        """
        return self._fitted.scorer.probabilities(self._logits(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Log odds of every class (n, K), before calibration; of two classes those of the second (n,)."""
        odds = log_odds(self._logits(X))
        return odds[:, 1] if odds.shape[1] == 2 else odds

    def predict(self, X: Any) -> NDArray[Any]:
        """Classes by the decision rule."""
        scorer, blocks = self._fitted.scorer, self._blocks(X)
        return np.asarray(self.classes_[scorer.assigned(blocks, scorer.logits(blocks))])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean accuracy over the nodes that have a label; other nodes do not count.

        Args:
            X: as in :meth:`fit`.
            y: as in :meth:`fit`; by default the labels of the graph.
            sample_weight: one per node of ``X``.

        Raises:
            InputError: when no node has a label, or labels are numbers and the classes have names.
        """
        nodes = GraphNodes.of(X)
        truth, known = _truth(nodes, y, self.classes_)
        weights = np.ones(len(nodes)) if sample_weight is None else np.asarray(sample_weight)
        if weights.shape != nodes.shape:
            raise InputError(f"sample_weight has shape {weights.shape} but there are {len(nodes)} nodes: give one each")
        expected, found = _comparable(truth[known], self.predict(nodes)[known], self.classes_)
        return float(np.average(found == expected, weights=weights[known]))

    def save(self, path: str | Path) -> None:
        """Write a scorer directory, for :meth:`load` and ``imgcl score``: run, scorer and model card.

        Raises:
            InputError: when the directory is not empty, or the classifier cannot be saved without pickle.
        """
        self._fitted.save(path)

    @classmethod
    def load(cls, path: str | Path, *, device: str | None = "auto") -> ImGCLClassifier:
        """The fitted classifier of a scorer directory, of :meth:`save` or of ``imgcl predict --save``.

        Classes are text, or numbers where all names are, in ascending order. Nothing is unpickled.

        Raises:
            RunError: when it is none, or damaged.
        """
        loaded = GraphScorer.load(path, device=device)
        scorer = loaded.scorer
        model = cls(
            ImGCL(**_parameters(loaded.config), device=device),
            classifier=scorer.classifier,
            prior=_written(scorer.prior.source, dict(zip(scorer.class_names, scorer.prior.shares, strict=True))),
            decision=scorer.decision.rule,
        )
        model.scorer_, model._seen = loaded, None
        model.classes_ = _classes(scorer.class_names, None, named=not _are_ascending(scorer.class_names))
        model.n_features_in_ = loaded.encoder.method.n_features
        return model

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the features that the encoder was trained on; an ``AttributeError`` where there are none."""
        return named_features(self.scorer_.encoder)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "scorer_")

    @property
    def _fitted(self) -> GraphScorer:
        if not hasattr(self, "scorer_"):
            raise NotFittedError("this ImGCLClassifier is not fitted yet: call fit(graph, y) first")
        return self.scorer_

    def _logits(self, X: Any) -> NDArray[np.float64]:
        """Scores of some nodes, of a classifier that has them."""
        scorer = self._fitted.scorer
        logits = scorer.logits(self._blocks(X))
        if np.isnan(logits).any():
            raise InputError(f"classifier {scorer.classifier!r} gives no probabilities: use predict, or another one")
        return logits

    def _blocks(self, X: Any) -> Blocks:
        """The blocks of some nodes; those of the fitted graph are known."""
        nodes, fitted = GraphNodes.of(X), self._fitted
        known = self._seen is not None and self._seen[0] == _content(nodes.graph)
        blocks = self._seen[1] if known and self._seen is not None else fitted.blocks(nodes.graph)
        return {name: rows[nodes.nodes] for name, rows in blocks.items()}


def _content(graph: Graph | GraphRecord) -> Content:
    """What makes the blocks of a graph: its content, and which feature each column is."""
    return graph.fingerprint, None if graph.feature_names is None else tuple(graph.feature_names)


def _blocks_of(embedding: ImGCL, nodes: GraphNodes) -> Blocks:
    """The blocks of the whole graph."""
    if _content(embedding._record) == _content(nodes.graph) and len(embedding.embedding_) == nodes.graph.n_nodes:
        return embedding.blocks_
    return embedding.transform_blocks(nodes.graph)


def _labels(nodes: GraphNodes, y: Any) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """Labels of all nodes of the graph, unlabelled outside ``nodes``; names of the classes where the graph has some."""
    graph, names = nodes.graph, None
    if y is None:
        if graph.y is None:
            raise InputError("the graph has no labels: give some as y, -1 for unlabelled nodes")
        y, names = _sorted_classes(np.asarray(graph.y)[nodes.nodes], graph.class_names)
    if is_by_name(y):
        y = ordered_labels(y, nodes, nodes.names)
    given = _typed(label_array(y))
    if given.shape != nodes.shape:
        raise InputError(f"y has shape {given.shape} but there are {len(nodes)} nodes: give one label per node")
    numbers = given.dtype.kind in "iu"
    labels = np.full(graph.n_nodes, -1 if numbers else None, dtype=given.dtype if numbers else object)
    labels[nodes.nodes] = given
    return labels, names


def _sorted_classes(
    codes: NDArray[np.int64], names: Sequence[str] | None
) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
    """Class numbers in the order of the classes' names: scikit-learn's metrics expect sorted ``classes_``."""
    if names is None:
        return codes, None
    order = sorted(range(len(names)), key=lambda k: names[k])
    return np.append(np.argsort(order), -1)[codes], tuple(names[k] for k in order)


def _typed(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels that are whole numbers as integers, -1 for none: pandas makes floats of integers with gaps."""
    if labels.ndim != 1 or labels.dtype.kind not in "fO":
        return labels
    known = labelled(labels)
    if not are_numbers(labels, known) or _are_truth_values(labels[known]):
        return labels
    found = whole_numbers(labels, known)
    numbers = np.full(len(labels), -1, dtype=found.dtype)
    numbers[known] = found
    return numbers


def _are_truth_values(labels: NDArray[Any]) -> bool:
    return all(isinstance(value, bool | np.bool_) for value in labels.tolist())


def _classes(names: tuple[str, ...], labels: NDArray[Any] | None, *, named: bool) -> NDArray[Any]:
    """The classes as the labels have them: numbers and truth values where those are."""
    if not named and labels is not None and _are_truth_values(labels[labelled(labels)]):
        return np.array([name != "0" for name in names])
    if named or (labels is not None and labels.dtype.kind not in "iu"):
        return np.array(names, dtype=object)
    return np.array([int(name) for name in names])


def _are_ascending(names: Sequence[str]) -> bool:
    """Whether classes are called by numbers that ascend: ``classes_`` are sorted, and as text 10 comes before 9."""
    return all(map(str.isdecimal, names)) and sorted(names, key=int) == [*names]


def _truth(nodes: GraphNodes, y: Any, classes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The label of each node as a classifier with these classes means it, and which nodes have one."""
    own = None if y is not None or nodes.graph.y is None else np.asarray(nodes.graph.y)[nodes.nodes]
    labels = _labels(nodes, y if own is None else own)[0][nodes.nodes]
    known = labelled(labels)
    if not known.any():
        raise InputError("no node has a label: a score needs some")
    names = nodes.graph.class_names
    if labels.dtype.kind not in "iu" or _are_classes(classes, names, of_graph=own is not None):
        return labels, known
    if names is None or not (own is not None or _is_clear(names)):
        every = ", ".join(map(str, classes))
        raise InputError(f"y has numbers, and the classes are {every}: give labels by those names, as text")
    if labels.max() >= len(names):
        raise InputError(f"y has class {labels.max()}, but the graph has {len(names)} class names")
    return np.asarray(np.where(known, np.array(names, dtype=object)[labels], None)), known


def _are_classes(classes: NDArray[Any], names: Sequence[str] | None, *, of_graph: bool) -> bool:
    """Whether numbers among labels are classes themselves; the graph's own are places where classes have its names."""
    called = {as_text(each) for each in classes.tolist()}
    if names is None:
        return classes.dtype.kind in "iub" or all(map(str.isdecimal, called))
    return classes.dtype.kind in "iub" and not (of_graph and called <= {*names})


def _is_clear(names: Sequence[str]) -> bool:
    """Whether a number can only be a place among the names: of the classes 1 and 2, 1 is a place and a name."""
    return not any(map(str.isdecimal, names)) or [*names] == [str(k) for k in range(len(names))]


def _comparable(
    truth: NDArray[Any], found: NDArray[Any], classes: NDArray[Any]
) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    """Labels and predictions as text, for 1 and "1" are one class here; truth values may be written as 0 and 1."""
    known = {as_text(each) for each in classes.tolist()}
    same = {"False": "0", "True": "1"} if known in ({"False", "True"}, {"0", "1"}) else {}
    texts = [[same.get(text, text) for text in map(as_text, values.tolist())] for values in (truth, found)]
    if not {*texts[0]} & {same.get(text, text) for text in known}:
        raise InputError(
            f"y has no label of the classes {', '.join(map(str, classes))}: the first is {truth.tolist()[0]!r}"
        )
    return np.array(texts[0], dtype=object), np.array(texts[1], dtype=object)


def _written(source: str, shares: Mapping[str, float]) -> Any:
    """The parameter ``prior`` of a fitted one."""
    return {"given": dict(shares), "balanced": "balanced"}.get(source, "natural")
