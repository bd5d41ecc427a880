"""Supervised networks for imbalanced labels: one trainer, losses, and one file for each baseline."""

from collections.abc import Callable

from imgcl.baselines.supervised.losses import LOSSES
from imgcl.baselines.supervised.plain import gcn, sage, supervised
from imgcl.baselines.supervised.recipe import Added, Recipe, Task
from imgcl.baselines.supervised.renode import ReNode
from imgcl.baselines.supervised.trainer import train

RECIPES: dict[str, tuple[str, Callable[..., Recipe]]] = {
    "renode": ("ReNode", ReNode),
}
"""Title and recipe of every supervised baseline that is more than a loss."""

__all__ = ["LOSSES", "RECIPES", "Added", "Recipe", "Task", "gcn", "sage", "supervised", "train"]
