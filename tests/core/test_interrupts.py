"""Ctrl-C that waits: noted once, raised the second time, only while the block lasts; and that ends a block at once."""

import os
import signal
import threading
import time

import pytest

from imgcl._core.errors import StoppedError
from imgcl._core.interrupts import deferred_interrupts, prompt_interrupts


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
def test_prompt_interrupts_end_at_once_with_the_message(number, code):
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]

    @prompt_interrupts("stopped while it rained")
    def work():
        press(number)
        time.sleep(5)

    with pytest.raises(StoppedError, match="while it rained") as stopped:
        work()
    assert stopped.value.exit_code == code
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before
