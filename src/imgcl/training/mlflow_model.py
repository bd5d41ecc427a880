"""Scorers as MLflow models: a scorer directory, with this module as the loader of MLflow's ``python_function`` flavour.

MLflow pickles a Python object unless a model names its loader. Here it does: what is logged is the directory that
``imgcl predict --save`` writes, arrays and JSON with checksums, and nothing of it is unpickled when it is loaded.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imgcl._core.errors import InputError
from imgcl._core.extras import need
from imgcl._core.version import __version__
from imgcl.graph import Graph
from imgcl.training.scoring import GraphScorer

if TYPE_CHECKING:
    import pandas as pd

COLUMN = "graph"  # of a table that names the graph to score


def log_model(model: Any, name: str = "model", **options: Any) -> Any:
    """Log a scorer to the active MLflow run, or to a new one.

    ``mlflow.pyfunc.load_model(info.model_uri).predict(graph)`` then gives the table of :meth:`GraphScorer.score`; see
    :class:`ScorerModel` for what stands for a graph there.

    Args:
        model: a fitted :class:`imgcl.ImGCLClassifier`, a :class:`~imgcl.training.scoring.GraphScorer`, or the path of a
            scorer directory.
        name: of the model.
        **options: others of ``mlflow.pyfunc.log_model``, such as ``registered_model_name``.

    Returns:
        MLflow's ``ModelInfo``.

    Raises:
        InputError: when MLflow is not installed, or the classifier cannot be saved without pickle.
    """
    with _described(model, options) as described:
        import mlflow.pyfunc

        return mlflow.pyfunc.log_model(name=name, **described)


def save_model(model: Any, path: str | Path, **options: Any) -> None:
    """Write a scorer as an MLflow model directory; parameters as in :func:`log_model`."""
    with _described(model, options) as described:
        import mlflow.pyfunc

        mlflow.pyfunc.save_model(path=str(path), **described)


@contextmanager
def _described(model: Any, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What MLflow is told about a model, while its directory is there."""
    need("mlflow", "log_model")
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "scorer"
        if not isinstance(model, str | Path):
            _scorer_of(model).save(directory)
        elif (Path(model) / "scorer.json").is_file():
            directory = Path(model)
        else:
            raise InputError(f"{model} is not a scorer directory: give one that `GraphScorer.save` has written")
        ours = {"loader_module": __name__, "data_path": str(directory), "pip_requirements": [f"imgcl=={__version__}"]}
        yield {**ours, **options}


def _scorer_of(model: Any) -> GraphScorer:
    found = getattr(model, "scorer_", model)
    if not isinstance(found, GraphScorer):
        raise InputError(f"model is {model!r}: give a fitted ImGCLClassifier, a GraphScorer, or a scorer directory")
    return found


class ScorerModel:
    """What MLflow's ``load_model`` wraps.

    Args:
        scorer: the scorer.
    """

    def __init__(self, scorer: GraphScorer) -> None:
        self.scorer = scorer

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """Class, probabilities and rank of every node of a graph.

        Args:
            model_input: a graph, or anything ``load_graph`` takes; a mapping with the arguments of
                ``Graph.from_frames``; or a table with one row, whose column ``graph`` is the path or name of a graph,
                which is what a scoring server can send.
            params: none are used.
        """
        return self.scorer.score(_graph(model_input))


def _graph(model_input: Any) -> Any:
    if isinstance(model_input, Mapping):
        return Graph.from_frames(**model_input)
    if not hasattr(model_input, "columns"):
        return model_input
    if COLUMN not in model_input.columns or len(model_input) != 1:
        raise InputError(
            f"the table of {len(model_input)} rows is not a graph: give one row with the path of a graph in the column "
            f"{COLUMN!r}, or nodes and edges as a mapping"
        )
    return str(model_input[COLUMN].iloc[0])


def _load_pyfunc(path: str) -> ScorerModel:
    """What MLflow calls to load a model that names this module as its loader."""
    return ScorerModel(GraphScorer.load(path))
