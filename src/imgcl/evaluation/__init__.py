"""Linear evaluation that can be trusted: probes, classifiers for imbalanced labels, metrics, intervals, comparisons."""

from imgcl.evaluation.alignment import align_labels
from imgcl.evaluation.blocks import Blocks
from imgcl.evaluation.calibration import Calibration, fit_calibration, reliability
from imgcl.evaluation.comparison import Effects, attribution, compare
from imgcl.evaluation.decisions import Decision, Rule, choose_decision, parse_rule
from imgcl.evaluation.explanation import Feature, Neighbour, Reasons, explain, reasons_frame
from imgcl.evaluation.fitting import fit_scorer
from imgcl.evaluation.groups import Groups, class_groups
from imgcl.evaluation.intervals import Estimate, estimate
from imgcl.evaluation.names import CLASSIFIERS
from imgcl.evaluation.prediction import predict, read_labels
from imgcl.evaluation.priors import PRIORS, Prior, estimate_prior, natural_prior, parse_prior, shift_prior
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
from imgcl.evaluation.references import References, evaluate_references
from imgcl.evaluation.results import EvaluationResult, Scores, combine
from imgcl.evaluation.scorer import FittedScorer
from imgcl.evaluation.tracing import FeatureSource
from imgcl.evaluation.trees import TreesClassifier

__all__ = [
    "CLASSIFIERS",
    "PRIORS",
    "PROBES",
    "RANKING",
    "Blocks",
    "Calibration",
    "Decision",
    "Effects",
    "Estimate",
    "EvaluationResult",
    "Feature",
    "FeatureSource",
    "FittedScorer",
    "Groups",
    "Neighbour",
    "Prior",
    "Reasons",
    "References",
    "Rule",
    "Scores",
    "TreesClassifier",
    "align_labels",
    "attribution",
    "auroc",
    "average_precision",
    "brier_score",
    "choose_decision",
    "class_groups",
    "combine",
    "compare",
    "estimate",
    "estimate_prior",
    "evaluate",
    "evaluate_references",
    "explain",
    "fit_calibration",
    "fit_scorer",
    "lift_at",
    "natural_prior",
    "parse_prior",
    "parse_rule",
    "precision_at",
    "predict",
    "ranking_metrics",
    "read_labels",
    "reasons_frame",
    "recall_at",
    "reliability",
    "shift_prior",
]
