"""The ranks of one attempt find each other, and none of an earlier attempt.

``torchrun`` keeps one key-value store for all restarts, and the addresses of processes that died are still in it.
A rank that is quicker than its new peers would read these and wait for the dead. So rank 0 makes up a name for the
attempt, gives it to the ranks that ask now, and everything else happens under that name.
"""

from __future__ import annotations

import time
import uuid
from datetime import timedelta

from torch._C._distributed_c10d import PrefixStore, Store  # where torch.distributed has them from, with types

PAUSE = 0.02  # seconds between two looks into the store


def fresh_store(store: Store, rank: int, size: int, timeout: timedelta) -> Store:
    """The part of a store that belongs to this attempt alone.

    Args:
        store: what all attempts share.
        rank: number of this process.
        size: the world size.
        timeout: how long to wait for the others.

    Raises:
        TimeoutError: when not all ranks came.
    """
    own, deadline = uuid.uuid4().hex, time.monotonic() + timeout.total_seconds()
    name = _invite(store, own, size, deadline) if rank == 0 else _ask(store, own, rank, deadline)
    return PrefixStore(f"attempt/{name}", store)


def _invite(store: Store, name: str, size: int, deadline: float) -> str:
    """Rank 0: answer every rank that asks, until all have confirmed the name."""
    answered: set[str] = set()
    missing = set(range(1, size))
    while missing:
        for rank in sorted(missing):
            if _has(store, f"ask/{rank}"):
                asker = store.get(f"ask/{rank}").decode()
                if asker not in answered:  # perhaps one that died: then the answer is never read
                    store.set(f"answer/{asker}", name)
                    answered.add(asker)
            if _has(store, f"confirm/{name}/{rank}"):
                missing.discard(rank)
        _pause(deadline, f"{len(missing)} of {size} ranks did not come")
    store.set(f"begin/{name}", "")
    return name


def _ask(store: Store, own: str, rank: int, deadline: float) -> str:
    """Any other rank: rank 0 of an earlier attempt may still answer, so the last answer counts."""
    store.set(f"ask/{rank}", own)
    name = ""
    while not name or not _has(store, f"begin/{name}"):
        if _has(store, f"answer/{own}"):
            latest = store.get(f"answer/{own}").decode()
            if latest != name:
                name = latest
                store.set(f"confirm/{name}/{rank}", "")
        _pause(deadline, "rank 0 did not come")
    return name


def _has(store: Store, key: str) -> bool:
    return bool(store.check([key]))


def _pause(deadline: float, trouble: str) -> None:
    if time.monotonic() > deadline:
        raise TimeoutError(f"{trouble}: see whether all machines run the same command and reach each other")
    time.sleep(PAUSE)
