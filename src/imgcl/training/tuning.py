"""Tuning: settings of a method chosen on validation nodes, or without labels at all; resumable, never on test nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core import seeding
from imgcl._core.checksums import json_checksum
from imgcl._core.errors import ImgclError, InputError
from imgcl._core.extras import need
from imgcl._core.files import explain
from imgcl._core.progress import stage
from imgcl.evaluation.labels import normalise_rows
from imgcl.graph import Graph
from imgcl.imbalance import Split, make_splits, validation_split
from imgcl.methods import resolve_method
from imgcl.training import Trainer
from imgcl.training.estimator import make_config
from imgcl.training.settings import RunConfig

CLASSIFIER = "pbs"
SPLITS = 3
RANK_ROWS = 2000  # rows of the embedding that the label-free criterion looks at

# Ranges; a name counts when the method or the training has such a setting.
LOGARITHMIC = {"lr": (1e-4, 1e-2), "weight_decay": (1e-6, 1e-3), "tau": (0.1, 1.0)}
DROPS = ("edge_drop", "feature_mask", "edge_drop_1", "edge_drop_2", "feature_mask_1", "feature_mask_2")
SHARES = dict.fromkeys(DROPS, (0.0, 0.7))
CHOICES: dict[str, tuple[Any, ...]] = {"normalise": ("none", "row"), "dim": (64, 128, 256)}


@dataclass(frozen=True)
class Tuned:
    """What tuning found.

    Attributes:
        settings: of the best trial.
        value: its criterion.
        criterion: ``validation accuracy`` or ``effective rank``.
        trials: finished trials, those of earlier calls included.
    """

    settings: dict[str, Any]
    value: float
    criterion: str
    trials: int


def tune(
    graph: Graph,
    *,
    method: str = "gbt",
    trials: int = 50,
    balance: Any = "imgcl",
    imbalance: str = "exp:100",
    preset: str = "fast",
    epochs: int | None = None,
    storage: str | Path | None = None,
    random_state: seeding.RandomState = 0,
    on_trial: Callable[[int, float | None, Mapping[str, Any]], None] = lambda *_: None,
) -> Tuned:
    """Search settings of a method for a graph.

    With labels the criterion is the accuracy on balanced validation nodes of three splits (test nodes are not looked
    at); without, it is the effective rank of the embedding (RankMe), which needs no labels.

    Args:
        graph: the graph.
        method: name of the method.
        trials: number of trials in all; those in the storage count.
        balance: balance settings, ``None`` for the plain method.
        imbalance: law of the training labels.
        preset: settings that the search starts from.
        epochs: of each trial; by default the preset's.
        storage: file that keeps the trials, so that a later call with the same arguments goes on; ``None``: nothing is
            kept.
        random_state: seed of the search, the splits and the pre-trainings, or a numpy generator that gives one.
        on_trial: called after each trial with its number, value (``None``: it failed) and settings.

    Raises:
        InputError: when the storage cannot be used, or every trial failed.
    """
    optuna, seed = _optuna(), seeding.as_seed(random_state)
    fixed = {} if epochs is None else {"epochs": epochs}
    base = make_config(graph.name, method=method, preset=preset, balance=balance, overrides=fixed, seed=seed)
    criterion, score = _criterion(graph, imbalance, seed)
    names = search_space(method)
    # What the settings that are not searched were belongs to a trial: presets may change between versions.
    how = f"{method}/{criterion}/{imbalance}/{preset}/{seed}/{json_checksum(base.model_dump(mode='json'))}"
    with _storage_errors(storage, OSError, RuntimeError):  # no such place; a file of an older Optuna
        if storage is not None:
            Path(storage).parent.mkdir(parents=True, exist_ok=True)
        study = optuna.create_study(
            study_name=f"{graph.fingerprint}/{how}",
            storage=None if storage is None else f"sqlite:///{Path(storage).absolute()}",
            direction="maximize",
            load_if_exists=True,
        )

    def objective(trial: Any) -> float:
        chosen = {name: suggest(trial) for name, suggest in names.items()}
        overrides = {**fixed, **chosen}
        config = make_config(graph.name, method=method, preset=preset, balance=balance, overrides=overrides, seed=seed)
        with stage(f"trial {trial.number}", units=10):
            trainer = Trainer(config, graph)
            with stage("training", weight=9):
                trainer.train()
            return score(trainer.embed())

    def told(study: Any, trial: Any) -> None:
        on_trial(trial.number, trial.value, trial.params)

    with _storage_errors(storage):
        if not study.trials:  # the preset itself is the first trial
            study.enqueue_trial(_preset_values(base, names), skip_if_exists=True)
        done = sum(trial.state.is_finished() for trial in study.trials)
        study.sampler = optuna.samplers.TPESampler(seed=_sampler_seed(seed, done))
        with stage("", max(trials, done), unit="trial", done=done):
            study.optimize(objective, n_trials=max(0, trials - done), catch=(ImgclError,), callbacks=[told])
        complete = [trial for trial in study.trials if trial.value is not None]
        if not complete:
            raise InputError("every trial failed: try another method, or fewer settings (see the messages above)")
        return Tuned(study.best_params, float(study.best_value), criterion, len(complete))


def _sampler_seed(seed: int, done: int) -> int:
    """The seed of the search's draws; one that goes on must not draw the first settings again."""
    return seeding.derive(seed, "tune", *([done] if done else [])) % 2**32


def search_space(method: str) -> dict[str, Callable[[Any], Any]]:
    """How each setting of a method is drawn, by name.

    Example:
        >>> sorted(set(search_space("grace")) & {"lr", "tau", "dim"})
        ['dim', 'lr', 'tau']
    """
    known = {*resolve_method(method).Settings.model_fields, "lr", "weight_decay", "normalise"}
    space: dict[str, Callable[[Any], Any]] = {}
    for name, ends in LOGARITHMIC.items():
        space[name] = partial(_between, name, *ends, log=True)
    for name, ends in SHARES.items():
        space[name] = partial(_between, name, *ends, step=0.05)
    for name, values in CHOICES.items():
        space[name] = partial(_among, name, values)
    return {name: suggest for name, suggest in space.items() if name in known}


def _between(name: str, low: float, high: float, trial: Any, **how: Any) -> float:
    return float(trial.suggest_float(name, low, high, **how))


def _among(name: str, values: tuple[Any, ...], trial: Any) -> Any:
    return trial.suggest_categorical(name, values)


def effective_rank(Z: NDArray[np.float32], seed: int = 0) -> float:
    """The exponential of the entropy of the singular values (RankMe): how many directions an embedding uses.

    Example:
        >>> round(effective_rank(np.eye(4, dtype=np.float32)), 3)
        4.0
    """
    rows = np.asarray(Z)
    if len(rows) > RANK_ROWS:
        rows = rows[seeding.generator(seed, "rank").choice(len(rows), RANK_ROWS, replace=False)]
    values = np.linalg.svd(np.asarray(normalise_rows(rows), dtype=np.float64), compute_uv=False)
    shares = values[values > 0] / values.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def validation_accuracy(Z: NDArray[np.float32], y: NDArray[np.int64], splits: list[Split]) -> float:
    """Mean accuracy on validation nodes; half of them choose the classifier's setting, the other half measure it."""
    from imgcl.evaluation import evaluate

    halves = [validation_split(split, y) for split in splits]
    return float(evaluate(Z, y, "natural", CLASSIFIER, halves, ceiling=0)[CLASSIFIER, "accuracy"].mean or 0.0)


def _criterion(graph: Graph, imbalance: str, seed: int) -> tuple[str, Callable[[NDArray[np.float32]], float]]:
    if graph.y is None:
        return "effective rank", lambda Z: effective_rank(Z, seed)
    y, splits = graph.y, make_splits(graph.y, imbalance, SPLITS, seed)
    if np.unique(y[splits[0].val], return_counts=True)[1].min() < 2:
        splits = make_splits(graph.y, imbalance, SPLITS, seed, val_per_class=2)  # one to choose, one to measure
    return "validation accuracy", lambda Z: validation_accuracy(Z, y, splits)


def _preset_values(config: RunConfig, names: Mapping[str, Any]) -> dict[str, Any]:
    """The preset's own values, where the search covers them."""
    values = {**config.build_settings().model_dump(), **config.training.model_dump()}
    inside = {}
    for name in names:
        value = values[name]
        low, high = LOGARITHMIC.get(name) or SHARES.get(name) or (None, None)
        if (low is None and value in CHOICES.get(name, ())) or (low is not None and low <= value <= high):
            inside[name] = value
    return inside


@contextmanager
def _storage_errors(storage: str | Path | None, *more: type[Exception]) -> Iterator[None]:
    """Errors of the file with the trials, and ``more`` kinds of errors, in one line."""
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, StorageInternalError, *more) as error:
        if storage is None:
            raise
        cause = error.__cause__ if isinstance(error, StorageInternalError) and error.__cause__ else error
        reason = explain(cause) if isinstance(cause, OSError) else str(getattr(cause, "orig", None) or cause)
        text = f"{storage} cannot be used to keep trials: {reason.rstrip('. ')}; choose another file"
        raise InputError(text) from None


def _optuna() -> Any:
    need("tune", "imgcl tune")
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna
