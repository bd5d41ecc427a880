"""Label propagation (Zhou et al. 2004): the structure alone, no features and no training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from imgcl._core.torch_settings import usual_torch
from imgcl.baselines.prediction import Prediction
from imgcl.evaluation.labels import Labels
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.imbalance import Split

ALPHAS = (0.5, 0.8, 0.9, 0.95, 0.99)
STEPS = 50
UNREACHED = 1e-12  # score of every class for a node that no label reaches, before class weights


@usual_torch()
def label_propagation(
    graph: Graph, labels: Labels, splits: Sequence[Split], classifier: str, seed: int = 0
) -> list[Prediction]:
    """Iterate F <- alpha S F + (1 - alpha) Y from the training labels Y; alpha by balanced validation accuracy.

    Args:
        graph: its structure.
        labels: of its nodes.
        splits: train, validation and test nodes.
        classifier: ``plain``, or ``reweight``: a label of class k starts with weight 1 / N_k.
        seed: not used, nothing is random.
    """
    propagate = Block.from_graph(graph).normalised
    codes, classes = labels.codes, labels.n_classes
    start = torch.zeros(graph.n_nodes, len(splits), classes, dtype=torch.float32)
    for i, split in enumerate(splits):
        truth = codes[split.train]
        sizes = np.bincount(truth, minlength=classes)
        weight = 1 / sizes[truth] if classifier == "reweight" else np.ones(len(truth))
        start[np.array(split.train), i, truth] = torch.from_numpy(weight).float()
    flat = start.view(graph.n_nodes, -1)
    best: list[Prediction | None] = [None] * len(splits)
    for alpha in ALPHAS:
        scores = flat
        for _ in range(STEPS):
            scores = alpha * (propagate @ scores) + (1 - alpha) * flat
        for i, (split, values) in enumerate(zip(splits, scores.view_as(start).unbind(1), strict=True)):
            shares = (values + UNREACHED) / (values + UNREACHED).sum(dim=1, keepdim=True)
            right = shares[np.array(split.val)].argmax(dim=1).numpy() == codes[split.val]
            recalls = [right[codes[split.val] == k].mean() for k in np.unique(codes[split.val])]
            rank, kept = (-float(np.mean(recalls)), 0.0), best[i]
            if kept is None or rank < kept.rank:
                best[i] = Prediction(shares[np.array(split.test)], {"alpha": alpha}, rank)
    return [prediction for prediction in best if prediction is not None]
