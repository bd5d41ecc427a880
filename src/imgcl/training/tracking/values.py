"""What is tracked: names and numbers, the same for every tracker."""

from __future__ import annotations

from typing import Any

from imgcl.training import EpochReport, RunConfig


def epoch_values(report: EpochReport) -> dict[str, float]:
    """The loss, and the share of each pseudo-class among the selected rows.

    Example:
        >>> epoch_values(EpochReport(epoch=1, epochs=9, loss=0.5, drawn=[0.75, 0.25]))
        {'loss': 0.5, 'drawn/0': 0.75, 'drawn/1': 0.25}
    """
    return {"loss": report.loss} | {f"drawn/{k}": share for k, share in enumerate(report.drawn or ())}


def settings_values(config: RunConfig) -> dict[str, Any]:
    """All settings under one flat name each.

    Example:
        >>> settings_values(RunConfig())["training.epochs"]
        500
    """
    flat: dict[str, Any] = {}
    for key, value in config.model_dump(mode="json").items():
        if isinstance(value, dict):
            flat |= {f"{key}.{name}": entry for name, entry in value.items()}
        else:
            flat[key] = value
    return flat
