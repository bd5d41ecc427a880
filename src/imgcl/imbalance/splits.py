"""Training, validation and test nodes: index arrays that depend on a seed and a number only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError
from imgcl._core.seeding import RandomState, as_seed, generator
from imgcl._core.unlabelled import label_array
from imgcl.graph.checks import check_labels
from imgcl.imbalance.laws import Imbalance, parse_imbalance
from imgcl.imbalance.sizes import ClassSizes, class_order, law_sizes, natural_sizes, report_caps

Ints = NDArray[np.int64]
NICE = (1, 1.5, 2, 3, 5, 7)  # times a power of ten: the numbers of test nodes per class that people choose


@dataclass(frozen=True, eq=False)
class Split:
    """Three disjoint sets of nodes, each sorted.

    Attributes:
        train: nodes whose labels train the classifier.
        val: nodes that choose its settings.
        test: nodes that measure it.
        sizes: training labels per class and the law they follow; ``None`` for splits without a law.
    """

    train: Ints
    val: Ints
    test: Ints
    sizes: ClassSizes | None = None

    def __post_init__(self) -> None:
        for name in ("train", "val", "test"):
            array = np.sort(_node_numbers(name, getattr(self, name)))
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        nodes, times = np.unique(np.concatenate([self.train, self.val, self.test]), return_counts=True)
        if len(nodes) and times.max() > 1:
            raise InputError(
                f"node {int(nodes[times.argmax()])} is in the split more than once: the sets must not overlap"
            )

    def __repr__(self) -> str:
        law = "" if self.sizes is None else f", imbalance={str(self.sizes.imbalance)!r}"
        return f"Split(train={len(self.train)}, val={len(self.val)}, test={len(self.test)}{law})"


def _node_numbers(name: str, given: ArrayLike) -> Ints:
    """Node numbers of one part; what numpy would turn into other nodes without a word is refused."""
    array = np.asarray(given)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}: a split has a list of node numbers")
    if array.dtype == np.bool_:
        raise InputError(f"{name} is a mask: give the numbers of the nodes, numpy.flatnonzero({name})")
    if not np.issubdtype(array.dtype, np.integer) and len(array):
        raise InputError(f"{name} has values of type {array.dtype}: node numbers are integers")
    if len(array) and array.min() < 0:
        raise InputError(f"{name} has node {int(array.min())}: nodes are numbered from 0")
    return array.astype(np.int64)


def make_splits(
    y: ArrayLike,
    imbalance: str | Sequence[float] | Callable[[int], Sequence[float]] | Imbalance = "exp:100",
    splits: int = 20,
    random_state: RandomState = 0,
    train_fraction: float = 0.1,
    val_per_class: int | None = None,
    test_per_class: int | None = None,
    class_names: Sequence[str] | None = None,
) -> list[Split]:
    """Splits with balanced validation and test sets and training labels that follow a law of imbalance.

    Validation and test take the same number of nodes from every class first; ``train_fraction`` of the labelled nodes
    are then drawn from the rest, class by class as the law says. Split i depends on ``random_state`` and i alone;
    its validation and test nodes are the same under every law, so laws can be compared pairwise.

    Args:
        y: labels, -1 for unlabelled nodes, which are never drawn.
        imbalance: see :func:`imgcl.imbalance.parse_imbalance`; class sizes of the graph decide which class is which.
        splits: how many.
        random_state: the seed, or what :func:`imgcl._core.seeding.as_seed` makes one of.
        train_fraction: training labels as a share of all labelled nodes, unless the law has a number of its own.
        val_per_class: validation nodes per class; by default 10 % of ``test_per_class``, at least 1.
        test_per_class: test nodes per class; by default see :func:`default_test_per_class`.
        class_names: names of classes 0, 1, ... for messages.

    Returns:
        The splits; ``split.sizes`` says how many labels each class got and where the law had to be capped
        (which is logged as well).

    Raises:
        InputError: when there are no labels, fewer than two classes, a class that is too small, or a total that
            cannot be met.

    Example:
        >>> import numpy as np
        >>> y = np.repeat([0, 1, 2], [500, 300, 200])
        >>> first, second = make_splits(y, "exp:10", splits=2)
        >>> first
        Split(train=100, val=45, test=450, imbalance='exp:10')
        >>> first.sizes.sizes
        (71, 22, 7)
    """
    seed, law = as_seed(random_state), parse_imbalance(imbalance)
    labels = check_labelled(y, class_names)
    counts = np.bincount(labels[labels >= 0])
    _check_whole("splits", splits)
    if not 0 < train_fraction < 1:
        raise InputError(f"train_fraction is {train_fraction}: it must be between 0 and 1")
    val, test = _per_class(counts, val_per_class, test_per_class, class_names)
    total = law.total(int(counts.sum()), int((counts > 0).sum()), train_fraction)
    available = np.maximum(counts - val - test, 0)
    fixed = None if law.is_natural else law_sizes(law, total, counts, available)
    if fixed is not None:
        report_caps(fixed, "training labels")

    made = []
    for i in range(splits):
        rng = generator(seed, "split", i)
        nodes, starts = shuffled_by_class(labels, len(counts), rng)
        sizes = fixed or natural_sizes(law, total, counts, available, rng)
        parts: list[list[Ints]] = [[], [], []]
        for k in sizes.order:
            cuts = np.cumsum([starts[k], val, test, sizes.sizes[k]])
            for part, (start, stop) in zip(parts, pairwise(cuts), strict=True):
                part.append(nodes[start:stop])
        val_nodes, test_nodes, train_nodes = (np.concatenate(part) for part in parts)
        made.append(Split(train_nodes, val_nodes, test_nodes, sizes))
    return made


def random_splits(
    y: ArrayLike, train: float = 0.1, val: float = 0.1, splits: int = 20, random_state: RandomState = 0
) -> list[Split]:
    """Ordinary random splits of the labelled nodes, by default 10 % / 10 % / 80 %.

    Example:
        >>> random_splits([0, 1] * 50, splits=1)
        [Split(train=10, val=10, test=80)]
    """
    labels = check_labelled(y)
    _check_whole("splits", splits)
    labelled = np.flatnonzero(labels >= 0)
    if not (0 < train < 1 and 0 < val < 1):
        raise InputError(f"train={train} and val={val} are shares of the labelled nodes: between 0 and 1")
    n_train, n_val = round(train * len(labelled)), round(val * len(labelled))
    if not (n_train >= 1 and n_val >= 1 and n_train + n_val < len(labelled)):
        raise InputError(
            f"train={train} and val={val} of {len(labelled)} labelled nodes: each set, test included, needs a node"
        )
    made, seed = [], as_seed(random_state)
    for i in range(splits):
        nodes = generator(seed, "random split", i).permutation(labelled)
        made.append(Split(nodes[:n_train], nodes[n_train : n_train + n_val], nodes[n_train + n_val :]))
    return made


def validation_split(split: Split, y: ArrayLike) -> Split:
    """The same training nodes; half of the validation nodes choose, the other half measure, test nodes are not there.

    Example:
        >>> y = np.repeat([0, 1], 100)
        >>> (split,) = make_splits(y, "exp:2", splits=1, val_per_class=10)
        >>> validation_split(split, y)
        Split(train=20, val=10, test=10, imbalance='exp:2')
    """
    classes = np.asarray(y)[split.val]
    first = np.zeros(len(split.val), dtype=np.bool_)
    for k in np.unique(classes):
        mine = np.flatnonzero(classes == k)
        first[mine[: max(1, len(mine) // 2)]] = True
    return Split(split.train, split.val[first], split.val[~first], split.sizes)


def natural_test(split: Split, y: ArrayLike, random_state: RandomState = 0, number: int = 0) -> Split:
    """The same training and validation nodes; tested on the others, with classes as common as in the graph.

    The labelled nodes outside training and validation are thinned, class by class, to the shares of all labelled nodes:
    as many as the scarcest class allows, at least one of each that is left.

    Args:
        split: whose test nodes are replaced.
        y: labels, -1 for unlabelled.
        random_state: the seed of the draw.
        number: of the split, so that splits draw differently.

    Example:
        >>> y = np.repeat([0, 1], [900, 100])
        >>> (split,) = make_splits(y, "step:1@4%", splits=1)  # 20 of each class train, 7 validate
        >>> np.bincount(y[natural_test(split, y).test]).tolist()
        [657, 73]
    """
    labels, rng = np.asarray(y), generator(as_seed(random_state), "natural test", number)
    rest = np.setdiff1d(np.flatnonzero(labels >= 0), np.concatenate([split.train, split.val]))
    counts, left = (np.bincount(labels[nodes], minlength=labels.max() + 1) for nodes in (labels >= 0, rest))
    share = (left[left > 0] / counts[left > 0]).min(initial=1.0)
    nodes, starts = shuffled_by_class(np.where(np.isin(np.arange(len(labels)), rest), labels, -1), len(counts), rng)
    sizes = np.minimum(left, np.maximum(1, np.floor(share * counts + 1e-9))).astype(np.int64)
    test = np.concatenate([nodes[start : start + size] for start, size in zip(starts, sizes, strict=True)])
    return Split(split.train, split.val, test, split.sizes)


def default_test_per_class(counts: ArrayLike) -> int:
    """Test nodes per class where the caller does not say.

    80 % of the smallest class, but no more than half of the mean class size (so that the largest classes of a balanced
    graph still fill a long-tailed training set), rounded down to 1, 1.5, 2, 3, 5 or 7 times a power of ten. This
    is our rule; on the paper's four graphs it gives the paper's numbers: 200, 200, 200 and 1500.

    Example:
        >>> default_test_per_class([1941, 1686, 915, 882, 823, 703, 369, 331])
        200
    """
    sizes = np.asarray(counts)
    sizes = sizes[sizes > 0]
    limit = min(0.8 * sizes.min(), 0.5 * sizes.mean())
    numbers = [int(step * 10**power) for power in range(10) for step in NICE if step * 10**power % 1 == 0]
    return max((number for number in numbers if number <= limit), default=1)


def _per_class(counts: Ints, val: int | None, test: int | None, class_names: Sequence[str] | None) -> tuple[int, int]:
    order = class_order(counts)
    smallest = int(order[-1])
    room = int(counts[smallest]) - 1  # one node must be left for training
    given = {name: value for name, value in (("val_per_class", val), ("test_per_class", test)) if value is not None}
    for name, value in given.items():
        _check_whole(name, value)
    chosen_test = default_test_per_class(counts) if test is None else test
    chosen_val = max(1, chosen_test // 10) if val is None else val
    if test is None:
        chosen_test = max(1, min(chosen_test, room - chosen_val))
    if chosen_val + chosen_test > room:
        lower = " and ".join(name for name, value in given.items() if value > 1)
        remedy = f"lower {lower}, label more" if room >= 2 else "a class needs at least 3 labelled nodes: label more"
        raise InputError(
            f"class {_called(smallest, class_names)} has {room + 1} labelled node{'s' if room else ''}, too few for "
            f"{chosen_val} validation, {chosen_test} test and at least 1 training node: {remedy}, "
            "or leave the class out (label -1)"
        )
    return chosen_val, chosen_test


def shuffled_by_class(labels: Ints, n_classes: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Labelled nodes in random order within each class, class after class, and where each class starts."""
    nodes = rng.permutation(np.flatnonzero(labels >= 0))
    nodes = nodes[np.argsort(labels[nodes], kind="stable")]
    starts = np.searchsorted(labels[nodes], np.arange(n_classes))
    return nodes, starts


def check_labelled(y: Any, class_names: Sequence[str] | None = None) -> Ints:
    """Labels as numbers, -1 for unlabelled; refused without two classes."""
    if y is None:
        raise InputError("there are no labels: splits need a class for at least some nodes")
    given = label_array(y)
    labels = check_labels(given, len(given) if given.ndim else 0)
    classes = np.unique(labels[labels >= 0])
    if not len(classes):
        raise InputError("there are no labels: every node is unlabelled (-1)")
    if len(classes) == 1:
        only = _called(int(classes[0]), class_names)
        raise InputError(f"every labelled node is of class {only}: a split needs at least two classes")
    return labels


def _called(k: int, class_names: Sequence[str] | None) -> str:
    """What a message calls class k."""
    return str(k) if class_names is None or k >= len(class_names) else repr(str(class_names[k]))


def _check_whole(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} is {value!r}: it must be a whole number, 1 or more")
