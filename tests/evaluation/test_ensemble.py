"""``ensemble``: the mean of a linear model, boosted trees and a forest, by hand and on problems that need either."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import imgcl
from imgcl.evaluation import Blocks, fit_scorer, predict
from imgcl.evaluation.ensemble import DOUBT, ENOUGH, Ensemble, EnsembleModel, leading_columns
from imgcl.evaluation.probes import batched
from imgcl.evaluation.tasks import Bench, LinearModel, PooledBench, Task
from imgcl.imbalance import make_splits

RNG = np.random.default_rng(0)
X = RNG.standard_normal((900, 6))
PRODUCT = (X[:, 0] * X[:, 1] > 0.4).astype(np.int64)
LINEAR = (X[:, 0] + X[:, 1] + 0.5 * RNG.standard_normal(900) > 1).astype(np.int64)


def fitted(y: np.ndarray, n: int = 400, bench: type[Bench] = Bench) -> tuple[list[EnsembleModel], Bench, torch.Tensor]:
    blocks = Blocks.of({"own": X})
    x, codes = torch.from_numpy(blocks.rows), torch.from_numpy(y)
    tasks = [Task(x[i:n:2], codes[i:n:2], x[n:600], codes[n:600], 2) for i in (0, 1)]
    made = bench(tasks, batched)
    return Ensemble().fit(made, 0, blocks), made, x


def test_logits_are_the_mean_less_tau_times_the_log_shares() -> None:
    models, bench, x = fitted(PRODUCT)
    model, task = models[0], bench.tasks[0]
    boosted, forest = model.trees
    assert (boosted.kind, forest.kind) == ("boosting", "forest")
    mean = (model.linear.logits(x) + boosted.logits(x) + forest.logits(x)) / 3
    shares = task.sizes / task.sizes.sum()
    expected = mean - model.setting["tau"] * shares.log()
    torch.testing.assert_close(model.logits(x), expected)
    torch.testing.assert_close(torch.from_numpy(model.classify(x).probabilities), torch.softmax(expected, dim=1))


def test_with_few_labels_it_is_the_linear_model() -> None:
    few = 4 * ENOUGH - 4  # two tasks with half of them each: a pair less than enough for two classes
    models, _, x = fitted(LINEAR, few)
    assert [model.trees for model in models] == [(), ()]
    assert models[0].setting["trees"] == 0
    torch.testing.assert_close(models[0].logits(x) + models[0].shift, models[0].linear.logits(x))
    assert len(fitted(LINEAR, 4 * ENOUGH)[0][0].trees) == 2


def test_a_forest_sees_features_alone_and_is_never_sure() -> None:
    Z = {"learned": X[:, :2], "own": X[:, 2:]}
    both: Any = fit_scorer(Z, PRODUCT).model
    boosted, forest = both.trees
    assert boosted.columns.tolist() == [0, 1, 2, 3, 4, 5]
    assert forest.columns.tolist() == [2, 3, 4, 5]
    assert forest.logits(torch.from_numpy(Blocks.of(Z).rows)).min() >= np.log(DOUBT) - 1e-6
    alone: Any = fit_scorer(X, PRODUCT).model
    assert [each.kind for each in alone.trees] == ["boosting"]


def test_tasks_that_share_settings_share_tau() -> None:
    models, _, _ = fitted(PRODUCT, bench=PooledBench)
    assert models[0].setting["tau"] == models[1].setting["tau"]
    assert all(isinstance(model.linear, LinearModel) for model in models)


@pytest.mark.parametrize(("y", "weaker"), [(PRODUCT, "plain"), (LINEAR, "trees")])
def test_it_is_as_good_as_the_better_part(y: np.ndarray, weaker: str) -> None:
    splits = make_splits(y, "natural", 3, train_fraction=0.4)
    result = imgcl.evaluate({"own": X}, y, "natural", ("plain", "trees", "ensemble"), splits, ceiling=0)
    better = max(np.nanmean(result.values(name, "auprc")) for name in ("plain", "trees"))
    found = np.nanmean(result.values("ensemble", "auprc"))
    assert found > np.nanmean(result.values(weaker, "auprc"))
    assert found > better - 0.02


def test_trees_see_the_leading_columns_of_features_and_all_that_was_learned() -> None:
    blocks = Blocks(np.empty((0, 0), dtype=np.float32), {"learned": 100, "own": 256, "neighbours:calls": 80})
    columns = leading_columns(blocks)
    assert columns.tolist() == [*range(100), *range(100, 164), *range(356, 420)]


def test_predictions_repeat_by_seed_and_for_any_number_of_threads() -> None:
    labels = np.where(np.arange(900) % 6 == 0, PRODUCT, -1)
    threads, found = torch.get_num_threads(), []
    try:
        for number in (1, 2):
            torch.set_num_threads(number)
            found.append(predict({"own": X}, labels, random_state=3))
    finally:
        torch.set_num_threads(threads)
    assert found[0].equals(found[1])
    assert not found[0]["p_1"].equals(predict({"own": X}, labels, random_state=4)["p_1"])


def test_one_label_in_a_class_and_many_classes() -> None:
    y = np.array(["a"] * 60 + ["b"] * 60 + ["c"])
    Z = X[:121] + (y == "b")[:, None] * 3.0
    scorer: Any = fit_scorer(Z, y)
    assert scorer.class_names == ("a", "b", "c")
    assert np.isfinite(scorer.predict_proba(Z)).all()
