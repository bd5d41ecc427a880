"""Stages: one share of the whole, whoever listens, and nothing that one thread does to another."""

import logging
import threading

import pytest

from imgcl._core.progress import Told, listening, logger, stage, tracked, verbose


def heard(work):
    told: list[Told] = []
    with listening(told.append):
        work()
    return told


def test_a_stage_inside_another_is_as_much_of_it_as_its_weight():
    def work():
        with stage("all", units=10) as whole:
            whole(2)
            with stage("part", units=4, unit="step", weight=8) as part:
                part(1, "loss 0.5")
                part.to(3)

    told = heard(work)
    assert [round(each.share, 3) for each in told] == [0.0, 0.2, 0.2, 0.4, 0.8, 1.0, 1.0]
    assert told[3].text == "part: step 1/4, loss 0.5"
    assert told[4].text == "part: step 3/4"


def test_what_was_done_before_is_told_as_given():
    def work():
        with stage("all", units=2), stage("epochs", units=100, done=50) as epochs:
            epochs()

    told = heard(work)
    assert told[-1].given == 0.25
    assert told[2].share == pytest.approx(0.255)


def test_a_stage_that_may_end_early_is_told_as_such():
    def work():
        with stage("all", units=2) as whole:
            whole()
            with stage("epochs", units=100, at_most=True) as epochs:
                epochs()

    assert [each.at_most for each in heard(work)] == [False, False, True, True, False, False]


def test_a_stage_that_fails_counts_as_over_and_the_one_around_it_goes_on():
    def work():
        with stage("all", units=2):
            for _ in range(2):
                try:
                    with stage("part"):
                        raise ValueError
                except ValueError:
                    pass

    assert [each.share for each in heard(work)] == [0.0, 0.0, 0.5, 1.0]


def test_work_that_fails_is_never_told_as_done():
    told: list[Told] = []

    def work():
        with listening(told.append), stage("all"), stage("part"):
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        work()
    assert [each.share for each in told] == [0.0, 0.0]


def test_another_thread_is_not_heard():
    def work():
        other = threading.Thread(target=lambda: list(tracked(range(3), "other", "thing")))
        with stage("mine"):
            other.start()
            other.join()

    assert {each.text for each in heard(work)} == {""}


def test_nobody_needs_to_listen():
    assert sum(tracked([1, 2], "numbers", "number")) == 3


@pytest.mark.parametrize(
    ("level", "said"), [(0, []), (1, ["epoch 2/20", "20/20", " s"]), (2, ["epoch 1/20", "epoch 2/20"])]
)
def test_verbose_writes_to_standard_error_where_no_logging_was_set_up(capsys, monkeypatch, level, said):
    monkeypatch.setattr(logger, "propagate", False)  # pytest has set up logging
    with verbose(level), stage("training", 20, unit="epoch") as advance:
        for _ in range(20):
            advance()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == {0: 0, 1: 11, 2: 21}[level]
    assert all(any(part in line for line in lines) for part in said)


def test_the_logger_gets_each_line_once(capsys, caplog):
    caplog.set_level(logging.INFO, logger="imgcl")
    with verbose(1), stage("training", 20, unit="epoch") as advance:
        for i in range(20):
            advance(text=f"loss {i}")
    assert capsys.readouterr().err == ""
    assert caplog.messages[0] == "training: epoch 2/20, loss 1"
    assert len(caplog.messages) == 11


def test_without_verbose_the_library_is_silent(capsys, monkeypatch):
    monkeypatch.setattr(logger, "propagate", False)
    list(tracked(range(20), "numbers", "number"))
    assert capsys.readouterr() == ("", "")
