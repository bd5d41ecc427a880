"""Ctrl-C that waits and is noted once, that ends a block, and that is not lost."""

import ctypes
import os
import signal
import sys
import threading
import time

import pytest

from imgcl._core.errors import StoppedError
from imgcl._core.interrupts import Interrupts, deferred_interrupts, heeded_interrupts


def press_and_wait(number):
    press(number)
    time.sleep(5)


def press(number=signal.SIGINT):
    os.kill(os.getpid(), number)


def test_the_first_is_noted_and_the_second_raised():
    said = []
    with deferred_interrupts(lambda: said.append("stopping")) as interrupts:
        assert not interrupts
        press()
        assert interrupts
        assert said == ["stopping"]
        with pytest.raises(KeyboardInterrupt):
            press()
    assert said == ["stopping"]
    assert interrupts.exit_code == 130


def test_a_scheduler_may_ask_more_than_once():
    with deferred_interrupts() as interrupts:
        press(signal.SIGTERM)
        press(signal.SIGTERM)
    assert interrupts.exit_code == 143


def test_afterwards_everything_is_as_before():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with deferred_interrupts():
        assert signal.getsignal(signal.SIGINT) is not before[0]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_in_a_thread_nothing_is_noted_and_nothing_breaks():
    found = []

    def work():
        with deferred_interrupts() as interrupts:
            found.append(bool(interrupts))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [False]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_at_once_ends_with_the_message(number, code):
    with deferred_interrupts() as interrupts:
        with (
            pytest.raises(StoppedError, match="while it rained") as stopped,
            interrupts.at_once("stopped while it rained"),
        ):
            press_and_wait(number)
        assert stopped.value.exit_code == code


def test_at_once_ends_before_it_begins_when_a_signal_was_noted():
    worked = False
    with deferred_interrupts() as interrupts:
        press(signal.SIGTERM)
        with pytest.raises(StoppedError), interrupts.at_once("stopped"):
            worked = True
    assert not worked


def test_at_once_leaves_other_interruptions_as_they_are():
    with pytest.raises(KeyboardInterrupt), Interrupts().at_once("stopped"):
        raise KeyboardInterrupt


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_heeded_interrupts_raise_and_know_the_signal(number):
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)], sys.unraisablehook
    with pytest.raises(KeyboardInterrupt), heeded_interrupts() as interrupts:
        press_and_wait(number)
    assert interrupts.exit_code == 128 + number
    assert ([signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)], sys.unraisablehook) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_in_a_callback_of_c_is_not_lost(number, capsys):
    @ctypes.CFUNCTYPE(None)
    def callback():
        press(number)
        time.sleep(0.2)

    def call_and_wait():
        callback()
        time.sleep(5)

    with pytest.raises(KeyboardInterrupt), heeded_interrupts() as interrupts:
        call_and_wait()
    assert interrupts.exit_code == 128 + number
    assert capsys.readouterr().err == ""


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with heeded_interrupts() as interrupts:
            press(signal.SIGINT)
        assert not interrupts
    finally:
        signal.signal(signal.SIGINT, before)
