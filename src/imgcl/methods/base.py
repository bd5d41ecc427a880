"""What a contrastive method is: make views, encode, loss on these rows."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

import torch
from pydantic import BaseModel, ConfigDict
from torch import Tensor, nn

from imgcl.graph.block import Block
from imgcl.views.diffusion import Diffusion


class MethodSettings(BaseModel):
    """Base of every method's settings: unknown keys are refused, values are checked, nothing changes later."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


SettingsT = TypeVar("SettingsT", bound=MethodSettings)


class Method(nn.Module, Generic[SettingsT]):
    """A two-branch contrastive method.

    A subclass declares ``name`` and ``Settings``, builds its networks in ``__init__`` and implements :meth:`loss` and
    :meth:`embed`. ``loss`` is a function of a block and the rows to contrast, so the same method trains on a whole
    graph, on ImGCL's selected rows, and on a sampled piece.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[MethodSettings]]
    decoder_layers: ClassVar[int] = 0  # of message passing that the loss adds to the encoder's

    def __init__(self, n_features: int, settings: SettingsT) -> None:
        super().__init__()
        self.n_features = n_features
        self.settings = settings

    def loss(self, block: Block, rows: Tensor | None, generator: torch.Generator) -> Tensor:
        """The loss of one step.

        Args:
            block: the piece of the graph to pass messages over.
            rows: the rows of the block that the loss sees; ``None``: all of them.
            generator: source of all randomness of the views.
        """
        raise NotImplementedError

    def embed(self, block: Block) -> Tensor:
        """Embeddings of all rows of a block, without augmentation (call in evaluation mode)."""
        raise NotImplementedError

    def branches(self) -> list[tuple[nn.Module, Diffusion | None]]:
        """Encoders whose outputs add up to :meth:`embed`, each with the diffusion it sees instead of the edges."""
        return [(self.encoder, None)]  # type: ignore[list-item]

    def after_step(self, progress: float) -> None:
        """Called after every optimiser step with the finished share of training (moving averages live here)."""
