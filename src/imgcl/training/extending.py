"""Going on with a run: with the same settings, with further blocks, or with more epochs than it was started with.

More epochs follow the schedules of the new length T, as in a run of T epochs that has come this far: learning rate,
alpha = 1 - t/T (Eq. 3) and labellings. What had reached its end under the old length rises again, so the result is that
of a warm restart, and not of a run of T epochs from the start. ``config.json`` says so: ``extended`` has the epoch at
which each earlier length ended. New pseudo-labels are made there, and patience begins anew.
"""

from __future__ import annotations

from imgcl._core.errors import RunError
from imgcl.graph import Graph
from imgcl.training.run import Run
from imgcl.training.settings import RunConfig, block_names

ELSE = "resume with the same ones, or use another directory (`out`)"


def continued_config(run: Run, graph: Graph, config: RunConfig) -> RunConfig:
    """The settings to go on with: those of the run, with the blocks and the epochs that ``config`` adds.

    Raises:
        RunError: when graph or settings are others than the run was started with, or there are fewer epochs.
    """
    fingerprint = run.facts["graph"].get("fingerprint")
    if fingerprint != graph.fingerprint:
        raise RunError(
            f"{run.path} was trained on another graph (fingerprint {fingerprint}, now {graph.fingerprint}): "
            "use another directory (`out`)"
        )
    stored = run.config
    changed = _changed(stored, config)
    more = "epochs" in changed and set(changed) <= {"epochs", "settle"} and not config.training.settle
    if changed and not more:
        raise RunError(f"{run.path} was started with other settings ({', '.join(changed)}): {ELSE}")
    changes = {"blocks": block_names({*stored.blocks, *config.blocks}), "extended": stored.extended}
    if more:
        changes["extended"] = (*stored.extended, *_ended(run, config.training.epochs))
    return config.model_copy(update=changes)


def _changed(stored: RunConfig, given: RunConfig) -> list[str]:
    """Names of the settings that differ, those of the training one by one; blocks can be added."""
    before, now = (each.model_dump(exclude={"blocks", "extended", "training"}) for each in (stored, given))
    old, new = dict(stored.training), dict(given.training)
    return [*(key for key in before if before[key] != now[key]), *(key for key in old if old[key] != new[key])]


def _ended(run: Run, epochs: int) -> tuple[tuple[int, int], ...]:
    """Where the length so far ends, and that length; nothing before the first checkpoint."""
    training = run.config.training
    if not run.has_checkpoint:
        return ()
    checkpoint = run.checkpoint()
    done = int(checkpoint.values["epoch"])
    least = done if training.settle else max(done, training.epochs)
    if epochs <= least:
        what = f"has been trained for {done}" if training.settle else f"was started with {training.epochs}"
        raise RunError(f"{run.path} {what} epochs: a run can get more of them (`epochs`), not {epochs}")
    if "rng/views" not in checkpoint.tensors:
        raise RunError(f"{run.path} is a saved model without the state of its training: more epochs need a run")
    return ((done, training.epochs),)


def extension_sentence(config: RunConfig) -> str | None:
    """What the last extension means, for the user; ``None`` without one.

    Example:
        >>> from imgcl.training import TrainingSettings
        >>> extension_sentence(RunConfig(training=TrainingSettings(epochs=600), extended=((300, 300),)))
        'going on after epoch 300 as a run of 600 epochs would: learning rate follows the new length'
    """
    if not config.extended:
        return None
    epoch, training = config.extended[-1][0], config.training
    rates = training.schedule != "constant" or 0 < training.warm_up < 1
    changed = ["learning rate"] * rates + ["balance"] * (config.balance is not None)
    follow = f": {' and '.join(changed)} follow{'s' * (len(changed) == 1)} the new length" if changed else ""
    return f"going on after epoch {epoch} as a run of {training.epochs} epochs would{follow}"
