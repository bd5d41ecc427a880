"""Linear evaluation that can be trusted: probes, classifiers for imbalanced labels, metrics, intervals, comparisons."""

import sys
from types import ModuleType
from typing import Any

from imgcl.evaluate.comparison import Effects, attribution, compare
from imgcl.evaluate.groups import Groups, class_groups
from imgcl.evaluate.intervals import Estimate, estimate
from imgcl.evaluate.names import CLASSIFIERS
from imgcl.evaluate.prediction import align_labels, predict, read_labels
from imgcl.evaluate.probes import PROBES
from imgcl.evaluate.protocol import evaluate
from imgcl.evaluate.results import EvaluationResult, Scores, combine

__all__ = [
    "CLASSIFIERS",
    "PROBES",
    "Effects",
    "Estimate",
    "EvaluationResult",
    "Groups",
    "Scores",
    "align_labels",
    "attribution",
    "class_groups",
    "combine",
    "compare",
    "estimate",
    "evaluate",
    "predict",
    "read_labels",
]


class _Callable(ModuleType):
    """``imgcl.evaluate`` is this package and, for the user, a function: so the package can be called."""

    def __call__(self, *args: Any, **kwargs: Any) -> EvaluationResult:
        return evaluate(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
