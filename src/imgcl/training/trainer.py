"""The training loop: Algorithm 1 of the paper around any method."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core import seeding
from imgcl._core.draws import draws_of
from imgcl._core.errors import InputError
from imgcl._core.progress import Stage, stage
from imgcl._core.sparse import ColumnStatistics
from imgcl._core.torch_settings import usual_torch
from imgcl.balance import BalancedSelector
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.graph.structure import is_structural
from imgcl.training import checkpoint as files
from imgcl.training.batches import MiniBatches, WholeGraph, make_batches
from imgcl.training.distributed.group import ALONE, ProcessGroup
from imgcl.training.distributed.parallel import Parallel
from imgcl.training.encoder import TrainedEncoder, embed_all
from imgcl.training.fit import check_fit
from imgcl.training.hardware import denormals_are_zero, resolve_device, reuse_freed_memory
from imgcl.training.limits import (
    check_enough_nodes,
    check_enough_rows,
    check_finite,
    check_finite_loss,
    check_has_features,
    check_memory_of_training,
)
from imgcl.training.optimiser import learning_rate_factor, make_optimiser
from imgcl.training.settings import RunConfig
from imgcl.training.settling import Settling, is_look


@dataclass(frozen=True)
class EpochReport:
    """What a progress bar shows after an epoch."""

    epoch: int
    epochs: int
    loss: float
    drawn: list[float] | None  # share of each pseudo-class among the selected rows

    @property
    def text(self) -> str:
        """The loss, and the shares of the largest pseudo-classes in percent."""
        if self.drawn is None:
            return f"loss {self.loss:.4g}"
        shares = " ".join(f"{100 * share:.0f}" for share in sorted(self.drawn, reverse=True)[:12])
        return f"loss {self.loss:.4g}, drawn % {shares}"


class Trainer:
    """Trains one method on one graph.

    Args:
        config: everything that decides the result.
        graph: the graph to pre-train on; its labels are not used, except by ``clusters=given`` and for diagnosis.
        diagnose: record how pseudo-labels compare with the graph's labels (never used for training).
        scratch: directory for what does not fit into memory while a large graph is embedded.
        group: the process group; rank 0 selects, and its embedding and checkpoint are the run's.
    """

    @usual_torch()
    def __init__(
        self,
        config: RunConfig,
        graph: Graph,
        *,
        diagnose: bool = False,
        scratch: Path | None = None,
        group: ProcessGroup = ALONE,
    ) -> None:
        check_has_features(graph)
        check_enough_nodes(graph, config.balance)
        self.config, self.graph, self.scratch, self.group = config, graph, scratch, group
        self.device = resolve_device(config.device)
        settings = config.build_settings()
        check_memory_of_training(settings, graph, config.training, self.device)
        self.epoch = 0
        self.losses: list[float] = []
        kind = config.method_class
        with draws_of([kind], seeding.torch_generator(config.seed, "weights")):
            self.method = kind(graph.n_features, settings).to(self.device)
        self.optimiser = make_optimiser(self.method, config.training)
        self.views = seeding.torch_generator(config.seed, "views")
        self.dropout = seeding.torch_generator(config.seed, "dropout")
        self.batches = self._make_batches()
        self.parallel = Parallel(self.method, group) if group.world_size > 1 else None
        self.selector = self._make_selector(diagnose) if group.is_rank_zero else None
        self.settling = self._make_settling()
        self._rows: Tensor | None = None
        self.best: tuple[float, int, dict[str, Tensor]] | None = None

    def _make_batches(self, statistics: ColumnStatistics | None = None) -> WholeGraph | MiniBatches:
        return make_batches(
            self.graph,
            self.method,
            self.config.training,
            seed=self.config.seed,
            device=self.device,
            scratch=self.scratch,
            group=self.group,
            statistics=statistics,
        )

    def _make_selector(self, diagnose: bool) -> BalancedSelector | None:
        balance, graph = self.config.balance, self.graph
        if balance is None:
            return None
        given = graph.y if balance.clusters == "given" else None
        if balance.clusters == "given" and (given is None or (given < 0).any()):
            raise InputError("clusters=given needs a label for every node of the graph")
        n_clusters = balance.n_clusters
        if n_clusters is None:
            # The number of classes is a setting of the task (the paper's K); the labels themselves stay unseen.
            n_clusters = graph.n_occurring_classes or "auto"
        return BalancedSelector(
            graph,
            n_clusters,
            epochs=self.config.training.schedule_epochs,
            settings=balance,
            random_state=self.config.seed,
            labels=given,
            diagnose=graph.y if diagnose else None,
        )

    def _make_settling(self) -> Settling | None:
        """Embedding all nodes of a graph that is trained in batches takes longer than its training: no looks there."""
        if not self.config.training.settle or isinstance(self.batches, MiniBatches):
            return None
        return Settling(self.graph.n_nodes, self.config.seed)

    # ------------------------------------------------------------------ training

    @property
    def finished(self) -> bool:
        """Whether the last epoch, or the patience, is reached, or the embedding has settled."""
        training = self.config.training
        if self.epoch >= training.epochs or (self.settling is not None and self.settling.settled):
            return True
        if training.patience is None or self.best is None or self._labels_to_come:
            return False
        return self.epoch - 1 - self.best[1] >= training.patience

    @property
    def _labels_to_come(self) -> bool:
        """Whether another labelling is due: rows are balanced step by step, so patience must not end it half way."""
        balance, epochs = self.config.balance, self.config.training.schedule_epochs
        return balance is not None and balance.period(self.epoch - 1, epochs)[0] < balance.period(epochs - 1, epochs)[0]

    def step(self) -> EpochReport:
        """One epoch: views, loss on the selected rows, one optimiser step."""
        training = self.config.training
        with usual_torch(), draws_of(map(type, self.method.modules()), self.dropout):
            value = self._optimise(*self.batches.step(self.epoch, self._select()))
        if training.patience is not None and (self.best is None or value < self.best[0]):
            weights = {name: tensor.detach().clone() for name, tensor in self.method.state_dict().items()}
            self.best = (value, self.epoch, weights)
        self.losses.append(value)
        self.epoch += 1
        if self.settling is not None and is_look(self.epoch):
            self.settling.look(self.epoch, self.embed(), lambda kept: float(self.group.broadcast(torch.tensor(kept))))
        drawn = self.selector.history[-1]["drawn"] if self.selector is not None else None
        return EpochReport(self.epoch, training.epochs, value, drawn)

    def _optimise(self, block: Block, rows: Tensor | None) -> float:
        """One step of the optimiser; the loss before it."""
        training = self.config.training
        check_enough_rows(block.n_nodes if rows is None else len(rows))
        if self.parallel is not None:
            self.parallel.prepare(block, rows)
        for group in self.optimiser.param_groups:
            group["lr"] = training.lr * learning_rate_factor(self.epoch, training)
        self.method.train()
        self.optimiser.zero_grad(set_to_none=True)
        loss = self.method.loss(block, rows, self.views)
        value = float(self.group.broadcast(loss.detach()))
        check_finite_loss(value, self.epoch)
        loss.backward()
        if self.parallel is not None:
            self.parallel.reduce_gradients()
        self.optimiser.step()
        self.method.after_step((self.epoch + 1) / training.epochs)
        return value

    def _select(self) -> Tensor | None:
        """The rows to contrast, selected once, by rank 0; ``None``: all."""
        if self.config.balance is None:
            return None
        rows, labellings = None, 0
        if self.selector is not None:
            labellings = len(self.selector.history)
            rows = self.selector(self.epoch, embed=lambda: check_finite(embed_all(self.method, self.batches))).to(
                self.device
            )
            labellings = len(self.selector.history) - labellings
        self._rows = self.group.broadcast_rows(rows, self._rows)
        if int(self.group.broadcast(torch.tensor(labellings))):
            self.best = None  # losses on other rows do not compare: the patience begins anew
        return self._rows

    def epochs(self) -> Generator[EpochReport, None, None]:
        """Train to the end, epoch by epoch; ``contextlib.closing`` it where an error may come in between."""
        with reuse_freed_memory(), denormals_are_zero():
            while not self.finished:
                yield self.step()
        if self.best is not None:
            self.method.load_state_dict(self.best[2])

    def stage(self, weight: float = 1) -> AbstractContextManager[Stage]:
        """The stage of the epochs that are left, for listeners to progress."""
        training = self.config.training
        title = f"{self.config.method} on {self.graph.name}" + (", until it settles" if training.settle else "")
        return stage(title, training.epochs, unit="epoch", done=self.epoch, weight=weight, at_most=training.settle)

    def train(self, on_epoch: Callable[[EpochReport], None] | None = None) -> None:
        """Train to the end, with a call after every epoch."""
        with self.stage() as advance, closing(self.epochs()) as epochs:
            for report in epochs:
                advance(text=report.text)
                if on_epoch is not None:
                    on_epoch(report)

    @property
    def checkpoint_due(self) -> bool:
        """Whether a checkpoint is written between this epoch and the next; the last one is written after the end."""
        return self.epoch % self.config.training.checkpoint_every == 0 and not self.finished

    # ------------------------------------------------------------------ embedding

    @property
    def encoder(self) -> TrainedEncoder:
        """The encoder as it is now, with what it needs to read another graph."""
        names = self.graph.feature_names
        return TrainedEncoder(
            self.method,
            self.config.training,
            self.config.seed,
            self.device,
            None if names is None else tuple(names),
            self.batches.statistics,
            self.scratch,
            fingerprint=self.graph.fingerprint if is_structural(names) else None,
            direction=self.graph.direction,
        )

    @usual_torch()
    def embed(self, graph: Graph | None = None) -> NDArray[np.float32]:
        """Embeddings of the training graph, or of another graph with the same features (on disk, if it is large)."""
        return check_finite(embed_all(self.method, self.batches)) if graph is None else self.encoder.embed(graph)

    def history(self) -> dict[str, Any]:
        """Loss of every epoch and what happened at every labelling, as plain values."""
        labellings = [] if self.selector is None else [dict(entry) for entry in self.selector.history]
        looks = {} if self.settling is None else {"settling": list(self.settling.looks)}
        return {"loss": list(self.losses), "labellings": labellings, **looks}

    # ------------------------------------------------------------------ resume

    @usual_torch()
    def checkpoint(self) -> files.Checkpoint:
        """All the state that the next epoch depends on."""
        tensors: dict[str, Tensor] = {"rng/views": self.views.get_state(), "rng/global": self.dropout.get_state()}
        values: dict[str, Any] = {"epoch": self.epoch, "losses": self.losses, "finished": self.finished}
        files.pack("method", self.method.state_dict(), tensors, values)
        files.pack_optimiser(self.optimiser, tensors, values)
        if self.batches.statistics is not None:
            files.pack("features", vars(self.batches.statistics), tensors, values)
        if self.selector is not None:
            files.pack("selector", self.selector.state_dict(), tensors, values)
        if self.settling is not None:
            files.pack("settling", self.settling.state_dict(), tensors, values)
        if self.best is not None:
            values["best"] = {"loss": self.best[0], "epoch": self.best[1]}
            files.pack("best_method", self.best[2], tensors, values)
        return files.Checkpoint(tensors, values)

    @usual_torch()
    def restore(self, checkpoint: files.Checkpoint) -> None:
        """Continue from a checkpoint exactly where it was taken.

        Raises:
            ValueError, KeyError, TypeError: when it is not one of this training; see :func:`check_fit`.
        """
        check_fit(checkpoint, self.method, self.optimiser, self.config.training.epochs, self.batches.statistics)
        if self.settling is not None:
            self.settling.load_state_dict(files.unpack("settling", checkpoint))
        self.method.load_state_dict(files.unpack("method", checkpoint))
        self._restore_statistics(files.unpack("features", checkpoint))
        files.unpack_optimiser(self.optimiser, checkpoint)
        self.views.set_state(checkpoint.tensors["rng/views"])
        self.dropout.set_state(checkpoint.tensors["rng/global"])
        anew = bool(self.config.extended) and checkpoint.values["epoch"] == self.config.extended[-1][0]
        if self.selector is not None:
            state = files.unpack("selector", checkpoint)
            if anew:  # the schedules have another length from here on: new labels, drawn with the new alpha
                state |= {"epochs": self.selector.epochs, "period": None}
            self.selector.load_state_dict(
                {key: value.numpy() if isinstance(value, Tensor) else value for key, value in state.items()}
            )
        if "best" in checkpoint.values and not anew:
            best = checkpoint.values["best"]
            self.best = (best["loss"], best["epoch"], files.unpack("best_method", checkpoint))
        self.epoch, self.losses = checkpoint.values["epoch"], list(checkpoint.values["losses"])

    def _restore_statistics(self, stored: dict[str, Tensor]) -> None:
        """Read the features as before; a checkpoint from before statistics were kept has none, the graph gives them."""
        mine = self.batches.statistics
        if mine is None or not stored or all(torch.equal(stored[name], value) for name, value in vars(mine).items()):
            return
        self.batches = self._make_batches(ColumnStatistics(**stored))
