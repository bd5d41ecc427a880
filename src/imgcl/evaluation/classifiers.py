"""Linear classifiers for imbalanced training labels: one function each.

Each takes a :class:`~imgcl.evaluation.tasks.Bench` (the labelled rows of every split, and a probe) and returns one
model for each split. Settings are chosen by balanced validation accuracy, never by test nodes. N_k is the number of
training labels of class k, N their total, K the number of classes.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from imgcl.balance.probabilities import progressively_balanced
from imgcl.evaluation.softmax import ABSENT, Problem
from imgcl.evaluation.tasks import Bench, Candidates, LinearModel, Task

STAGES = 9  # alpha = 1, 7/8, ..., 1/8, 0: the paper balances in eight steps
TAUS = tuple(i / 4 for i in range(9))  # 0 is plain, 1 undoes the prior, above 1 favours the tail further


def plain(bench: Bench) -> list[LinearModel]:
    """Multinomial logistic regression that ignores the imbalance.

    Use it as the reference, and when the nodes to classify are as imbalanced as the training labels. On balanced test
    nodes it under-predicts rare classes.
    """
    return bench.choose(bench.candidates(uniform))


def reweight(bench: Bench) -> list[LinearModel]:
    """Every class has the same total weight: a sample of class k counts N / (K N_k).

    The usual first choice against imbalance: convex, no setting of its own. With very few labels in a class those few
    dominate; ``logit-adjust`` is then the steadier choice.
    """
    return bench.choose(bench.candidates(balanced))


def pbs(bench: Bench) -> list[LinearModel]:
    """Progressively balanced sampling of the training labels (Eq. 3, with the true classes of the training nodes).

    A training label of class k is drawn with probability p_k / N_k, p_k = alpha N_k / N + (1 - alpha) / K, while alpha
    goes from 1 to 0. The expectation over the draws is used in place of draws, which is the same training without
    sampling noise: the classifier is first fitted at alpha = 1 (that is ``plain``), and then takes one solver step for
    each of eight smaller values down to alpha = 0. It is not run to convergence at alpha = 0, which would be
    ``reweight``: what it keeps from the earlier stages is what sets it apart.

    Use it to compare with the paper, whose ImGCL rows have this classifier; elsewhere it is a softer ``reweight``.
    """
    return bench.choose(bench.follow(progressive, start=bench.candidates(uniform)))


def logit_adjust(bench: Bench) -> list[LinearModel]:
    """``plain`` with tau log(N_k / N) subtracted from the logits (Menon et al. 2021), tau by validation.

    Needs no second fit, and tau adapts to how much the prior matters; tau = 0 is ``plain``. Use it when a class has
    only a handful of labels, or when the classifier has been fitted already.
    """
    return bench.choose(adjusted_candidates(bench))


def adjusted_candidates(bench: Bench) -> Candidates:
    """Fits of ``plain``, each with every tau."""
    fitted = bench.candidates(uniform)
    taus = torch.tensor(TAUS, dtype=torch.float32)
    adjusted = []
    for task, coefficients in zip(bench.tasks, fitted.coefficients, strict=True):
        shift = taus[:, None] * log_prior(task)
        stack = coefficients[:, None].repeat(1, len(taus), 1, 1)  # (fits, taus, K, d + 1)
        stack[..., -1] -= torch.where(task.sizes > 0, shift, 0.0)
        adjusted.append(stack.flatten(0, 1))
    settings = [setting | {"tau": tau} for setting in fitted.settings for tau in TAUS]
    return Candidates(torch.stack(adjusted), settings)


def balanced_softmax(bench: Bench) -> list[LinearModel]:
    """Train with log N_k added to the logits and predict without (Ren et al. 2020).

    The probabilities it gives are those of a balanced population, so it is the choice when calibrated probabilities on
    balanced nodes matter. Logit adjustment inside the loss with tau = 1.
    """
    return bench.choose(bench.candidates(with_prior))


def best(bench: Bench) -> list[LinearModel]:
    """Whichever of ``plain``, ``reweight`` and ``logit-adjust`` with any tau does best on the validation nodes.

    Use it to compare embeddings when the classifier is not the question; its setting says ``reweight`` or ``tau``.
    """
    weighted, adjusted = bench.candidates(balanced), adjusted_candidates(bench)
    coefficients = torch.cat([adjusted.coefficients, weighted.coefficients], dim=1)
    settings = [*adjusted.settings, *(setting | {"reweight": 1.0} for setting in weighted.settings)]
    return bench.choose(Candidates(coefficients, settings))


# ------------------------------------------------------------------ how training samples count


def uniform(task: Task) -> Problem:
    """Every sample counts once."""
    return Problem(
        task.x,
        task.y,
        torch.ones(1, len(task.y), dtype=torch.float32),
        torch.zeros(task.n_classes, dtype=torch.float32),
    )


def balanced(task: Task) -> Problem:
    """Every class has the same total weight."""
    return replace(uniform(task), weight=class_weights(task, alpha=0.0)[None])


def progressive(task: Task) -> Problem:
    """Stages from every sample once (alpha = 1) to every class alike (alpha = 0)."""
    alphas = [1 - stage / (STAGES - 1) for stage in range(STAGES)]
    return replace(uniform(task), weight=torch.stack([class_weights(task, alpha) for alpha in alphas]))


def with_prior(task: Task) -> Problem:
    """Every sample counts once, and the log prior is added to the logits."""
    return replace(uniform(task), offset=log_prior(task))


def class_weights(task: Task, alpha: float) -> torch.Tensor:
    """Weight of each training sample when its class is drawn with p_k = alpha N_k / N + (1 - alpha) / K (Eq. 3).

    Scaled to mean 1. Only classes that have samples are counted in K.
    """
    sizes = task.sizes.double()
    present = sizes > 0
    per_sample = torch.zeros_like(sizes)
    per_sample[present] = torch.from_numpy(progressively_balanced(sizes[present].numpy(), alpha)) / sizes[present]
    return (per_sample * sizes.sum())[task.y].to(task.x)


def log_prior(task: Task) -> torch.Tensor:
    """log(N_k / N), and ABSENT for a class without samples."""
    sizes = task.sizes.to(task.x)
    return torch.where(sizes > 0, (sizes.clamp_min(1) / sizes.sum()).log(), ABSENT)
