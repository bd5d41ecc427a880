"""Forms of balance beyond selected rows (ours): what they tell the views and the loss of a step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.errors import InputError
from imgcl.balance import BalancedSelector, BalanceSettings
from imgcl.balance.strength import curriculum, tail_aware
from imgcl.graph.block import Block
from imgcl.losses import RowHints, Statistics
from imgcl.losses.statistics import class_balanced
from imgcl.methods import METHODS, resolve_method

SETTINGS = {"weighted": "selection=weighted"}  # how a form is written, where its name is not that of the setting


def check_forms(balance: BalanceSettings | None, method: str, *, whole_graph: bool, workers: int) -> None:
    """Refuse a form that the method does not know, and forms in mini-batches or on several workers.

    Example:
        >>> check_forms(BalanceSettings(negatives="other"), "gbt", whole_graph=True, workers=1)
        Traceback (most recent call last):
        imgcl.InputError: balance setting negatives does not fit method 'gbt': choose one of grace
    """
    for form in () if balance is None else balance.forms:
        shown = SETTINGS.get(form, form)
        if form not in resolve_method(method).forms:
            known = ", ".join(name for name, each in METHODS.items() if form in each.forms)
            raise InputError(f"balance setting {shown} does not fit method {method!r}: choose one of {known}")
        if not whole_graph or workers > 1:
            raise InputError(f"balance setting {shown} needs the whole graph on one worker: use batch_size=0")


def apply_forms(
    balance: BalanceSettings,
    selector: BalancedSelector,
    block: Block,
    rows: Tensor | None,
    order: NDArray[np.int64] | None,
    progress: float,
) -> tuple[Block, RowHints]:
    """The block that views are drawn from, and what the loss is told about its rows.

    Args:
        balance: the settings.
        selector: holds pseudo-labels and weights, in the graph's order.
        block: the whole graph.
        rows: rows of the block that the loss sees; ``None``: all.
        order: which node of the graph every row of the block is; ``None``: the same.
        progress: t/T.
    """
    assert selector.labels is not None
    labels = selector.labels if order is None else selector.labels[order]
    if balance.augmentation != "uniform":
        strength = tail_aware(labels) if balance.augmentation == "tail" else curriculum(labels, progress)
        block = replace(block, strength=torch.from_numpy(strength).to(block.device))
    classes, weights = torch.from_numpy(labels).to(block.device), None
    if balance.selection == "weighted":  # all rows are there, in the graph's order
        given = selector.weights if order is None else selector.weights[torch.from_numpy(order)]
        weights = (given / given.sum()).to(block.device)
    if rows is not None:
        classes, weights = classes[rows], None if weights is None else weights[rows]
    return block, RowHints(classes, _statistics(balance, classes, weights), balance.negatives, balance.prototypes)


def _statistics(balance: BalanceSettings, classes: Tensor, weights: Tensor | None) -> Statistics | None:
    if balance.statistics == "rows":
        return None if weights is None else Statistics(weights)
    return Statistics(class_balanced(classes, weights), classes if balance.statistics == "within" else None)
