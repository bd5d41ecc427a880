"""What a user should know of an import: where features are not what the tables seem to say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from imgcl.data.importing.shapes import UNEQUAL

if TYPE_CHECKING:
    from imgcl.data.importing.tables import ImportReport

UNUSUAL = (0.05, 20.0)  # mean weights outside drown a node in its neighbours, or its neighbours in it


def remarks(report: ImportReport) -> Iterator[str]:
    """What was cut, looks like numbers, is new or drowns something else: a sentence each."""
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
    yield from _remarks_on_shapes(report)
    if report.weights is not None and not UNUSUAL[0] <= report.weights[2] <= UNUSUAL[1]:
        yield (
            f"edges weigh {report.weights[2]:.3g} in the mean, and a node's own features 1 beside its neighbours': "
            "scale the weights to a mean of about 1 (docs: own_graph, weights)"
        )


def _remarks_on_shapes(report: ImportReport) -> Iterator[str]:
    """Columns that outweigh the others by their scale, and columns of which a few nodes outweigh all others."""
    sizes = {column: shape.size for column, shape in report.shapes.items()}
    least = min([*sizes.values(), *([1.0] if report.features > len(sizes) else [])], default=1.0)  # of a category 1
    largest = max(sizes, key=lambda column: sizes[column], default="")
    if not report.standardised and sizes and sizes[largest] >= UNEQUAL * least:
        yield (
            f"features differ in scale: column {largest!r} has numbers of about {sizes[largest]:,.4g}, others of "
            f"{least:,.4g} or less; an embedding follows the large ones alone: use `standardise=True`"
        )
    heavy = [column for column, shape in report.shapes.items() if shape.heavy]
    if heavy:
        names = "column has" if len(heavy) == 1 else "columns have"
        yield (
            f"{len(heavy)} {names} a few values far larger than all others, and those few nodes outweigh the rest: "
            f"take logarithms with `log='{','.join(heavy)}'`"
        )
