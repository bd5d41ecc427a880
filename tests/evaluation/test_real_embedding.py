"""The probe on an embedding of a real graph: optimum, speed of use, repeatability."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from imgcl import load_graph
from imgcl.baselines import propagated_features
from imgcl.evaluation import evaluate
from imgcl.evaluation.classifiers import balanced, uniform
from imgcl.evaluation.labels import normalise_rows
from imgcl.evaluation.probes import PENALTIES
from imgcl.evaluation.regression import fit_path
from imgcl.evaluation.softmax import Problem
from imgcl.evaluation.tasks import Task
from imgcl.imbalance import make_splits

pytestmark = [pytest.mark.realdata, pytest.mark.slow]


@pytest.fixture(scope="module")
def computers() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    graph = load_graph("amazon-computers")
    assert graph.y is not None
    return propagated_features(graph), np.array(graph.y)


def loss(problem: Problem, coefficients: NDArray[np.float64], c: float) -> float:
    logits = problem.x.double().numpy() @ coefficients[:, :-1].T + coefficients[:, -1]
    own = torch.log_softmax(torch.from_numpy(logits), dim=1).gather(1, problem.y[:, None])[:, 0]
    return float(-c * (problem.weight[0].double() * own).sum() + 0.5 * (coefficients[:, :-1] ** 2).sum())


def test_optimum_and_accuracy_equal_scikit_learns(computers: tuple[NDArray[np.float32], NDArray[np.int64]]) -> None:
    Z, y = computers
    x, codes = torch.from_numpy(normalise_rows(Z)), torch.from_numpy(y)
    (split,) = make_splits(y, "exp:100", splits=1)
    train, test = np.array(split.train), np.array(split.test)
    task = Task(x[train], codes[train], x[:0], codes[:0], 10)
    problems = [uniform(task), balanced(task)]
    fitted = fit_path(problems, PENALTIES).double().numpy()
    for problem, path, class_weight in zip(problems, fitted, (None, "balanced"), strict=True):
        for i in (0, 3, 5, 7, 9, 10):
            model = LogisticRegression(C=PENALTIES[i], max_iter=20_000, tol=1e-7, class_weight=class_weight)
            model.fit(problem.x.double().numpy(), problem.y.numpy())
            optimum = np.concatenate([model.coef_, model.intercept_[:, None]], axis=1)
            assert loss(problem, path[i], PENALTIES[i]) <= loss(problem, optimum, PENALTIES[i]) * (1 + 1e-4)
            ours = (x[test].double().numpy() @ path[i][:, :-1].T + path[i][:, -1]).argmax(axis=1)
            theirs = model.predict(x[test].double().numpy())
            assert np.mean(ours == y[test]) == pytest.approx(np.mean(theirs == y[test]), abs=0.002)


def test_twenty_splits_and_four_classifiers(computers: tuple[NDArray[np.float32], NDArray[np.int64]]) -> None:
    names = ("plain", "reweight", "pbs", "logit-adjust")
    first = evaluate(*computers, classifier=names)
    assert first.to_json() == evaluate(*computers, classifier=names).to_json()
    assert first["plain", "accuracy"].mean > 0.75
    assert first["logit-adjust", "accuracy"].mean > 0.87
    assert first["ceiling", "accuracy"].mean > 0.9
