"""The process group of a training: rank, world size, and what rank 0 sends to the others."""

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

PATIENCE = timedelta(hours=12)  # the other ranks wait while rank 0 embeds and clusters a large graph


@dataclass(frozen=True)
class ProcessGroup:
    """This process among those that train one model.

    Attributes:
        rank: number of this process, from 0.
        world_size: number of processes.
    """

    rank: int = 0
    world_size: int = 1

    @property
    def is_rank_zero(self) -> bool:
        """Whether this is rank 0, which selects, embeds and writes files."""
        return self.rank == 0

    def shard(self, n: int) -> slice:
        """This rank's part of n items; parts differ in size by at most one.

        Example:
            >>> [ProcessGroup(rank, 3).shard(8) for rank in range(3)]
            [slice(0, 2, None), slice(2, 5, None), slice(5, 8, None)]
        """
        return slice(n * self.rank // self.world_size, n * (self.rank + 1) // self.world_size)

    def broadcast(self, value: Tensor) -> Tensor:
        """The tensor of rank 0; the other ranks pass one of the same shape and type."""
        if self.world_size > 1:
            value = value.clone()
            dist.broadcast(value, 0)
        return value

    def decide(self, answer: bool) -> bool:
        """The answer of rank 0, where the ranks might answer differently."""
        return bool(self.broadcast(torch.tensor(answer, device="cpu")))

    def broadcast_rows(self, rows: Tensor | None, known: Tensor | None) -> Tensor:
        """The row numbers of rank 0; they are sent only when they differ from those already ``known``."""
        if self.world_size == 1:
            assert rows is not None
            return rows
        fresh = rows is not None and rows is not known
        length = int(self.broadcast(torch.tensor(len(rows) if fresh and rows is not None else -1)))
        if length < 0:
            assert known is not None
            return known
        received = self.broadcast(torch.empty(length, dtype=torch.long) if rows is None else rows.cpu())
        return received if rows is None else rows

    def wait(self) -> None:
        """Wait until all ranks are here."""
        if self.world_size > 1:
            dist.barrier()


ALONE = ProcessGroup()


@contextmanager
def joined_group() -> Iterator[ProcessGroup]:
    """The process group that ``torchrun`` (or Ray Train) started this process in; :data:`ALONE` otherwise."""
    if dist.is_initialized():
        yield ProcessGroup(dist.get_rank(), dist.get_world_size())
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
        yield ProcessGroup(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()


def restarted() -> bool:
    """Whether ``torchrun`` started this process again after a failure."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0
