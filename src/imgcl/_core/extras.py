"""Optional packages: a part that needs one says so before any work, with the command that installs it."""

from __future__ import annotations

from importlib.util import find_spec

from imgcl._core.errors import InputError

EXTRAS = {  # extra of this package: the module to look for, and the name of its package
    "pyg": ("torch_geometric", "torch_geometric"),
    "plots": ("matplotlib", "matplotlib"),
    "umap": ("umap", "umap-learn"),
    "communities": ("igraph", "igraph"),
    "tune": ("optuna", "Optuna"),
    "ray": ("ray", "Ray"),
    "tensorboard": ("tensorboard", "tensorboard"),
    "mlflow": ("mlflow", "mlflow"),
}


def need(extra: str, what: str) -> None:
    """Raise an error if the package of an extra is not installed; nothing is imported.

    Args:
        extra: a name of :data:`EXTRAS`.
        what: the part that needs it, as the subject of the message.

    Example:
        >>> need("plots", "the plot")  # no error: matplotlib is installed here
    """
    if find_spec(EXTRAS[extra][0]) is None:
        raise missing(extra, what)


def missing(extra: str, what: str) -> InputError:
    """The error of a part whose package is not installed, or not whole."""
    return InputError(f"{what} needs {EXTRAS[extra][1]}, which is not installed: pip install 'imgcl[{extra}]'")
