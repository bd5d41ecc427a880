"""Which nodes are labelled: laws of class imbalance, splits that follow them, and how far they reach into the graph."""

from imgcl.imbalance.laws import LAWS, Imbalance, parse_imbalance
from imgcl.imbalance.periods import Period, time_splits
from imgcl.imbalance.protocols import PROTOCOLS, Protocol, parse_protocol
from imgcl.imbalance.scopes import SCOPES, ScopedGraph, apply_scope
from imgcl.imbalance.sizes import Cap, ClassSizes, class_order, law_sizes
from imgcl.imbalance.splits import (
    Split,
    default_test_per_class,
    make_splits,
    natural_test,
    random_splits,
    validation_split,
)

__all__ = [
    "LAWS",
    "PROTOCOLS",
    "SCOPES",
    "Cap",
    "ClassSizes",
    "Imbalance",
    "Period",
    "Protocol",
    "ScopedGraph",
    "Split",
    "apply_scope",
    "class_order",
    "default_test_per_class",
    "law_sizes",
    "make_splits",
    "natural_test",
    "parse_imbalance",
    "parse_protocol",
    "random_splits",
    "time_splits",
    "validation_split",
]
