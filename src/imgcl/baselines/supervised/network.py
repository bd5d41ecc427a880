"""Two-layer GCN and GraphSAGE; the networks of several splits stand side by side in wider products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from imgcl._core.errors import InputError
from imgcl._core.fused import bias_activation
from imgcl._core.sparse import CSR, Features, Operator
from imgcl.baselines.supervised.recipe import Added

HIDDEN = 64
DROPOUT = 0.5
NETWORKS = {"gcn": 1, "sage": 2}  # weights per layer: GraphSAGE has one for a node and one for the mean of others


@dataclass(frozen=True, eq=False)
class Output:
    """What a network gives for one split: rows of the graph's nodes first, then of the added ones.

    Attributes:
        hidden: of the first layer, (rows, HIDDEN).
        logits: (rows, K).
        added: the nodes that were added.
    """

    hidden: Tensor
    logits: Tensor
    added: Added | None = None


class Messages:
    """Message passing over the graph, with the nodes that are added to it.

    A GCN sums rows over neighbours and the node itself, divided by the root of both degrees, self-loops counted;
    GraphSAGE takes the mean over neighbours. An added node that is not ``mutual`` receives and does not send.
    """

    def __init__(self, adjacency: CSR, kind: str, added: Added | None = None) -> None:
        self.n, self.kind, self.added = adjacency.n_rows, kind, added
        degree = adjacency.row_sums
        if added is not None and added.mutual:
            degree = degree + torch.bincount(added.links.indices.long(), minlength=self.n)
        left, right = self._scales(degree)
        self.main = Operator(adjacency, adjacency, left, right, 1.0 if kind == "gcn" else 0.0)
        if added is not None:
            back = added.links.transpose()
            new, new_right = self._scales(added.links.row_sums)
            self.into = Operator(added.links, back, new, right)
            self.back = Operator(back, added.links, left, new_right)
            self.loop = new.square().unsqueeze(1)

    def _scales(self, degree: Tensor) -> tuple[Tensor, Tensor | None]:
        if self.kind == "gcn":
            scale = (degree + 1).rsqrt()
            return scale, scale
        return torch.where(degree > 0, 1 / degree, 0.0), None

    def __call__(self, rows: Tensor) -> Tensor:
        """What every row receives."""
        if self.added is None:
            return self.main @ rows
        own, new = rows[: self.n], rows[self.n :]
        received = self.main @ own
        if self.added.mutual:
            received = received + self.back @ new
        arrived = self.into @ own
        return torch.cat([received, arrived + self.loop * new if self.kind == "gcn" else arrived])


class Network:
    """The networks of a few splits.

    Args:
        kind: ``gcn`` or ``sage``.
        features: of all nodes.
        adjacency: of all nodes; ``None`` to pass no messages (features were propagated before).
        width: of the output.
        random: one generator per split, for weights and dropout.
        keeps_gradient: so that :meth:`feature_gradient` can be asked for after a step.
    """

    def __init__(
        self,
        kind: str,
        features: Features,
        adjacency: CSR | None,
        width: int,
        random: Sequence[torch.Generator],
        keeps_gradient: bool = False,
    ) -> None:
        if kind not in NETWORKS:
            raise InputError(f"network is {kind!r}: choose from {', '.join(NETWORKS)}")
        self.kind, self.features, self.adjacency, self.random = kind, features, adjacency, random
        self.splits, self.width, self.keeps_gradient = len(random), width, keeps_gradient
        self.parts = 1 if adjacency is None else NETWORKS[kind]
        self.messages = None if adjacency is None else Messages(adjacency, kind)
        firsts, seconds = [], []
        for each in random:  # one split after the other: its numbers do not depend on how many there are
            firsts.append([glorot(features.shape[1], HIDDEN, each) for _ in range(self.parts)])
            seconds.append([glorot(HIDDEN, width, each) for _ in range(self.parts)])
        self.first = torch.cat([weights[part] for part in range(self.parts) for weights in firsts], dim=1)
        self.second = torch.stack([torch.stack([w[part] for w in seconds]) for part in range(self.parts)])
        self.first_bias = torch.zeros(self.splits * HIDDEN, dtype=torch.float32)
        self.second_bias = torch.zeros(self.splits, width, dtype=torch.float32)
        self.parameters = [self.first, self.second, self.first_bias, self.second_bias]

    def forward(self, added: Sequence[Added | None] = (), training: bool = False) -> list[Output]:
        """Output of every split."""
        projected = self.features.products([None])(self.first)[0]
        if training and self.keeps_gradient:
            projected.retain_grad()
            self.projected = projected
        if any(each is not None for each in added):
            return [self._alone(i, projected, each, training) for i, each in enumerate(added)]
        hidden = activated(self._first(projected), self.first_bias)
        if training:
            hidden = hidden * torch.cat([self._kept(i, len(hidden)) for i in range(self.splits)], dim=1)
        logits = self._second(hidden).view(len(hidden), self.splits, self.width)
        rows = hidden.view(len(hidden), self.splits, HIDDEN)
        return [Output(rows[:, i], logits[:, i] + self.second_bias[i]) for i in range(self.splits)]

    def _first(self, projected: Tensor) -> Tensor:
        if self.messages is None:
            return projected
        if self.parts == 1:
            return self.messages(projected)
        own, others = projected.chunk(2, dim=1)
        return own + self.messages(others)

    def _second(self, hidden: Tensor) -> Tensor:
        """Logits (n, splits * width), one split beside the other, of hidden rows (n, splits * HIDDEN).

        The weights of all splits as one matrix with zeros between them: a wide product is faster than several narrow
        ones on rows that are far apart.
        """
        scores = [hidden @ torch.block_diag(*weights) for weights in self.second]
        received = scores[-1] if self.messages is None else self.messages(scores[-1])
        return received if self.parts == 1 else received + scores[0]

    def _alone(self, i: int, projected: Tensor, added: Added | None, training: bool) -> Output:
        """One split by itself, as its graph is its own."""
        assert self.adjacency is not None
        messages = Messages(self.adjacency, self.kind, added)
        columns = self._columns(i)
        rows = [projected[:, own] for own in columns]
        if added is not None:
            rows = [torch.cat([r, added.features @ self.first[:, own]]) for r, own in zip(rows, columns, strict=True)]
        bias = self.first_bias[i * HIDDEN : (i + 1) * HIDDEN]
        received = messages(rows[-1])
        hidden = activated(received if self.parts == 1 else received + rows[0], bias)
        if training:
            hidden = hidden * self._kept(i, len(hidden))
        return Output(hidden, self.head(i, hidden, messages), added)

    def head(self, i: int, hidden: Tensor, messages: Messages) -> Tensor:
        """The second layer of split i: logits of hidden rows."""
        logits = messages(hidden @ self.second[-1, i]) + self.second_bias[i]
        return logits if self.parts == 1 else logits + hidden @ self.second[0, i]

    def received(self, i: int, new: Tensor, linked: Tensor, hidden: Tensor) -> Tensor:
        """The second layer of split i for new hidden rows, over weighted links (new, nodes) to those of the graph."""
        own, others, total = new @ self.second[0, i], hidden @ self.second[-1, i], linked.sum(dim=1, keepdim=True)
        if self.parts == 1:  # a GCN's mean, the node itself included
            return (linked @ others + own) / (total + 1) + self.second_bias[i]
        return own + linked @ others / total.clamp_min(1e-9) + self.second_bias[i]

    def isolated(self, i: int, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden rows and logits in split i of nodes without neighbours; the features alone receive gradients."""
        first, second = self.first.detach()[:, self._columns(i)[0]], self.second.detach()[0, i]
        hidden = torch.relu(rows @ first + self.first_bias.detach()[i * HIDDEN : (i + 1) * HIDDEN])
        return hidden, hidden @ second + self.second_bias.detach()[i]

    def feature_gradient(self, i: int, nodes: Tensor) -> Tensor:
        """Gradient of the last step's loss of split i with respect to features of some nodes."""
        gradient = self.projected.grad
        assert gradient is not None
        with torch.no_grad():
            parts = [gradient[nodes][:, own] @ self.first[:, own].T for own in self._columns(i)]
        return torch.stack(parts).sum(dim=0)

    def _columns(self, i: int) -> list[slice]:
        """Where the first layer of split i stands among those of all."""
        starts = [(part * self.splits + i) * HIDDEN for part in range(self.parts)]
        return [slice(start, start + HIDDEN) for start in starts]

    def _kept(self, i: int, rows: int) -> Tensor:
        """Factors of dropout."""
        drawn = torch.rand(rows, HIDDEN, generator=self.random[i], dtype=torch.float32)
        return drawn.ge_(DROPOUT).div_(1 - DROPOUT)


def activated(rows: Tensor, bias: Tensor) -> Tensor:
    """Bias and ReLU in one pass."""
    return bias_activation(rows, bias, rows.new_zeros(1))


def glorot(fan_in: int, fan_out: int, random: torch.Generator) -> Tensor:
    """A weight matrix, uniform within the root of 6 / (fan_in + fan_out)."""
    bound = (6 / (fan_in + fan_out)) ** 0.5
    return torch.empty(fan_in, fan_out, dtype=torch.float32).uniform_(-bound, bound, generator=random)
