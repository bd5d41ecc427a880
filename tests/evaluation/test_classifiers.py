import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from imgcl.evaluation import CLASSIFIERS
from imgcl.evaluation.centroids import class_means
from imgcl.evaluation.classifiers import TAUS, class_weights, log_prior, progressive, uniform
from imgcl.evaluation.labels import normalise_rows
from imgcl.evaluation.names import WEIGHTINGS
from imgcl.evaluation.probes import PENALTIES, PROBES
from imgcl.evaluation.softmax import ABSENT, Problem
from imgcl.evaluation.tasks import Bench, Candidates, PooledBench, Task, best_candidate, validation_scores

Blobs = tuple[NDArray[np.float32], NDArray[np.int64]]


def task_of(blobs: Blobs, train_sizes: tuple[int, ...] = (100, 30, 10, 4)) -> Task:
    Z, y = blobs
    x, codes = torch.from_numpy(normalise_rows(Z)), torch.from_numpy(y)
    by_class = [np.flatnonzero(y == k) for k in range(4)]
    train = np.concatenate([nodes[:n] for nodes, n in zip(by_class, train_sizes, strict=True)])
    val = np.concatenate([nodes[-60:-40] for nodes in by_class])
    return Task(x[train], codes[train], x[val], codes[val], 4)


def tail_recall(blobs: Blobs, coefficients: torch.Tensor) -> float:
    Z, y = blobs
    x = torch.from_numpy(normalise_rows(Z))[torch.from_numpy(y) == 3][-40:]
    return float(((x @ coefficients[:, :-1].T + coefficients[:, -1]).argmax(dim=1) == 3).float().mean())


def test_class_weights_by_hand() -> None:
    task = Task(torch.zeros(4, 1), torch.tensor([0, 0, 0, 2]), torch.zeros(0, 1), torch.zeros(0).long(), 3)
    # two classes have samples, N = (3, 1): shares at alpha = 0 are 1/2 each, so 1/6 and 1/2 per sample, times N = 4
    assert class_weights(task, 0.0).tolist() == pytest.approx([2 / 3] * 3 + [2.0])
    assert class_weights(task, 1.0).tolist() == pytest.approx([1.0] * 4)
    # alpha = 1/2: shares 0.5 * (3/4, 1/4) + 0.5 * (1/2, 1/2) = (5/8, 3/8)
    assert class_weights(task, 0.5).tolist() == pytest.approx([5 / 6] * 3 + [1.5])
    assert log_prior(task).tolist() == pytest.approx([np.log(0.75), ABSENT, np.log(0.25)])


def test_progressive_weights_are_the_mean_of_real_draws() -> None:
    """Eq. 3 as a sampler: draw a class, then one of its samples; frequencies approach the stage's weights."""
    task = Task(torch.zeros(12, 1), torch.tensor([0] * 9 + [1] * 2 + [2]), torch.zeros(0, 1), torch.zeros(0).long(), 3)
    schedule = progressive(task).weight
    assert schedule.shape == (9, 12)
    rng = np.random.default_rng(0)
    sizes, y = np.array([9, 2, 1]), task.y.numpy()
    for stage in (0, 3, 8):
        alpha = 1 - stage / 8
        shares = alpha * sizes / 12 + (1 - alpha) / 3
        classes = rng.choice(3, size=60_000, p=shares)
        drawn = np.concatenate([rng.choice(np.flatnonzero(y == k), size=(classes == k).sum()) for k in range(3)])
        frequency = np.bincount(drawn, minlength=12) / len(drawn)
        assert (schedule[stage] / schedule[stage].sum()).numpy() == pytest.approx(frequency, abs=0.01)


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name != "plain"])
def test_every_answer_to_imbalance_finds_more_of_the_tail_than_plain(name: str, blobs: Blobs) -> None:
    bench = Bench([task_of(blobs)], PROBES["batched"])
    (plain,), (model,) = CLASSIFIERS["plain"](bench), CLASSIFIERS[name](bench)
    assert tail_recall(blobs, model.coefficients) >= tail_recall(blobs, plain.coefficients) + 0.1


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_class_without_training_labels_is_never_predicted(name: str, blobs: Blobs) -> None:
    (model,) = CLASSIFIERS[name](Bench([task_of(blobs, (100, 30, 0, 4))], PROBES["batched"]))
    x = torch.from_numpy(normalise_rows(blobs[0]))
    predicted = model.logits(x).argmax(dim=1)
    assert torch.isfinite(model.logits(x)).all()
    assert set(predicted.tolist()) <= {0, 1, 3}
    assert 3 in predicted


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_one_sample_in_a_class_is_enough(name: str, blobs: Blobs) -> None:
    (model,) = CLASSIFIERS[name](Bench([task_of(blobs, (50, 20, 5, 1))], PROBES["batched"]))
    assert torch.isfinite(model.coefficients).all()


def test_pbs_lies_between_plain_and_reweight(blobs: Blobs) -> None:
    """It starts at plain and approaches reweight; where the penalty is heavy the solver arrives."""
    bench = Bench([task_of(blobs)], PROBES["batched"])
    start, end = bench.candidates(uniform), bench.candidates(WEIGHTINGS["reweight"])
    followed = bench.follow(progressive, start)
    gap = (followed.coefficients - end.coefficients).flatten(2).norm(dim=2)[0]
    whole = (start.coefficients - end.coefficients).flatten(2).norm(dim=2)[0]
    assert (gap[:6] < 0.05 * whole[:6]).all()
    assert (gap < whole).all()
    assert gap[-1] > 0.05 * whole[-1]


def test_logit_adjustment_shifts_intercepts_by_tau_times_the_log_prior(blobs: Blobs) -> None:
    task = task_of(blobs)
    bench = Bench([task], PROBES["batched"])
    (model,) = CLASSIFIERS["logit-adjust"](bench)
    assert model.setting["tau"] in TAUS
    index = PENALTIES.index(model.setting["C"])
    fitted = bench.candidates(uniform).coefficients[0, index]
    expected = fitted[:, -1] - model.setting["tau"] * torch.tensor([100, 30, 10, 4]).div(144).log()
    assert model.coefficients[:, -1].tolist() == pytest.approx(expected.tolist(), rel=1e-5)
    assert torch.equal(model.coefficients[:, :-1], fitted[:, :-1])


def test_lda_equals_scikit_learns_up_to_its_shrinkage(blobs: Blobs) -> None:
    task = task_of(blobs)
    (model,) = CLASSIFIERS["lda"](Bench([task], PROBES["batched"]))
    x, y = task.x.double().numpy(), task.y.numpy()
    centred = x - class_means(task).numpy()[y]
    # scikit-learn weights class covariances by the priors and divides by n; give it ours instead
    covariance = centred.T @ centred / (len(y) - 4)
    shrinkage = model.setting["shrinkage"]

    class Ours:
        def fit(self, _: NDArray[np.float64]) -> "Ours":
            mean = np.trace(covariance) / len(covariance)
            self.covariance_ = (1 - shrinkage) * covariance + shrinkage * mean * np.eye(len(covariance))
            return self

    reference = LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=Ours(), priors=[0.25] * 4).fit(x, y)
    scores = model.logits(task.x_val).numpy()
    expected = reference.decision_function(task.x_val.numpy())
    assert scores - scores[:, :1] == pytest.approx(expected - expected[:, :1], abs=1e-2)


def test_nearest_mean_is_the_nearest_mean(blobs: Blobs) -> None:
    task = task_of(blobs)
    (model,) = CLASSIFIERS["nearest-mean"](Bench([task], PROBES["batched"]))
    distance = torch.cdist(task.x_val.double(), class_means(task))
    assert torch.equal(model.logits(task.x_val).argmax(dim=1), distance.argmin(dim=1))


def test_validation_chooses_by_balanced_accuracy_then_log_loss() -> None:
    x_val, y_val = torch.tensor([[1.0], [1.0], [1.0], [-1.0]]), torch.tensor([0, 0, 0, 1])
    task = Task(x_val, y_val, x_val, y_val, 2)
    always_0 = torch.tensor([[0.0, 1.0], [0.0, 0.0]])  # 75 % right, balanced 50 %
    right = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])  # all right
    accuracy, loss = validation_scores(task, torch.stack([always_0, right, 3 * right]))
    assert accuracy.tolist() == pytest.approx([0.5, 1.0, 1.0])
    assert loss[1].item() == pytest.approx(np.log1p(np.exp(-2)))
    assert best_candidate(accuracy, loss) == 2  # as right, and surer


def test_pooled_bench_gives_every_task_the_same_setting(blobs: Blobs) -> None:
    first, second = task_of(blobs), task_of(blobs, (60, 40, 20, 10))
    nothing = Task(second.x, second.y, second.x_val[:0], second.y_val[:0], 4)
    alone = Bench([first], PROBES["batched"])
    pooled = PooledBench([first, nothing], PROBES["batched"])
    models = CLASSIFIERS["reweight"](pooled)
    (expected,) = CLASSIFIERS["reweight"](alone)
    assert models[0].setting == models[1].setting == expected.setting


def test_fits_are_made_once_and_together(blobs: Blobs) -> None:
    calls: list[int] = []

    def counting(problems: list[Problem], start: Candidates | None) -> Candidates:
        calls.append(len(problems))
        return PROBES["batched"](problems, start)

    names = ("plain", "reweight", "logit-adjust")
    bench = Bench([task_of(blobs)], counting, [WEIGHTINGS[name] for name in names])
    for name in names:
        CLASSIFIERS[name](bench)
    assert calls == [2]


def test_scikit_learns_probe_agrees_with_ours(blobs: Blobs) -> None:
    x = torch.from_numpy(normalise_rows(blobs[0]))
    ours, theirs = (Bench([task_of(blobs, (40, 15, 6, 3))], PROBES[probe]) for probe in ("batched", "sklearn"))

    def agreement(a: Candidates, b: Candidates) -> torch.Tensor:
        first, second = ((x @ c.coefficients[0, :, :, :-1].mT + c.coefficients[0, :, None, :, -1]) for c in (a, b))
        # under the heaviest penalties scikit-learn stops, by its default tolerance, before classes separate
        return (first.argmax(dim=2) == second.argmax(dim=2)).float().mean(dim=1)[2:]

    for name in ("plain", "reweight"):
        assert (agreement(*(bench.candidates(WEIGHTINGS[name]) for bench in (ours, theirs))) > 0.98).all()
    # the stages of pbs stop early, and the solvers take different steps
    followed = [bench.follow(progressive, bench.candidates(uniform)) for bench in (ours, theirs)]
    assert (agreement(*followed) > 0.9).all()


def test_scikit_learns_probe_refuses_offsets(blobs: Blobs) -> None:
    with pytest.raises(ValueError, match="use probe='batched'"):
        CLASSIFIERS["balanced-softmax"](Bench([task_of(blobs)], PROBES["sklearn"]))


def test_pygcls_probe_trains_with_adam_and_keeps_the_best_step(blobs: Blobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imgcl.evaluation.probes.STEPS", 200)
    task = task_of(blobs)
    bench = Bench([task], PROBES["pygcl"])
    (model,) = CLASSIFIERS["reweight"](bench)
    assert model.setting["step"] in range(20, 201, 20)
    linear = torch.nn.Linear(12, 4)
    torch.nn.init.zeros_(linear.weight)
    torch.nn.init.zeros_(linear.bias)
    adam = torch.optim.Adam(linear.parameters(), lr=0.01)
    weight = class_weights(task, 0.0)
    for _ in range(int(model.setting["step"])):
        adam.zero_grad()
        losses = torch.nn.functional.cross_entropy(linear(task.x), task.y, reduction="none")
        (losses * weight / weight.sum()).sum().backward()
        adam.step()
    assert model.coefficients[:, :-1].numpy() == pytest.approx(linear.weight.detach().numpy(), abs=5e-3)
    (progressed,) = CLASSIFIERS["pbs"](bench)
    assert torch.isfinite(progressed.coefficients).all()


def test_best_is_the_best_of_three_on_validation(blobs: Blobs) -> None:
    task = task_of(blobs)
    bench = Bench([task], PROBES["batched"])
    scores = {}
    for name in ("plain", "reweight", "logit-adjust", "best"):
        (model,) = CLASSIFIERS[name](bench)
        scores[name] = validation_scores(task, model.coefficients[None])[0].item()
    assert scores["best"] == pytest.approx(max(scores.values()))
    (model,) = CLASSIFIERS["best"](bench)
    assert len({"tau", "reweight"} & set(model.setting)) == 1
