"""Linear evaluation that can be trusted: probes, classifiers for imbalanced labels, metrics, intervals, comparisons."""

from imgcl.evaluation.blocks import Blocks
from imgcl.evaluation.comparison import Effects, attribution, compare
from imgcl.evaluation.groups import Groups, class_groups
from imgcl.evaluation.intervals import Estimate, estimate
from imgcl.evaluation.names import CLASSIFIERS
from imgcl.evaluation.prediction import align_labels, predict, read_labels
from imgcl.evaluation.probes import PROBES
from imgcl.evaluation.protocol import evaluate
from imgcl.evaluation.ranking import (
    RANKING,
    auroc,
    average_precision,
    brier_score,
    lift_at,
    precision_at,
    ranking_metrics,
    recall_at,
)
from imgcl.evaluation.results import EvaluationResult, Scores, combine
from imgcl.evaluation.trees import TreesClassifier

__all__ = [
    "CLASSIFIERS",
    "PROBES",
    "RANKING",
    "Blocks",
    "Effects",
    "Estimate",
    "EvaluationResult",
    "Groups",
    "Scores",
    "TreesClassifier",
    "align_labels",
    "attribution",
    "auroc",
    "average_precision",
    "brier_score",
    "class_groups",
    "combine",
    "compare",
    "estimate",
    "evaluate",
    "lift_at",
    "precision_at",
    "predict",
    "ranking_metrics",
    "read_labels",
    "recall_at",
]
