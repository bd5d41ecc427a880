"""Ranks of one attempt find each other, whatever earlier attempts left in the store."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import torch.distributed as dist

from imgcl.training.distributed.rendezvous import fresh_store

SOON = timedelta(seconds=20)


@pytest.fixture
def shared():
    return dist.HashStore()


def meet(shared, size, order=None):
    """All ranks at once; returns their stores."""
    with ThreadPoolExecutor(size) as pool:
        started = {rank: pool.submit(fresh_store, shared, rank, size, SOON) for rank in order or range(size)}
        return [started[rank].result() for rank in range(size)]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_an_attempt_has_a_store_of_its_own(shared, order):
    first = meet(shared, 3, order)
    first[0].set("address", "of somebody who dies")
    assert first[2].get("address") == b"of somebody who dies"
    again = meet(shared, 3, order)
    assert not again[1].check(["address"])
    again[1].set("address", "alive")
    assert again[2].get("address") == b"alive"


def test_askers_who_died_are_not_waited_for(shared):
    with pytest.raises(TimeoutError, match="rank 0 did not come"):
        fresh_store(shared, 1, 2, timedelta(seconds=0.1))
    stores = meet(shared, 2)
    stores[0].set("key", "x")
    assert stores[1].get("key") == b"x"


def test_a_rank_0_that_died_is_not_followed(shared):
    with pytest.raises(TimeoutError, match="2 of 3 ranks did not come"):
        fresh_store(shared, 0, 3, timedelta(seconds=0.1))
    stores = meet(shared, 3)
    stores[0].set("key", "x")
    assert stores[2].get("key") == b"x"


def test_the_last_answer_counts(shared):
    """Rank 1 hears first from a rank 0 that will never begin, then from the one that does."""
    with ThreadPoolExecutor(3) as pool:
        stale = pool.submit(fresh_store, shared, 0, 3, timedelta(seconds=1))  # waits for a rank 2 that never comes
        worker = pool.submit(fresh_store, shared, 1, 2, SOON)
        with pytest.raises(TimeoutError):
            stale.result()
        leader = pool.submit(fresh_store, shared, 0, 2, SOON)
        leader.result().set("key", "x")
        assert worker.result().get("key") == b"x"


def test_one_rank_needs_no_other(shared):
    assert not fresh_store(shared, 0, 1, SOON).check(["anything"])
