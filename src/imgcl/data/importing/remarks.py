"""What a user should know of an import: where features are not what the tables seem to say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from imgcl.data.importing.tables import ImportReport

UNUSUAL = (0.05, 20.0)  # mean weights outside drown a node in its neighbours, or its neighbours in it


def remarks(report: ImportReport) -> Iterator[str]:
    """Text columns that were cut or look like numbers, new values, weights that drown something; a sentence each."""
    for column, values in report.limited.items():
        yield (
            f"column {column!r} is text with {values:,} different values: the most common ones are features, the "
            f"others share one ({column}=(other)); `most_values` says how many"
        )
    for column, value in report.numbers_as_text.items():
        yield (
            f"column {column!r} is text, though most of its values look like numbers ({value!r} is text): each value "
            "is a feature of its own; for numbers, leave such cells empty, or write them as numbers"
        )
    for column, unseen in report.unseen.items():
        yield (
            f"column {column!r}: {unseen.nodes:,} nodes have a value that the earlier import did not have "
            f"({unseen.values:,} different, such as {unseen.example!r}); their features of this column are 0"
        )
    if report.weights is not None and not UNUSUAL[0] <= report.weights[2] <= UNUSUAL[1]:
        yield (
            f"edges weigh {report.weights[2]:.3g} in the mean, and a node's own features 1 beside its neighbours': "
            "scale the weights to a mean of about 1 (docs: own_graph, weights)"
        )
