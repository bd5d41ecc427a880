"""Pre-training on a Ray cluster with Ray Train: ranks on several machines, started again when one dies."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from imgcl._core.errors import InputError, RunError
from imgcl._core.extras import missing
from imgcl.training import Run, RunConfig

MOST_FAILURES = 3


def pretrain_with_ray(
    source: str,
    config: RunConfig,
    out: str | Path,
    *,
    workers: int,
    resume: bool = False,
    diagnose: bool = False,
    data_dir: str | Path | None = None,
) -> Run:
    """Pre-train on a graph with several Ray workers into a run directory.

    After a failure the workers start again from the last checkpoint of the run directory, which all machines must see
    under the same path, as they must see the graph.

    Args:
        source: what ``load_graph`` opens on every worker.
        config: the settings.
        out: the run directory.
        workers: their number.
        resume: continue the run in ``out``.
        diagnose: record how pseudo-labels compare with the graph's labels.
        data_dir: where raw files of public data sets lie.
    """
    try:
        import ray
        from ray.exceptions import RayActorError
        from ray.train import FailureConfig, ScalingConfig
        from ray.train import RunConfig as RayRunConfig
        from ray.train.torch import TorchTrainer
    except ImportError:
        raise missing("ray", "training with Ray") from None
    import torch

    run = Run(Path(out).resolve())
    if not resume:
        run.check_free()
    if workers < 1:
        raise InputError(f"`workers` is {workers}: at least one is needed")
    facts = {
        "source": str(Path(source).resolve()) if Path(source).exists() else source,
        "config": config.model_dump(mode="json"),
        "out": str(run.path),
        "diagnose": diagnose,
        "data_dir": None if data_dir is None else str(Path(data_dir).resolve()),
    }
    started = not ray.is_initialized()
    if started:  # a cluster that runs already is found through RAY_ADDRESS
        os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's 15 would let any other process go first
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="error")
    scaling = ScalingConfig(num_workers=workers, use_gpu=torch.cuda.is_available())
    try:
        for attempt in range(1 + MOST_FAILURES):
            settings = RayRunConfig(
                name=f"attempt-{os.getpid()}-{attempt}",  # Ray would continue an attempt of the same name as it was
                storage_path=str(run.path / "ray"),
                failure_config=FailureConfig(max_failures=MOST_FAILURES),
            )
            with suppress(RayActorError):  # Ray's own controller died, which its failure settings do not cover
                TorchTrainer(
                    train_on_worker, train_loop_config=facts, scaling_config=scaling, run_config=settings
                ).fit()
                break
    finally:
        if started:
            ray.shutdown()
    if not run.finished:
        raise RunError(f"{run.path} was not finished by the Ray workers: see {run.path / 'ray'}")
    return run


def train_on_worker(facts: dict[str, Any]) -> None:
    """What every rank does; Ray Train has made the process group already."""
    from imgcl.data import load_graph
    from imgcl.training.distributed.group import joined_group
    from imgcl.training.pretrain import pretrain

    graph = load_graph(facts["source"], data_dir=facts["data_dir"])
    with joined_group() as group:
        # A run directory that is there already was started by this group before one of its ranks failed.
        pretrain(
            graph,
            RunConfig.model_validate(facts["config"]),
            facts["out"],
            source=facts["source"],
            resume=True,
            diagnose=facts["diagnose"],
            group=group,
        )
