"""What a training step sees: the whole graph, or anchors with sampled neighbourhoods."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core import seeding
from imgcl._core.devices import has_kernels
from imgcl._core.errors import InputError
from imgcl._core.sparse import ColumnStatistics, locality_order
from imgcl.encoders import LayeredEncoder
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.graph.rows import with_columns
from imgcl.methods import Method
from imgcl.training.distributed.group import ALONE, ProcessGroup
from imgcl.training.sampling import FeatureSource, NeighbourSampler, encode_by_rows, sampled_block
from imgcl.training.settings import TrainingSettings

LARGE_NODES, LARGE_ENTRIES = 250_000, 20_000_000  # a graph with more is trained in mini-batches
AUTO_BATCH = 1024
ROWS_AT_ONCE = 1 << 16


class WholeGraph:
    """Every step passes messages over the whole graph; several ranks share the rows of the loss.

    Inside, the nodes stand in an order in which neighbours are near each other; rows and embeddings are in the graph's.

    Args:
        graph: the graph.
        training: says how features are normalised.
        device: where to compute.
        group: the process group that shares the work.
        statistics: what columns are standardised by; by default those of the graph.
        columns: which features to read, in this order; by default all.
    """

    def __init__(
        self,
        graph: Graph,
        training: TrainingSettings,
        device: torch.device,
        group: ProcessGroup,
        *,
        statistics: ColumnStatistics | None = None,
        columns: NDArray[np.int64] | None = None,
    ) -> None:
        order = locality_order(graph.adjacency) if has_kernels(device) else None
        if columns is not None:
            graph = replace(graph, x=with_columns(graph.x, columns))
        if order is not None:
            graph = replace(graph, relations=()).subgraph(order)
        if training.normalise == "column" and statistics is None:
            statistics = ColumnStatistics.of(graph.x)
        self.statistics = statistics
        self.block = Block.from_graph(graph, normalise=training.normalise, device=device, statistics=statistics)
        self.place = None if order is None else torch.from_numpy(np.argsort(order))
        self.group = group
        self._selected: tuple[Tensor, Tensor] | None = None

    def step(self, epoch: int, rows: Tensor | None) -> tuple[Block, Tensor | None]:
        """The block and its rows to contrast."""
        if rows is not None and self.place is not None:
            rows = self._placed(rows, self.place)
        if self.group.world_size > 1:
            everything = torch.arange(self.block.n_nodes, device=self.block.device) if rows is None else rows
            rows = everything[self.group.shard(len(everything))]
        return self.block, rows

    def embed(self, method: Method[Any]) -> Tensor:
        """Embeddings of all nodes."""
        z = method.embed(self.block)
        return z if self.place is None else z[self.place]

    def _placed(self, rows: Tensor, place: Tensor) -> Tensor:
        """Where the rows stand in the block, ascending; found once for each selection."""
        if self._selected is None or self._selected[0] is not rows:
            self._selected = (rows, place[rows].sort().values)
        return self._selected[1]


class MiniBatches:
    """Every step sees some anchors of the selection and what is sampled around them.

    A batch is a function of the seed, the epoch and the selection alone, so a resumed run sees the same ones, and the
    next one can be prepared in the background. Anchors are not drawn again before all others have had their turn.

    Args:
        graph: the graph; its arrays may be memory-mapped.
        method: whose encoders will read the batches.
        training: batch size, fan-out and normalisation.
        batch_size: anchors of a step, of all ranks together.
        seed: of the run.
        device: where to compute.
        scratch: directory for hidden layers while embedding.
        group: the process group that shares the work.
        statistics: what columns are standardised by; by default those of the graph.
        columns: which features to read, in this order; by default all.
    """

    def __init__(
        self,
        graph: Graph,
        method: Method[Any],
        training: TrainingSettings,
        batch_size: int,
        *,
        seed: int,
        device: torch.device,
        scratch: Path | None = None,
        group: ProcessGroup = ALONE,
        statistics: ColumnStatistics | None = None,
        columns: NDArray[np.int64] | None = None,
    ) -> None:
        self.graph, self.batch_size, self.seed, self.device = graph.messages, batch_size, seed, device
        self.scratch, self.group = scratch, group
        self.layers = _layers(method)
        fanout = training.fanout
        self.fanout = [fanout[min(hop, len(fanout) - 1)] for hop in range(self.layers)]
        self.diffusion = next((view.rows() for _, view in method.branches() if view is not None), None)
        if self.diffusion is not None and graph.received is not None:
            raise InputError("a diffusion needs edges that link both their ends: use `directed_as='both'`")
        self.sampler = NeighbourSampler(self.graph)
        self.source = FeatureSource(graph, training.normalise, device, statistics=statistics, columns=columns)
        self.statistics = self.source.statistics
        self._order: tuple[int, int, NDArray[np.int64]] | None = None
        self._ahead: tuple[int, Tensor | None, Future[Block]] | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="batches")

    def step(self, epoch: int, rows: Tensor | None) -> tuple[Block, Tensor | None]:
        """The batch of this epoch, with the anchors as its first rows; the next one is begun in the background."""
        if self._ahead is not None and self._ahead[0] == epoch and self._ahead[1] is rows:
            block = self._ahead[2].result()
        else:
            if self._ahead is not None:
                self._ahead[2].result()  # of another selection: only wait, for the sampler serves one at a time
            block = self.batch(epoch, rows)
        self._ahead = (epoch + 1, rows, self._pool.submit(self.batch, epoch + 1, rows))
        return block, torch.arange(block.reach[0], device=self.device)  # type: ignore[attr-defined]

    def batch(self, epoch: int, rows: Tensor | None) -> Block:
        """This rank's part of the batch of an epoch."""
        anchors = self.anchors(epoch, rows)
        anchors = anchors[self.group.shard(len(anchors))]
        found = self.sampler.sample(anchors, self.fanout, seeding.derive(self.seed, "neighbours", epoch))
        return sampled_block(self.graph, found, self.source, self.layers, self.device, self.diffusion)

    def anchors(self, epoch: int, rows: Tensor | None) -> NDArray[np.int64]:
        """All anchors of an epoch, ascending."""
        size = self.graph.n_nodes if rows is None else len(rows)
        turn, place = divmod(epoch, max(1, size // self.batch_size))
        if self._order is None or self._order[:2] != (turn, size):
            self._order = (turn, size, seeding.generator(self.seed, "anchors", turn).permutation(size))
        chosen = self._order[2][place * self.batch_size : (place + 1) * self.batch_size]
        return np.unique(chosen if rows is None else rows.cpu().numpy()[chosen])

    def embed(self, method: Method[Any]) -> NDArray[np.float32]:
        """Embeddings of all nodes, computed over ranges of rows."""
        total: NDArray[np.float32] | None = None
        for encoder, view in method.branches():
            rows = None if view is None else view.rows()
            z = encode_by_rows(
                encoder, self.graph, self.source, diffusion=rows, scratch=self.scratch, device=self.device
            )
            if total is None:
                total = z
                continue
            for begin in range(0, len(z), ROWS_AT_ONCE):
                total[begin : begin + ROWS_AT_ONCE] += z[begin : begin + ROWS_AT_ONCE]
        assert total is not None
        return total


def anchors_of_a_step(graph: Graph, training: TrainingSettings) -> int:
    """The batch size, chosen from the graph's size if the settings leave it open; 0: the whole graph."""
    if training.batch_size != "auto":
        return training.batch_size
    large = graph.n_nodes > LARGE_NODES or len(graph.indices) > LARGE_ENTRIES
    return AUTO_BATCH if large else 0


def make_batches(
    graph: Graph,
    method: Method[Any],
    training: TrainingSettings,
    *,
    seed: int,
    device: torch.device,
    scratch: Path | None = None,
    group: ProcessGroup = ALONE,
    statistics: ColumnStatistics | None = None,
    columns: NDArray[np.int64] | None = None,
) -> WholeGraph | MiniBatches:
    """The whole graph or mini-batches, as the settings say; see there for the arguments."""
    size = anchors_of_a_step(graph, training)
    if size == 0:
        return WholeGraph(graph, training, device, group, statistics=statistics, columns=columns)
    if size < 2 * group.world_size:
        raise InputError(f"batch_size = {size}: every rank needs at least 2 anchors")
    return MiniBatches(
        graph,
        method,
        training,
        size,
        seed=seed,
        device=device,
        scratch=scratch,
        group=group,
        statistics=statistics,
        columns=columns,
    )


def _layers(method: Method[Any]) -> int:
    encoders = [encoder for encoder, _ in method.branches()]
    if not all(isinstance(encoder, LayeredEncoder) for encoder in encoders):
        raise InputError("mini-batches need an encoder of imgcl (gcn, sage, gin or gat): use `batch_size=0`")
    return method.decoder_layers + max(len(encoder.layers) for encoder in encoders)  # type: ignore[arg-type]
