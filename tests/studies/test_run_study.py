"""Studies run in this process, with an engine that computes in line: what is computed, shared, failed, left."""

import errno
import os

import numpy as np
import pytest

from imgcl.studies import Results, Store, make_report, running, write_report
from imgcl.studies.engines.base import Settings
from imgcl.studies.engines.worker import Worker
from imgcl.studies.grid import StudySpec, expand
from imgcl.studies.running import run_study

computed = []


def in_line(agenda, store, settings, on_done):
    worker = Worker(store, None)
    while not settings.time_is_up and (cell := agenda.next()) is not None:
        record = worker.work(cell)
        computed.append(cell.key)
        agenda.finished(cell, record)
        on_done(cell, record)


@pytest.fixture(autouse=True)
def engine(monkeypatch):
    computed.clear()
    monkeypatch.setattr(running, "resolve_engine", lambda name: in_line)


def run(points, root, name="tiny", **options):
    return run_study(name, points, Store(root), command=f"imgcl study run {name}.toml", **options)


@pytest.fixture(scope="module")
def finished(tiny_points, tmp_path_factory):
    root = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "resolve_engine", lambda name: in_line)
        run(tiny_points, root)
    return root


def test_a_finished_study_computes_nothing_and_leaves_its_journal_alone(tiny_points, finished):
    before = Store(finished).journal("tiny").path.read_bytes()
    progress = run(tiny_points, finished)
    assert computed == []
    assert (progress.computed, progress.finished, progress.total) == (0, 4, 4)
    assert Store(finished).journal("tiny").path.read_bytes() == before
    keys = [line["key"] for line in Store(finished).journal("tiny").lines() if line["type"] == "cell"]
    assert len(keys) == len(set(keys)) == 8  # 4 pre-trainings, 4 evaluations


def test_another_study_finds_the_cells(tiny_points, finished):
    run(tiny_points, finished, name="other")
    assert computed == []
    theirs, ours = (Results(name, Store(finished).journal(name)) for name in ("tiny", "other"))
    labels = {"dataset": "digits", "method": "gbt", "balance": "imgcl"}
    assert ours.evaluation(**labels).to_dict() == theirs.evaluation(**labels).to_dict()
    assert ours.seconds() == theirs.seconds()


def test_another_study_finds_the_results_in_a_journal_when_the_cells_are_gone(tiny_points, finished, tmp_path):
    kept = Store(tmp_path).journal("tiny").path
    kept.parent.mkdir(parents=True)
    kept.write_bytes(Store(finished).journal("tiny").path.read_bytes())
    progress = run(tiny_points, tmp_path, name="other")
    assert computed == []
    assert (progress.finished, progress.total) == (4, 4)
    assert Results("other", Store(tmp_path).journal("other")).counts() == {"done": 8, "failed": 0, "open": 0}


def test_more_seeds_and_other_laws_compute_the_difference_only(tiny_spec, digits, finished):
    more = tiny_spec.model_copy(update={"seeds": 3})
    run(expand(more, digits), finished)
    assert len(computed) == 4  # one more seed: 2 pre-trainings, 2 evaluations
    computed.clear()
    run(expand(tiny_spec.model_copy(update={"imbalances": ("exp:20",)}), digits), finished)
    assert len(computed) == 4  # 4 evaluations of pre-trainings that are there


def test_results_are_over_seeds_and_splits(tiny_points, tmp_path):
    run(tiny_points, tmp_path)
    results = Results("tiny", Store(tmp_path).journal("tiny"))
    evaluation = results.evaluation(dataset="digits", method="gbt", balance="none")
    assert evaluation.of("plain").seeds.tolist() == [0, 0, 1, 1]
    assert evaluation.of("plain").splits.tolist() == [0, 1, 0, 1]
    assert 0.1 < evaluation["plain", "accuracy"].mean < 1
    assert results.counts() == {"done": 8, "failed": 0, "open": 0}
    assert len(results.pretrainings(balance="imgcl")) == 2
    assert results.pretrainings(balance="imgcl")[0]["labellings"][0]["true_drawn"]


def test_the_record_is_what_evaluate_gives(tiny_points, tmp_path):
    from imgcl.evaluation import evaluate

    run(tiny_points[:1], tmp_path)
    cell = tiny_points[0].cell
    stored = Store(tmp_path).run(cell.needs)
    direct = evaluate(stored.embedding, stored.labels, "exp:100", ("plain", "pbs"), 2, 0)
    ours = Results("tiny", Store(tmp_path).journal("tiny")).evaluation(dataset="digits")
    for name in direct.classifiers:
        assert np.array_equal(ours.of(name).confusion, direct.of(name).confusion)
        np.testing.assert_allclose(ours.of(name).ece, direct.of(name).ece, atol=1e-5)
    assert np.array_equal(ours.ceiling.confusion, direct.ceiling.confusion)
    assert ours.groups == direct.groups


def test_a_failure_is_recorded_stops_nobody_else_and_can_be_tried_again(digits, tmp_path):
    spec = StudySpec(
        name="tiny",
        datasets=("digits",),
        # more clusters than nodes cannot be made
        balances={"impossible": "n_clusters=5000", "none": "none"},
        classifiers=("plain",),
        settings={"epochs": 2, "dim": 8},
        seeds=1,
        splits=2,
    )
    points = expand(spec, digits)
    progress = run(points, tmp_path)
    assert (progress.finished, progress.failed, progress.blocked) == (2, 1, 1)
    results = Results("tiny", Store(tmp_path).journal("tiny"))
    (failed,) = results.failures()
    assert failed["kind"] == "pretrain"
    assert "5000" in failed["message"]
    assert failed["labels"]["balance"] == "impossible"
    assert results.evaluation(balance="none") is not None
    computed.clear()
    assert run(points, tmp_path).failed == 0  # known to fail: its evaluation stays blocked, nothing is tried
    assert computed == []
    assert run(points, tmp_path, retry_failed=True).failed == 1
    assert len(computed) == 1


def test_the_budget_stops_between_cells(tiny_points, tmp_path):
    progress = run(tiny_points, tmp_path, settings=Settings(deadline=0.0))
    assert (progress.computed, progress.total) == (0, 8)
    assert Results("tiny", Store(tmp_path).journal("tiny")).counts() == {"done": 0, "failed": 0, "open": 8}


def test_the_time_left_is_told(tiny_points, tmp_path):
    seen = []
    run(tiny_points, tmp_path, on_progress=lambda progress, cell, record: seen.append(progress.left))
    assert seen[0] is None
    assert seen[1] > 0
    assert seen[-1] == 0


def test_a_later_plan_replaces_the_points_of_its_groups_only(tiny_spec, digits, tmp_path):
    run(expand(tiny_spec, digits), tmp_path)
    fewer = expand(tiny_spec.model_copy(update={"seeds": 1, "splits": 3}), digits)
    run([point for point in fewer if point.labels["balance"] == "imgcl"], tmp_path)
    results = Results("tiny", Store(tmp_path).journal("tiny"))
    assert len(results.evaluation(balance="imgcl").of("plain").splits) == 3
    assert len(results.evaluation(balance="none").of("plain").splits) == 4


def test_what_serves_one_split_only_is_not_kept(digits, tmp_path):
    spec = StudySpec(
        name="tiny",
        datasets=("digits",),
        balances={"imgcl": "imgcl"},
        classifiers=("plain",),
        scope="inductive",
        imbalances=("exp:10",),
        settings={"epochs": 2, "dim": 8},
        seeds=1,
        splits=2,
    )
    run(expand(spec, digits), tmp_path)
    assert not list(tmp_path.glob("cells/*/embedding.npy"))
    results = Results("tiny", Store(tmp_path).journal("tiny"))
    assert len(results.evaluation(balance="imgcl").of("plain").splits) == 2
    computed.clear()
    run(expand(spec.model_copy(update={"classifiers": ("reweight",)}), digits), tmp_path)
    assert len(computed) == 4  # pre-trained again: its embedding is gone
    assert len(Store(tmp_path).journal("tiny").lines()) == 2 + 4 + 2  # plans, first run, evaluations of the second


def test_reports_come_from_the_journal_alone_byte_for_byte(tiny_points, finished, tmp_path):
    journal = Store(finished).journal("tiny").path
    moved = Store(tmp_path / "moved")
    moved.journal("tiny").path.parent.mkdir(parents=True)
    moved.journal("tiny").path.write_bytes(journal.read_bytes())
    for store, out in ((Store(finished), "a"), (moved, "b"), (moved, "c")):
        results = Results("tiny", store.journal("tiny"))
        write_report(make_report(results), results, tmp_path / out)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["tiny.csv", "tiny.md", "tiny.tex"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
        assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "c" / name).read_bytes()


def test_a_full_disk_stops_a_study_and_fails_no_cell(tiny_points, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("imgcl.training.run.Run.finish", full)
        with pytest.raises(OSError, match="No space left"):
            run(tiny_points, tmp_path)
    cells = list((tmp_path / "cells").iterdir())
    assert [(cell / "checkpoint.safetensors").exists() for cell in cells] == [True]
    assert run(tiny_points, tmp_path).failed == 0
    assert Results("tiny", Store(tmp_path).journal("tiny")).counts() == {"done": 8, "failed": 0, "open": 0}
