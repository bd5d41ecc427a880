"""What a loss may be told about its rows, besides which they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from imgcl.losses.prototypes import prototype_contrast
from imgcl.losses.statistics import Statistics

Negatives = Literal["all", "other", "normalised"]


@dataclass(frozen=True, eq=False)
class RowHints:
    """Pseudo-classes of the rows of a loss and what to do with them; a method says in ``forms`` what it heeds.

    Attributes:
        classes: pseudo-class of every row.
        statistics: how rows count in means and covariances; ``None``: all alike.
        negatives: which rows are negatives, see :func:`imgcl.losses.class_info_nce`.
        prototypes: weight of the prototype contrast beside the method's own loss.
    """

    classes: Tensor
    statistics: Statistics | None = None
    negatives: Negatives = "all"
    prototypes: float = 0.0

    def with_prototypes(self, loss: Tensor, u: Tensor, v: Tensor) -> Tensor:
        """The loss of two views, and the prototype contrast of the same rows."""
        return loss if self.prototypes == 0 else loss + self.prototypes * prototype_contrast(u, v, self.classes)
