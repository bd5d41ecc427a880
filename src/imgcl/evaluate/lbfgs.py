"""L-BFGS for a stack of independent convex problems.

All problems of the stack take their steps together: the algebra of the quasi-Newton update is batched, a problem
that has converged leaves the stack, and only the function that evaluates loss and gradient knows what the problems
are. The update is the compact form of Byrd, Nocedal and Schnabel (1994), with a preconditioner in place of the
usual multiple of the identity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import torch
from torch import Tensor

Objective = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""(points (A, D), which problems (A,)) -> (losses (A,), gradients (A, D))."""

Preconditioner = Callable[[Tensor, Tensor], Tensor]
"""(vectors (A, D), which problems (A,)) -> approximate inverse Hessian, a symmetric matrix, times vectors (A, D)."""

MEMORY = 10  # pairs of (step, gradient change) that are remembered
LENGTH = 4 * MEMORY  # of the buffers along which the window of pairs slides
STEEPEST = 1e-4  # scikit-learn's criterion: decides where the loss is flat, as under a heavy penalty
ARMIJO = 1e-4
SHRINK = 0.4
MAX_BACKTRACKS = 20


@dataclass
class Pairs:
    """Steps and the gradient changes they made, (problems, MEMORY, D) each, the oldest first; zeros where unknown."""

    steps: Tensor
    changes: Tensor

    @classmethod
    def none(cls, points: Tensor) -> Pairs:
        """No memory yet."""
        room = points.new_zeros(len(points), MEMORY, points.shape[1])
        return cls(room, room.clone())


@dataclass
class _Stack:
    """State of the problems that are still running; every tensor's first axis is the problem.

    The remembered pairs are a window of MEMORY places that slides along longer buffers, so that they are always in
    order and remembering one more moves none of the others.
    """

    which: Tensor
    point: Tensor
    loss: Tensor
    gradient: Tensor
    scale: Tensor  # gamma: the preconditioner's scalar correction
    basis: Tensor  # s and H0 y of each pair, all that the update multiplies with (A, 2 * LENGTH, D)
    changes: Tensor  # y of each pair (A, LENGTH, D)
    step_change: Tensor  # S Y^T, of which the part with the step not newer than the change is used (A, LENGTH, LENGTH)
    change_smoothed: Tensor  # Y H0 Y^T (A, LENGTH, LENGTH)

    def keep(self, mask: Tensor) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name)[mask])


def minimise(
    objective: Objective,
    start: Tensor,
    precondition: Preconditioner,
    pairs: Pairs | None = None,
    *,
    tolerance: float,
    max_iter: int,
) -> tuple[Tensor, Pairs]:
    """Minimise every problem of a stack.

    A problem is done when the decrease that its quadratic model still promises, half the gradient times the step,
    is below ``tolerance`` times its loss, and no entry of its gradient is above :data:`STEEPEST`.

    Args:
        objective: losses and gradients of some of the problems.
        start: starting points, one row per problem (P, D).
        precondition: approximate inverse Hessian of some of the problems.
        pairs: what is known about the curvature already, from a neighbouring problem.
        tolerance: promised relative decrease at which a problem is done.
        max_iter: steps after which a problem is left as it is.

    Returns:
        The minimisers (P, D), and the pairs of each problem's last steps.
    """
    which = torch.arange(len(start))
    solution, last = start.clone(), Pairs.none(start)
    loss, gradient = objective(start, which)
    stack = _begin(which, start, loss, gradient, pairs or last, precondition)
    end = MEMORY  # of the window
    for iteration in range(max_iter):
        direction = -_quasi_newton(stack, precondition, end)
        slope = torch.linalg.vecdot(direction, stack.gradient)
        # old pairs know nothing about this problem: let it take two steps of its own first
        small = -0.5 * slope < tolerance * stack.loss
        done = small & (stack.gradient.abs().amax(dim=1) < STEEPEST)
        if iteration >= 2 and done.any():
            _store(stack, done, end, solution, last)
            stack.keep(~done)
            if not len(stack.which):
                return solution, last
            direction, slope = direction[~done], slope[~done]
        point, loss, gradient = _line_search(objective, stack, direction, slope)
        end = _remember(stack, point - stack.point, gradient - stack.gradient, precondition, end)
        stack.point, stack.loss, stack.gradient = point, loss, gradient
    _store(stack, torch.ones_like(stack.which, dtype=torch.bool), end, solution, last)
    return solution, last


def _begin(
    which: Tensor, start: Tensor, loss: Tensor, gradient: Tensor, pairs: Pairs, precondition: Preconditioner
) -> _Stack:
    problems, _, dimension = pairs.steps.shape
    smoothed = torch.stack([precondition(change, which) for change in pairs.changes.unbind(1)], dim=1)
    basis = start.new_zeros(problems, LENGTH, 2, dimension)
    basis[:, :MEMORY, 0], basis[:, :MEMORY, 1] = pairs.steps, smoothed
    changes = start.new_zeros(problems, LENGTH, dimension)
    changes[:, :MEMORY] = pairs.changes
    step_change, change_smoothed = start.new_zeros(2, problems, LENGTH, LENGTH)
    step_change[:, :MEMORY, :MEMORY] = torch.bmm(pairs.steps, pairs.changes.transpose(1, 2))
    change_smoothed[:, :MEMORY, :MEMORY] = torch.bmm(pairs.changes, smoothed.transpose(1, 2))
    curvature, size = step_change[:, MEMORY - 1, MEMORY - 1], change_smoothed[:, MEMORY - 1, MEMORY - 1]
    scale = torch.where(size > 0, curvature / size, 1.0)
    return _Stack(which, start, loss, gradient, scale, basis.flatten(1, 2), changes, step_change, change_smoothed)


def _store(stack: _Stack, done: Tensor, end: int, solution: Tensor, last: Pairs) -> None:
    at = stack.which[done]
    solution[at] = stack.point[done]
    last.steps[at] = stack.basis[done, 2 * (end - MEMORY) : 2 * end : 2]
    last.changes[at] = stack.changes[done, end - MEMORY : end]


def _quasi_newton(stack: _Stack, precondition: Preconditioner, end: int) -> Tensor:
    """The compact inverse-Hessian approximation times the gradient."""
    window = slice(end - MEMORY, end)
    basis = stack.basis[:, 2 * window.start : 2 * end]
    scale = stack.scale[:, None]
    # vecdot, not bmm: a product with one column is several times slower there
    along = torch.linalg.vecdot(basis, stack.gradient[:, None]).view(-1, MEMORY, 2)
    triangle = stack.step_change[:, window, window].triu()
    curvature = triangle.diagonal(dim1=1, dim2=2)
    triangle = triangle + torch.diag_embed((curvature == 0).to(triangle))  # unknown pairs: zero rows and columns
    u = torch.linalg.solve_triangular(triangle, along[:, :, :1], upper=True)
    smoothed = torch.bmm(stack.change_smoothed[:, window, window], u)[:, :, 0]
    v = scale * (smoothed - along[:, :, 1]) + curvature * u[:, :, 0]
    v = torch.linalg.solve_triangular(triangle.transpose(1, 2), v[:, :, None], upper=False)
    combine = torch.cat([v, -scale[:, :, None] * u], dim=2).view(-1, 1, 2 * MEMORY)
    product = precondition(stack.gradient, stack.which) * scale
    return product + torch.bmm(combine, basis)[:, 0]


def _line_search(
    objective: Objective, stack: _Stack, direction: Tensor, slope: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Backtrack from the full step until the loss has fallen enough; the slack is rounding of the loss."""
    slack = 8 * torch.finfo(stack.loss.dtype).eps * stack.loss
    point = stack.point + direction
    loss, gradient = objective(point, stack.which)
    size = torch.ones_like(slope)
    for _ in range(MAX_BACKTRACKS):
        enough = loss <= stack.loss + ARMIJO * size * slope + slack  # false for nan, too
        if enough.all():
            break
        retry = (~enough).nonzero()[:, 0]
        size[retry] *= SHRINK
        point[retry] = stack.point[retry] + size[retry, None] * direction[retry]
        loss[retry], gradient[retry] = objective(point[retry], stack.which[retry])
    return point, loss, gradient


def _remember(stack: _Stack, step: Tensor, change: Tensor, precondition: Preconditioner, end: int) -> int:
    """Add the newest pair, drop the oldest; one without curvature (rounding) becomes zero, that is unknown."""
    if end == LENGTH:
        _rewind(stack)
        end = MEMORY
    smoothed = precondition(change, stack.which)
    curvature, size = torch.linalg.vecdot(step, change), torch.linalg.vecdot(change, smoothed)
    sound = (curvature > 0) & (size > 0)
    if not sound.all():
        step, change, smoothed = (torch.where(sound[:, None], rows, 0) for rows in (step, change, smoothed))
    stack.scale = torch.where(sound, curvature / size, stack.scale)
    stack.basis[:, 2 * end], stack.basis[:, 2 * end + 1], stack.changes[:, end] = step, smoothed, change
    window = slice(end - MEMORY + 1, end + 1)
    basis = stack.basis[:, 2 * window.start : 2 * window.stop]
    against = torch.linalg.vecdot(basis, change[:, None]).view(-1, MEMORY, 2)
    stack.step_change[:, window, end] = against[:, :, 0]
    stack.change_smoothed[:, window, end] = stack.change_smoothed[:, end, window] = against[:, :, 1]
    return end + 1


def _rewind(stack: _Stack) -> None:
    """Move the window from the end of the buffers back to their start."""
    stack.basis[:, : 2 * MEMORY] = stack.basis[:, -2 * MEMORY :].clone()
    stack.changes[:, :MEMORY] = stack.changes[:, -MEMORY:].clone()
    for square in (stack.step_change, stack.change_smoothed):
        square[:, :MEMORY, :MEMORY] = square[:, -MEMORY:, -MEMORY:].clone()
