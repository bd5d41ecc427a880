"""Newton's method for a stack of independent convex problems, with preconditioned conjugate gradients inside.

All problems of the stack take their steps together and leave it when they are done. How far a problem is from its
minimum is estimated: half the squared gradient in the norm of the preconditioner is that distance if the preconditioner
is the inverse Hessian, and the step sizes of conjugate gradients, which are inverse Rayleigh quotients of the
preconditioned Hessian, tell how short of it the preconditioner can be.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Protocol

import torch
from torch import Tensor

# Estimated distance to the smallest loss, relative to it, at which a problem is done. On ill-conditioned problems the
# estimate was found up to ten times too small (embeddings of the real graphs), so this stands for 1e-4.
GAP = 8e-6
INNER_GAP = 0.4 * GAP  # the same for the quadratic model that conjugate gradients minimise
FORCING = 0.02  # share of a step's gain that is not worth more conjugate gradients: the model is not that good
STEEPEST = 1e-4  # scikit-learn's criterion, which decides where the loss is flat: the largest entry of the gradient
MAX_INNER = 100
LONGEST = 100  # step size of conjugate gradients; above it the curvature, which should be positive, is rounding
ARMIJO = 1e-4
SHRINK = 0.4
MAX_BACKTRACKS = 20


class Stack(Protocol):
    """Convex problems; points are (A, D), and ``rows`` (A,) says which problems they belong to."""

    def evaluate(self, points: Tensor, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Losses (A,), gradients (A, D), and whatever :meth:`curvature` needs to know about the points (A, ...)."""

    def curvature(self, vectors: Tensor, at: Tensor, rows: Tensor) -> Tensor:
        """Hessians times vectors (A, D)."""

    def precondition(self, vectors: Tensor, rows: Tensor) -> Tensor:
        """Approximate inverse Hessians, symmetric and positive definite, times vectors (A, D)."""


@dataclass
class _Rows:
    """Tensors with a common first axis, from which rows can be dropped."""

    def keep(self, mask: Tensor) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name)[mask])


@dataclass
class _Running(_Rows):
    """The problems that are not done."""

    which: Tensor
    point: Tensor
    loss: Tensor
    gradient: Tensor
    at: Tensor
    stretch: Tensor  # largest step size of conjugate gradients so far: how much the preconditioner falls short


@dataclass
class _Inner(_Rows):
    """The linear systems that are not solved."""

    slot: Tensor  # place among the running problems
    which: Tensor
    at: Tensor
    step: Tensor
    residual: Tensor
    direction: Tensor
    size: Tensor  # squared residual in the preconditioner's norm


def minimise(stack: Stack, start: Tensor, max_steps: int) -> Tensor:
    """Minimise every problem of a stack.

    Args:
        stack: the problems.
        start: starting points, one row per problem (P, D).
        max_steps: Newton steps after which a problem is left as it is.

    Returns:
        The minimisers (P, D).
    """
    solution = start.clone()
    which = torch.arange(len(start))
    loss, gradient, at = stack.evaluate(start, which)
    running = _Running(which, solution.clone(), loss, gradient, at, torch.ones_like(loss))
    for _ in range(max_steps):
        step, slope = _newton_step(stack, running)
        stuck = _line_search(stack, running, step, slope)
        done = stuck | _settled(stack, running)
        if done.any():
            solution[running.which[done]] = running.point[done]
            running.keep(~done)
            if not len(running.which):
                return solution
    solution[running.which] = running.point
    return solution


def _settled(stack: Stack, running: _Running) -> Tensor:
    size = torch.linalg.vecdot(running.gradient, stack.precondition(running.gradient, running.which))
    near = 0.5 * size * running.stretch < GAP * running.loss
    done: Tensor = near & (running.gradient.abs().amax(dim=1) < STEEPEST)
    return done


def _newton_step(stack: Stack, running: _Running) -> tuple[Tensor, Tensor]:
    """Solve Hessian x step = -gradient by conjugate gradients; the steps, and the slopes of the loss along them."""
    steps = torch.zeros_like(running.point)
    residual = -running.gradient
    smoothed = stack.precondition(residual, running.which)
    size = torch.linalg.vecdot(residual, smoothed)
    slots = torch.arange(len(size))
    inner = _Inner(slots, running.which, running.at, steps.clone(), residual, smoothed, size)
    tiny = torch.finfo(size.dtype).tiny
    # a few numbers per problem are cheaper as Python's than as tensors
    enough = (INNER_GAP * running.loss).tolist()
    size_now, stretch, gain = size.tolist(), running.stretch.tolist(), [0.0] * len(slots)
    for _ in range(MAX_INNER):
        bent = stack.curvature(inner.direction, inner.at, inner.which)
        alpha = inner.size / torch.linalg.vecdot(inner.direction, bent).clamp_min_(tiny)
        alpha = torch.where(alpha < LONGEST, alpha, 0)
        inner.step.addcmul_(alpha[:, None], inner.direction)
        inner.residual.addcmul_(alpha[:, None], bent, value=-1)
        smoothed = stack.precondition(inner.residual, inner.which)
        size = torch.linalg.vecdot(inner.residual, smoothed)
        steepest = torch.linalg.vector_norm(inner.residual, torch.inf, dim=1)
        going = []
        for i, a, new, steep in zip(inner.slot.tolist(), *torch.stack([alpha, size, steepest]).tolist(), strict=True):
            gain[i] += 0.5 * a * size_now[i]
            size_now[i], stretch[i] = new, max(stretch[i], a)
            gap = 0.5 * new * stretch[i]
            flat = a == 0 or new <= tiny  # nothing but rounding is left to follow
            solved = flat or (gap < enough[i] and steep < 0.5 * STEEPEST) or gap < FORCING * gain[i]
            going.append(not solved)
        inner.direction = torch.addcmul(smoothed, (size / inner.size.clamp_min(tiny))[:, None], inner.direction)
        inner.size = size
        if not all(going):
            keep = torch.tensor(going)
            steps[inner.slot[~keep]] = inner.step[~keep]
            inner.keep(keep)
            if not any(going):
                break
    steps[inner.slot] = inner.step
    running.stretch = running.stretch.new_tensor(stretch)
    return steps, torch.linalg.vecdot(steps, running.gradient)


def _line_search(stack: Stack, running: _Running, step: Tensor, slope: Tensor) -> Tensor:
    """Go the full step, or back from it until the loss has fallen enough; the slack is rounding of the loss.

    A problem whose loss rises along its step stays where it is.

    Returns:
        Which problems gained nothing but rounding: they get no further.
    """
    point = running.point + step
    loss, gradient, at = stack.evaluate(point, running.which)
    slack = 8 * torch.finfo(loss.dtype).eps * running.loss
    size = torch.ones_like(slope)
    for _ in range(MAX_BACKTRACKS):
        enough = loss <= running.loss + ARMIJO * size * slope + slack  # false for nan, too
        if enough.all():
            break
        retry = (~enough).nonzero()[:, 0]
        size[retry] *= SHRINK
        point[retry] = running.point[retry] + size[retry, None] * step[retry]
        loss[retry], gradient[retry], at[retry] = stack.evaluate(point[retry], running.which[retry])
    else:
        stay = ~(loss <= running.loss + slack)
        point[stay], loss[stay] = running.point[stay], running.loss[stay]
        gradient[stay], at[stay] = running.gradient[stay], running.at[stay]
    stuck: Tensor = running.loss - loss < slack
    running.point, running.loss, running.gradient, running.at = point, loss, gradient, at
    return stuck
