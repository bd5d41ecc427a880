"""Supervised networks for imbalanced labels: one trainer, losses, and one file for each baseline."""

from collections.abc import Callable

from imgcl.baselines.supervised.bat import BAT
from imgcl.baselines.supervised.double_balance import DoubleBalance, IceBerg
from imgcl.baselines.supervised.dpgnn import Prototypes
from imgcl.baselines.supervised.graphens import GraphENS
from imgcl.baselines.supervised.graphsha import GraphSHA
from imgcl.baselines.supervised.graphsmote import GraphSMOTE
from imgcl.baselines.supervised.imgagn import ImGAGN
from imgcl.baselines.supervised.losses import LOSSES
from imgcl.baselines.supervised.plain import gcn, sage, supervised
from imgcl.baselines.supervised.recipe import Added, Recipe, Task
from imgcl.baselines.supervised.renode import ReNode
from imgcl.baselines.supervised.trainer import train

RECIPES: dict[str, tuple[str, Callable[..., Recipe]]] = {
    "renode": ("ReNode", ReNode),
    "graphsmote": ("GraphSMOTE", GraphSMOTE),
    "imgagn": ("ImGAGN", ImGAGN),
    "dpgnn": ("DPGNN prototypes", Prototypes),
    "graphens": ("GraphENS", GraphENS),
    "graphsha": ("GraphSHA", GraphSHA),
    "bat": ("BAT", BAT),
    "double-balance": ("double balancing", DoubleBalance),
    "iceberg": ("IceBerg", IceBerg),
}
"""Title and recipe of every supervised baseline that is more than a loss."""

__all__ = ["LOSSES", "RECIPES", "Added", "Recipe", "Task", "gcn", "sage", "supervised", "train"]
