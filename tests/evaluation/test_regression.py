"""The batched solver against scikit-learn's optimum."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from imgcl.evaluation.classifiers import class_weights, log_prior
from imgcl.evaluation.newton import minimise
from imgcl.evaluation.probes import PENALTIES
from imgcl.evaluation.regression import fit_path, follow_stages
from imgcl.evaluation.softmax import ABSENT, Problem, SoftmaxStack
from imgcl.evaluation.tasks import Task


def long_tailed(seed: int, sizes: list[int], d: int = 16, spread: float = 1.0) -> Problem:
    """Gaussian classes on the unit sphere with an ill-conditioned covariance, as embeddings have."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    scales = np.geomspace(1, 0.03, d)
    x = (rng.standard_normal((len(sizes), d))[y] + spread * rng.standard_normal((len(y), d))) * scales + scales
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return Problem(
        torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y), torch.ones(1, len(y)), torch.zeros(len(sizes))
    )


def balanced(problem: Problem) -> Problem:
    task = Task(problem.x, problem.y, problem.x[:0], problem.y[:0], problem.n_classes)
    return Problem(problem.x, problem.y, class_weights(task, 0.0)[None], problem.offset)


def loss(problem: Problem, coefficients: Tensor, c: float) -> float:
    """scikit-learn's objective, in float64."""
    rows = coefficients.double()
    logits = problem.x.double() @ rows[:, :-1].T + rows[:, -1] + problem.offset.double()
    own = torch.log_softmax(logits, dim=1).gather(1, problem.y[:, None])[:, 0]
    weight = problem.weight[0].double() / problem.weight[0].double().mean()
    return float(-c * (weight * own).sum() + 0.5 * (rows[:, :-1] ** 2).sum())


def reference(problem: Problem, c: float) -> LogisticRegression:
    weight = (problem.weight[0] / problem.weight[0].mean()).double().numpy()
    model = LogisticRegression(C=c, max_iter=20_000, tol=1e-6)
    return model.fit(problem.x.double().numpy(), problem.y.numpy(), sample_weight=weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_optimum_equals_scikit_learns(weighted: bool) -> None:
    plain = long_tailed(0, [120, 40, 14, 5, 2])
    problem = balanced(plain) if weighted else plain
    test = long_tailed(0, [1000] * 5)
    fitted = fit_path([problem], PENALTIES)[0]
    for c, coefficients in list(zip(PENALTIES, fitted, strict=True))[::2]:
        model = reference(problem, c)
        optimum = torch.from_numpy(np.concatenate([model.coef_, model.intercept_[:, None]], axis=1))
        assert loss(problem, coefficients, c) <= loss(problem, optimum, c) * (1 + 1e-4)
        ours = (test.x @ coefficients[:, :-1].T + coefficients[:, -1]).argmax(dim=1)
        theirs = model.predict(test.x.double().numpy())
        assert (ours == test.y).float().mean().item() == pytest.approx(np.mean(theirs == test.y.numpy()), abs=0.002)


def test_two_classes_equal_scikit_learns_binary_regression() -> None:
    problem = long_tailed(1, [80, 15])
    fitted = fit_path([problem], [0.1, 10.0])[0]
    for c, coefficients in zip((0.1, 10.0), fitted, strict=True):
        model = reference(problem, c)
        log_odds = coefficients[1] - coefficients[0]
        assert log_odds[:-1].numpy() == pytest.approx(model.coef_[0], rel=0.02, abs=0.02)
        assert float(log_odds[-1]) == pytest.approx(model.intercept_[0], rel=0.02, abs=0.02)


def test_a_stack_gives_what_each_problem_gives_alone() -> None:
    problems = [long_tailed(seed, sizes) for seed, sizes in enumerate([[40, 10, 5], [30, 20, 2], [60, 6, 3]])]
    problems.insert(1, balanced(problems[0]))  # shares its samples with the first
    together = fit_path(problems, PENALTIES[2:8])
    for problem, coefficients in zip(problems, together, strict=True):
        alone = fit_path([problem], PENALTIES[2:8])[0]
        for c, a, b in zip(PENALTIES[2:8], coefficients, alone, strict=True):
            assert loss(problem, a, c) == pytest.approx(loss(problem, b, c), rel=2e-5)


def test_result_does_not_depend_on_the_number_of_threads() -> None:
    problems = [long_tailed(seed, [30, 8, 3]) for seed in range(5)]
    before = torch.get_num_threads()
    try:
        results = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            results.append(fit_path(problems, PENALTIES[3:7]))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert torch.equal(*results)


def test_class_without_samples_is_never_predicted() -> None:
    present = long_tailed(2, [40, 10])
    problem = Problem(present.x, present.y * 2, present.weight, torch.zeros(3))  # classes 0 and 2 of 0, 1, 2
    fitted = fit_path([problem], PENALTIES)[0]
    assert torch.isfinite(fitted).all()
    assert (fitted[:, 1, -1] == ABSENT).all()
    log_odds = (fitted[6, 2] - fitted[6, 0])[:-1]
    assert log_odds.numpy() == pytest.approx(reference(present, PENALTIES[6]).coef_[0], rel=0.02, abs=0.02)


def test_offsets_shift_the_intercept_only_when_classes_separate_nothing() -> None:
    """Without features the optimum is known: softmax(intercept + offset) equals the class shares."""
    y = torch.tensor([0] * 6 + [1] * 3 + [2])
    offset = torch.tensor([0.5, -1.0, 0.3])
    problem = Problem(torch.zeros(10, 2), y, torch.ones(1, 10), offset)
    intercept = fit_path([problem], [1.0])[0, 0, :, -1]
    assert torch.softmax(intercept + offset, dim=0).tolist() == pytest.approx([0.6, 0.3, 0.1], abs=1e-3)


def test_gradient_and_curvature_match_finite_differences() -> None:
    problem = balanced(long_tailed(3, [12, 5, 3], d=4))
    task = Task(problem.x, problem.y, problem.x[:0], problem.y[:0], 3)
    double = Problem(problem.x.double(), problem.y, problem.weight.double(), log_prior(task).double())
    stack = SoftmaxStack([double, double], owner=[0, 1, 1])
    stack.set_penalties([0.5, 2.0, 3.0])
    points, vectors = torch.randn(2, 3, 15, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    rows = torch.arange(3)
    _, gradients, at = stack.evaluate(points, rows)
    for i in range(15):
        nudge = torch.zeros(15, dtype=torch.float64)
        nudge[i] = 1e-6
        up, down = stack.evaluate(points + nudge, rows)[0], stack.evaluate(points - nudge, rows)[0]
        assert ((up - down) / 2e-6).tolist() == pytest.approx(gradients[:, i].tolist(), abs=1e-7)
    up, down = (stack.evaluate(points + sign * 1e-6 * vectors, rows)[1] for sign in (1, -1))
    bent = stack.curvature(vectors, at, rows)
    assert ((up - down) / 2e-6).numpy() == pytest.approx(bent.numpy(), abs=1e-7)


def test_following_stages_moves_towards_the_last_stages_optimum() -> None:
    plain = long_tailed(4, [60, 15, 5])
    target = balanced(plain)
    stages = torch.cat([plain.weight, target.weight, target.weight, target.weight, target.weight])
    penalties = [1.0, 4.0]
    start = fit_path([plain], penalties)
    one, many = (
        follow_stages([Problem(plain.x, plain.y, stages[:count], plain.offset)], penalties, start) for count in (2, 5)
    )
    optimum = fit_path([target], penalties)
    for i, c in enumerate(penalties):
        best = loss(target, optimum[0, i], c)
        assert loss(target, many[0, i], c) == pytest.approx(best, rel=1e-4)
        assert best <= loss(target, one[0, i], c) * (1 + 1e-4)
        assert loss(target, one[0, i], c) < loss(target, start[0, i], c)


class Quadratics:
    """1 + (x - target)^T diag(curvature) (x - target) / 2, one for each row."""

    def __init__(self, curvature: Tensor, target: Tensor) -> None:
        self.scale, self.target = curvature, target

    def evaluate(self, points: Tensor, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        gap = points - self.target[rows]
        return 1 + 0.5 * (self.scale[rows] * gap * gap).sum(1), self.scale[rows] * gap, points

    def curvature(self, vectors: Tensor, at: Tensor, rows: Tensor) -> Tensor:
        return self.scale[rows] * vectors

    def precondition(self, vectors: Tensor, rows: Tensor) -> Tensor:
        return vectors


def test_minimise_solves_quadratics_of_different_difficulty() -> None:
    curvature = torch.stack([torch.logspace(0, power, 12, dtype=torch.float64) for power in (0, 2, 3)])
    target = torch.randn(3, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    solution = minimise(Quadratics(curvature, target), torch.zeros(3, 12).double(), max_steps=50)
    assert solution.numpy() == pytest.approx(target.numpy(), abs=2e-3)


def test_minimise_backtracks_from_steps_that_are_too_long() -> None:
    """Newton's method on sqrt(1 + x^2) diverges from |x| > 1 when its full steps are taken."""

    class Hyperbolas(Quadratics):
        def evaluate(self, points: Tensor, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            root = torch.sqrt(1 + points**2)
            return root.sum(1), points / root, points

        def curvature(self, vectors: Tensor, at: Tensor, rows: Tensor) -> Tensor:
            return vectors / (1 + at**2) ** 1.5

    start = torch.tensor([[3.0], [-2.0], [0.5]], dtype=torch.float64)
    solution = minimise(Hyperbolas(start, start), start, max_steps=50)
    assert solution.numpy() == pytest.approx(np.zeros((3, 1)), abs=1e-2)


def test_classes_that_are_far_apart_are_fitted_for_every_penalty() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(10), [554, 332, 199, 119, 72, 43, 26, 15, 9, 6])
    spectrum = np.geomspace(1, 0.02, 128)
    rows = (1.5 * rng.standard_normal((10, 128))[y] + rng.standard_normal((len(y), 128))) * spectrum
    x = torch.from_numpy((rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32))
    codes = torch.from_numpy(y)
    problem = Problem(x, codes, weight=torch.ones(1, len(y)), offset=torch.zeros(10))
    (path,) = fit_path([problem], PENALTIES)
    largest = path.abs().amax(dim=(1, 2))
    assert torch.isfinite(path).all()
    assert (largest[1:] < 2 * largest[:-1] + 3).all()  # no solution runs away where the loss is flat
    logits = x @ path[-1, :, :-1].T + path[-1, :, -1]
    assert (logits.argmax(dim=1) == codes).all()
