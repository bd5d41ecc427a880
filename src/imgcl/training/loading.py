"""The encoder of a finished run, built from its settings and its checkpoint: the training graph is not needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from imgcl._core import seeding
from imgcl._core.draws import draws_of
from imgcl._core.errors import InputError, RunError
from imgcl._core.sparse import ColumnStatistics
from imgcl._core.torch_settings import usual_torch
from imgcl._core.words import one_line
from imgcl.graph.structure import is_structural
from imgcl.methods import Method
from imgcl.training.blocks import Reductions
from imgcl.training.checkpoint import Checkpoint, pack, unpack
from imgcl.training.encoder import TrainedEncoder
from imgcl.training.fit import check_statistics, check_weights
from imgcl.training.hardware import device_name, resolve_device
from imgcl.training.run import REDUCTION, WRITTEN_AGAIN, Run
from imgcl.training.settings import RunConfig


@usual_torch()
def load_encoder(
    run: Run, *, config: RunConfig | None = None, device: str | None = "auto", scratch: Path | None = None
) -> TrainedEncoder:
    """The trained encoder of a finished run.

    Args:
        run: the run directory.
        config: its settings, where they hold objects that ``config.json`` has only the names of.
        device: where to compute.
        scratch: directory for hidden layers of large graphs; by default the system's.

    Raises:
        RunError: when the run is not finished, or its checkpoint does not fit its settings.
    """
    config, _ = config or run.config, run.embedding  # a run without an embedding is not finished
    checkpoint = run.checkpoint()
    try:
        method = _method(run, config, checkpoint)
        statistics = _statistics(checkpoint, method.n_features)
        reductions = _reductions(run, method.n_features)
    except InputError as error:
        raise RunError(f"{run.path / 'config.json'}: {error}") from None
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        file = run.path / "checkpoint.safetensors"
        raise RunError(f"{file} does not fit the run's settings ({one_line(error)}): pre-train again") from None
    if config.training.normalise == "column" and statistics is None:
        raise RunError(
            f"{run.path} is from before runs kept the statistics of their features, which normalise=column needs for "
            "another graph: pre-train again"
        )
    where, names = resolve_device(device_name(device)), run.feature_names
    return TrainedEncoder(
        method.to(where).eval(),
        config.training,
        config.seed,
        where,
        None if names is None else tuple(names),
        statistics,
        scratch,
        reductions,
        run.facts["graph"].get("fingerprint") if is_structural(names) else None,
        run.facts["graph"].get("direction"),
    )


def load_pyg(run: Run, device: str | None = "cpu") -> nn.Module:
    """What :meth:`imgcl.training.Run.to_pyg` is."""
    return load_encoder(run, device=device).to_pyg()


def encoder_checkpoint(encoder: TrainedEncoder, losses: list[float]) -> Checkpoint:
    """The checkpoint of a finished training with what :func:`load_encoder` reads: no optimiser, nothing to resume."""
    tensors: dict[str, Tensor] = {}
    values: dict[str, Any] = {"epoch": len(losses), "losses": losses, "finished": True}
    pack("method", encoder.method.state_dict(), tensors, values)
    if encoder.statistics is not None:
        pack("features", vars(encoder.statistics), tensors, values)
    return Checkpoint(tensors, values)


def _method(run: Run, config: RunConfig, checkpoint: Checkpoint) -> Method[Any]:
    """The method with the weights of the checkpoint."""
    problem: ValueError | None = None
    for n_features in _widths(run, checkpoint):
        method = _build(config, n_features)
        try:
            check_weights(checkpoint, method)
        except ValueError as error:
            problem = problem or error
            continue
        method.load_state_dict(unpack("method", checkpoint))
        return method
    raise problem or ValueError("it has no weights")


def _build(config: RunConfig, n_features: int) -> Method[Any]:
    kind = config.method_class
    with draws_of([kind], seeding.torch_generator(config.seed, "weights")):
        return kind(n_features, config.build_settings())


def _widths(run: Run, checkpoint: Checkpoint) -> Iterator[int]:
    """The number of features; runs from before it was kept: what it may be, one side of some matrix of weights."""
    known, names = run.facts["graph"].get("n_features"), run.feature_names
    if known is not None:
        yield known
    elif names is not None:
        yield len(names)
    else:
        weights = unpack("method", checkpoint).values()
        yield from dict.fromkeys(size for weight in weights if torch.is_tensor(weight) for size in weight.shape)


def _statistics(checkpoint: Checkpoint, n_features: int) -> ColumnStatistics | None:
    stored = unpack("features", checkpoint)
    if not stored:
        return None
    like = torch.empty(n_features, dtype=torch.float32)
    check_statistics(checkpoint, ColumnStatistics(like, like))
    return ColumnStatistics(**stored)


def _reductions(run: Run, n_features: int) -> Reductions:
    """What makes the run's blocks of features."""
    found = run.reductions
    for name, reduction in found.items():
        if reduction.n_features != n_features:
            problem = f"{name} has {reduction.n_features} features, the encoder {n_features}"
            raise RunError(f"{run.path / REDUCTION} is damaged ({problem}): {WRITTEN_AGAIN}")
    return found
