"""Find rare classes in graphs: node embeddings without labels, which nodes to label, probabilities, decisions.

The names below are the public interface. They and the packages (``imgcl.evaluation``, ...) are loaded when first used,
so that ``import imgcl`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from imgcl._core.providers import PROVIDERS
from imgcl._core.version import __version__

PROVIDERS["Graph.from_frames"] = "imgcl.data.importing:from_frames"
PROVIDERS["Run.to_pyg"] = "imgcl.training.loading:load_pyg"

if TYPE_CHECKING:
    from imgcl._core.errors import (
        DataNotFoundError,
        GraphError,
        ImgclError,
        InputError,
        RunError,
        StoppedError,
        TrainingError,
    )
    from imgcl.balance import BalancedSelector, BalanceSettings
    from imgcl.data import load_graph
    from imgcl.evaluation import evaluate
    from imgcl.graph import Graph
    from imgcl.labelling import suggest
    from imgcl.training.classifier import ImGCLClassifier
    from imgcl.training.estimator import ImGCL

_HOMES = {
    "BalanceSettings": "imgcl.balance",
    "BalancedSelector": "imgcl.balance",
    "Graph": "imgcl.graph",
    "ImGCL": "imgcl.training.estimator",
    "ImGCLClassifier": "imgcl.training.classifier",
    "DataNotFoundError": "imgcl._core.errors",
    "GraphError": "imgcl._core.errors",
    "ImgclError": "imgcl._core.errors",
    "InputError": "imgcl._core.errors",
    "RunError": "imgcl._core.errors",
    "StoppedError": "imgcl._core.errors",
    "TrainingError": "imgcl._core.errors",
    "evaluate": "imgcl.evaluation",
    "load_graph": "imgcl.data",
    "suggest": "imgcl.labelling",
}
_PACKAGES = (
    *("balance", "baselines", "data", "encoders", "evaluation", "graph", "imbalance", "labelling", "losses"),
    *("methods", "plots", "report", "studies", "training", "views"),
)

__all__ = [
    "BalanceSettings",
    "BalancedSelector",
    "DataNotFoundError",
    "Graph",
    "GraphError",
    "ImGCL",
    "ImGCLClassifier",
    "ImgclError",
    "InputError",
    "RunError",
    "StoppedError",
    "TrainingError",
    "__version__",
    "evaluate",
    "load_graph",
    "suggest",
]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"imgcl.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'imgcl' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
