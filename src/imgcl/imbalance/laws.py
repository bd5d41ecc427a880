"""Laws of class imbalance: how many training labels each class should have, relative to the largest.

A law is one function ``law(n_classes, *parameters)`` that gives a positive weight per class, largest class first.

| written | weight of class k = 0..K-1 |
|---|---|
| `natural` | as sampled: classes are as common as in a simple random sample of all labelled nodes |
| `exp:r` | r^(-k/(K-1)): the largest class has r times the labels of the smallest |
| `pareto:a`, `pareto:a:lomax` | u_k^(-1/a) - 1, the quantiles of a Lomax distribution |
| `pareto:a:classic` | u_k^(-1/a), the quantiles of a Pareto distribution on [1, inf) |
| `pareto:a:rank` | (k+1)^(-1/a), the rank-size (Zipf) form of a Pareto tail |
| `step:r` | r for the first half of the classes (rounded up), 1 for the others |
| `5,3,1` or a list | as given |
| a callable | `callable(K)` returns the K weights |

The number of labels may follow: ``exp:100@1%`` of the labelled nodes, ``natural@5/class`` five times that of classes.

with u_k = (k + 0.5) / K. A smaller ``a`` is more imbalanced, in all three forms. The Pareto forms and `step` are this
project's reading: the paper gives no formula.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean

Floats = NDArray[np.float64]
NATURAL = "natural"


@dataclass(frozen=True)
class Imbalance:
    """A law of imbalance with its parameters; two of the same name are equal.

    Attributes:
        name: how it is written, for tables and files; :func:`parse_imbalance` reads it back (unless it is a callable).
        law: weights per class for a number of classes, or ``None`` for the natural imbalance.
        budget: number of training labels, as share of the labelled nodes; ``None``: the caller says.
        per_class: the same, as multiple of the number of classes.
    """

    name: str
    law: Callable[[int], Sequence[float] | Floats] | None = field(default=None, compare=False, repr=False)
    budget: float | None = None
    per_class: int | None = None

    @property
    def is_natural(self) -> bool:
        """Whether training nodes are simply sampled, whatever classes they have."""
        return self.law is None

    def total(self, n_labelled: int, n_classes: int, fraction: float) -> int:
        """Number of training labels: as the budget says, else a fraction of the labelled nodes.

        Example:
            >>> [parse_imbalance(text).total(2000, 8, 0.1) for text in ("exp:100", "exp:100@1%", "natural@5/class")]
            [200, 20, 40]
        """
        if self.per_class is not None:
            return self.per_class * n_classes
        return round((fraction if self.budget is None else self.budget) * n_labelled)

    def weights(self, n_classes: int) -> Floats:
        """Relative size of each class, largest class first; of the natural law there are none."""
        if self.law is None:
            raise InputError("the natural imbalance has no weights: it is what a random sample gives")
        try:
            weights = np.asarray(self.law(n_classes), dtype=np.float64)
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"imbalance {self.name!r} does not give a number per class: {error}") from None
        if weights.shape != (n_classes,):
            raise InputError(f"imbalance {self.name!r} has {weights.size} sizes but there are {n_classes} classes")
        if not np.isfinite(weights).all() or (weights <= 0).any():
            raise InputError(f"imbalance {self.name!r} gives {weights.tolist()}: sizes must be positive and finite")
        return weights

    def __str__(self) -> str:
        return self.name


def exponential(n_classes: int, ratio: float) -> Floats:
    """``ratio ** (-k / (K - 1))``: the sizes of long-tailed recognition."""
    _check_ratio("exp", ratio)
    return np.asarray(float(ratio) ** (-np.arange(n_classes) / max(1, n_classes - 1)))


def pareto(n_classes: int, shape: float, form: str = "lomax") -> Floats:
    """Quantiles (``lomax``, ``classic``) or rank-size rule (``rank``) of a Pareto tail with index ``shape``."""
    if not 0 < shape < np.inf:
        raise InputError(f"imbalance 'pareto' has shape {shape}: it must be above 0 (smaller is more imbalanced)")
    forms = ("lomax", "classic", "rank")
    if form not in forms:
        raise InputError(f"imbalance 'pareto' has no form {form!r}{did_you_mean(form, forms)}")
    k = np.arange(n_classes, dtype=np.float64)
    with np.errstate(over="ignore"):  # reported by Imbalance.weights
        if form == "rank":
            return np.asarray((k + 1) ** (-1 / shape))
        quantiles = ((k + 0.5) / n_classes) ** (-1 / shape)
        return np.asarray(quantiles - 1 if form == "lomax" else quantiles)


def step(n_classes: int, ratio: float) -> Floats:
    """``ratio`` for the larger half of the classes (rounded up), 1 for the others."""
    _check_ratio("step", ratio)
    return np.where(np.arange(n_classes) < n_classes - n_classes // 2, float(ratio), 1.0)


def _check_ratio(law: str, ratio: float) -> None:
    if not 1 <= ratio < np.inf:
        raise InputError(f"imbalance {law!r} has ratio {ratio:g}: it is largest over smallest class, so 1 or more")


LAWS: dict[str, Callable[..., Floats]] = {"exp": exponential, "pareto": pareto, "step": step}


def parse_imbalance(spec: str | Sequence[float] | Callable[[int], Sequence[float]] | Imbalance) -> Imbalance:
    """The law that ``spec`` describes.

    Args:
        spec: ``natural``, ``exp:r``, ``pareto:a[:form]``, ``step:r``, a list of relative class sizes (largest class
            first; also as text, ``5,3,1``), each with ``@1%`` or ``@5/class`` for the number of labels; a callable that
            returns such a list for a number of classes, or an :class:`Imbalance`.

    Raises:
        InputError: when there is no such law, or a parameter is out of range.

    Example:
        >>> parse_imbalance("exp:100").weights(3).tolist()
        [1.0, 0.1, 0.01]
        >>> str(parse_imbalance("pareto:2.0")), str(parse_imbalance([5, 3, 1]))
        ('pareto:2', '5,3,1')
    """
    if isinstance(spec, Imbalance):
        return spec
    if callable(spec):
        return Imbalance(f"callable:{getattr(spec, '__qualname__', type(spec).__name__)}", spec)
    if isinstance(spec, str):
        law, at, budget = spec.strip().lower().partition("@")
        return _with_budget(_parse_text(law), budget, spec) if at else _parse_text(law)
    if isinstance(spec, Mapping | Set):  # of a mapping the keys would be taken, of a set any order
        kind = type(spec).__name__
        raise InputError(f"imbalance is a {kind}: give a list of relative class sizes, largest class first")
    return _explicit(list(spec))


def _parse_text(text: str) -> Imbalance:
    name, *parameters = text.split(":")
    if text == NATURAL:
        return Imbalance(NATURAL)
    if "," in text:
        return _explicit([_number(part, text) for part in text.split(",")])
    if name not in LAWS or not parameters or len(parameters) > (2 if name == "pareto" else 1):
        known = [] if name in LAWS else [NATURAL, *LAWS]
        every = "write natural, exp:100, pareto:1, pareto:1:classic, step:10, or sizes like 5,3,1"
        raise InputError(f"unknown imbalance {text!r}{did_you_mean(name, known, every)}")
    value, forms = _number(parameters[0], text), parameters[1:]
    LAWS[name](2, value, *forms)  # complain about the parameters now, not when the first split is drawn
    shown = [name, _text(value), *(form for form in forms if form != "lomax")]
    return Imbalance(":".join(shown), partial(_with_parameters, LAWS[name], value, *forms))


def _with_budget(law: Imbalance, text: str, whole: str) -> Imbalance:
    """The law with a number of labels, ``1%`` or ``5/class``."""
    if text.endswith("%"):
        share = _number(text.removesuffix("%"), whole)
        if 0 < share < 100:
            return replace(law, name=f"{law.name}@{_text(share)}%", budget=share / 100)
    elif text.endswith("/class") and (number := text.removesuffix("/class")).isdecimal() and 0 < float(number) < 2**53:
        return replace(law, name=f"{law.name}@{int(number)}/class", per_class=int(number))
    raise InputError(f"imbalance {whole!r}: write the number of labels as 1% or 5/class, for example exp:100@1%")


def _with_parameters(law: Callable[..., Floats], value: float, *rest: str | int) -> Floats:
    """``law(n_classes, value, *forms)`` with ``n_classes`` coming last: a partial of it can be pickled."""
    *forms, n_classes = rest
    return law(n_classes, value, *forms)


def _explicit(sizes: Sequence[float]) -> Imbalance:
    try:
        values = tuple(float(size) for size in sizes)
    except (TypeError, ValueError):
        raise InputError(f"unknown imbalance {sizes!r}: a list must hold one positive number per class") from None
    law = Imbalance(",".join(map(_text, values)), partial(_as_given, values))
    law.weights(len(values))
    return law


def _as_given(values: tuple[float, ...], n_classes: int) -> Floats:
    return np.array(values)


def _number(text: str, whole: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"imbalance {whole!r}: {text!r} is not a number") from None


def _text(value: float) -> str:
    return repr(value).removesuffix(".0")
