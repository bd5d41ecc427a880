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
"""(gradients (A, D), which problems (A,)) -> approximate inverse Hessian times gradients (A, D)."""

MEMORY = 10  # pairs of (step, gradient change) that are remembered
ARMIJO = 1e-4
SHRINK = 0.4
MAX_BACKTRACKS = 20


@dataclass
class _Stack:
    """State of the problems that are still running; every tensor's first axis is the problem."""

    which: Tensor
    point: Tensor
    loss: Tensor
    gradient: Tensor
    scale: Tensor  # gamma: the preconditioner's scalar correction
    steps: Tensor  # S  (A, m, D)
    changes: Tensor  # Y  (A, m, D)
    smoothed: Tensor  # H0 Y (A, m, D)
    step_change: Tensor  # S Y^T (A, m, m)
    change_smoothed: Tensor  # Y H0 Y^T (A, m, m)

    def keep(self, mask: Tensor) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name)[mask])


def minimise(
    objective: Objective,
    start: Tensor,
    precondition: Preconditioner,
    *,
    tolerance: float,
    max_iter: int,
) -> tuple[Tensor, Tensor]:
    """Minimise every problem of a stack.

    A problem is done when the decrease that its quadratic model still promises, half the gradient times the step,
    is below ``tolerance`` times its loss.

    Args:
        objective: losses and gradients of some of the problems.
        start: starting points, one row per problem (P, D).
        precondition: approximate inverse Hessian of some of the problems.
        tolerance: promised relative decrease at which a problem is done.
        max_iter: steps after which a problem is left as it is.

    Returns:
        The minimisers (P, D) and the number of steps each took (P,).
    """
    problems, dimension = start.shape
    solution, iterations = start.clone(), torch.zeros(problems, dtype=torch.int64)
    which = torch.arange(problems)
    loss, gradient = objective(start, which)
    room = start.new_zeros(problems, MEMORY, dimension)
    square = start.new_zeros(problems, MEMORY, MEMORY)
    stack = _Stack(
        which, start.clone(), loss, gradient, torch.ones_like(loss),
        room, room.clone(), room.clone(), square, square.clone(),
    )  # fmt: skip
    for iteration in range(max_iter):
        direction = -_quasi_newton(stack, precondition, iteration)
        slope = torch.linalg.vecdot(direction, stack.gradient)
        # the model knows nothing about the problem before its first two steps
        done = (-0.5 * slope < tolerance * stack.loss) & (iteration >= 2)
        if done.any():
            solution[stack.which[done]] = stack.point[done]
            iterations[stack.which[done]] = iteration
            stack.keep(~done)
            if not len(stack.which):
                return solution, iterations
            direction, slope = direction[~done], slope[~done]
        point, loss, gradient = _line_search(objective, stack, direction, slope)
        _remember(stack, point - stack.point, gradient - stack.gradient, precondition, iteration)
        stack.point, stack.loss, stack.gradient = point, loss, gradient
    solution[stack.which], iterations[stack.which] = stack.point, max_iter
    return solution, iterations


def _quasi_newton(stack: _Stack, precondition: Preconditioner, iteration: int) -> Tensor:
    """The compact inverse-Hessian approximation times the gradient."""
    gradient = stack.gradient
    product = precondition(gradient, stack.which) * stack.scale[:, None]
    known = min(iteration, MEMORY)
    if not known:
        return product
    # the ring's slots from the oldest pair to the newest: the triangle below depends on that order
    order = torch.arange(iteration - known, iteration) % MEMORY
    triangle = stack.step_change[:, order][:, :, order].triu()
    curvature = triangle.diagonal(dim1=1, dim2=2)
    triangle = triangle + torch.diag_embed((curvature == 0).to(gradient))  # forgotten pairs: see _remember
    middle = stack.change_smoothed[:, order][:, :, order] * stack.scale[:, None, None]
    along_steps = torch.bmm(stack.steps, gradient[:, :, None])[:, order]
    along_changes = torch.bmm(stack.changes, product[:, :, None])[:, order]
    u = torch.linalg.solve_triangular(triangle, along_steps, upper=True)
    v = torch.bmm(middle, u) + curvature[:, :, None] * u - along_changes
    v = torch.linalg.solve_triangular(triangle.transpose(1, 2), v, upper=False)
    u_ring, v_ring = torch.zeros_like(stack.steps[:, :, :1]), torch.zeros_like(stack.steps[:, :, :1])
    u_ring[:, order], v_ring[:, order] = u * stack.scale[:, None, None], v
    product = product + torch.bmm(v_ring.transpose(1, 2), stack.steps)[:, 0]
    return product - torch.bmm(u_ring.transpose(1, 2), stack.smoothed)[:, 0]


def _line_search(
    objective: Objective, stack: _Stack, direction: Tensor, slope: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Backtrack from the full step until the loss has fallen enough; the slack is rounding of the loss."""
    slack = 8 * torch.finfo(stack.loss.dtype).eps * stack.loss
    size = torch.ones_like(slope)
    point = stack.point + direction
    loss, gradient = objective(point, stack.which)
    for _ in range(MAX_BACKTRACKS):
        worse = ~(loss <= stack.loss + ARMIJO * size * slope + slack)  # also catches nan and inf
        if not worse.any():
            break
        retry = worse.nonzero()[:, 0]
        size[retry] *= SHRINK
        point[retry] = stack.point[retry] + size[retry, None] * direction[retry]
        loss[retry], gradient[retry] = objective(point[retry], stack.which[retry])
    return point, loss, gradient


def _remember(stack: _Stack, step: Tensor, change: Tensor, precondition: Preconditioner, iteration: int) -> None:
    """Put the newest pair into the ring; a pair without curvature (rounding) is forgotten, that is zero."""
    slot = iteration % MEMORY
    smoothed = precondition(change, stack.which)
    curvature = torch.linalg.vecdot(step, change)
    size = torch.linalg.vecdot(change, smoothed)
    sound = (curvature > 0) & (size > 0)
    stack.scale = torch.where(sound, curvature / size, stack.scale)
    for ring, row in ((stack.steps, step), (stack.changes, change), (stack.smoothed, smoothed)):
        ring[:, slot] = torch.where(sound[:, None], row, 0)
    newest_step, newest_change = stack.steps[:, slot, :, None], stack.changes[:, slot, :, None]
    stack.step_change[:, slot] = torch.bmm(stack.changes, newest_step)[:, :, 0]
    stack.step_change[:, :, slot] = torch.bmm(stack.steps, newest_change)[:, :, 0]
    against = torch.bmm(stack.smoothed, newest_change)[:, :, 0]
    stack.change_smoothed[:, slot], stack.change_smoothed[:, :, slot] = against, against
