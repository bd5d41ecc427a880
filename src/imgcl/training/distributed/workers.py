"""Who trains together."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.rendezvous import rendezvous

from imgcl.training.distributed.rendezvous import fresh_store

PATIENCE = timedelta(hours=12)  # the others wait while the first worker embeds and clusters a large graph


@dataclass(frozen=True)
class Workers:
    """One of several workers.

    Attributes:
        rank: its number.
        size: how many there are.
    """

    rank: int = 0
    size: int = 1

    @property
    def first(self) -> bool:
        """Whether this worker selects, embeds and writes files."""
        return self.rank == 0

    def shard(self, n: int) -> slice:
        """This worker's part of n things; parts differ in size by at most one.

        Example:
            >>> [Workers(rank, 3).shard(8) for rank in range(3)]
            [slice(0, 2, None), slice(2, 5, None), slice(5, 8, None)]
        """
        return slice(n * self.rank // self.size, n * (self.rank + 1) // self.size)

    def from_first(self, value: Tensor) -> Tensor:
        """What the first worker has; the others give a tensor of the same shape and type."""
        if self.size > 1:
            value = value.clone()
            dist.broadcast(value, 0)
        return value

    def rows_from_first(self, rows: Tensor | None, known: Tensor | None) -> Tensor:
        """The first worker's row numbers; they travel only when they differ from those already ``known``."""
        if self.size == 1:
            assert rows is not None
            return rows
        fresh = rows is not None and rows is not known
        length = int(self.from_first(torch.tensor(len(rows) if fresh and rows is not None else -1)))
        if length < 0:
            assert known is not None
            return known
        received = self.from_first(torch.empty(length, dtype=torch.long) if rows is None else rows.cpu())
        return received if rows is None else rows

    def wait(self) -> None:
        """Until all workers are here."""
        if self.size > 1:
            dist.barrier()


ALONE = Workers()


@contextmanager
def joined_workers() -> Iterator[Workers]:
    """The workers that ``torchrun`` (or Ray Train) started this process among; :data:`ALONE` otherwise."""
    if dist.is_initialized():
        yield Workers(dist.get_rank(), dist.get_world_size())
        return
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        yield ALONE
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    shared, rank, size = next(rendezvous("env://", timeout=PATIENCE))
    store = fresh_store(shared, rank, size, PATIENCE)
    dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=PATIENCE)
    try:
        yield Workers(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()


def restarted() -> bool:
    """Whether ``torchrun`` started this process again after a failure."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0
