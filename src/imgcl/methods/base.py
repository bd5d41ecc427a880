"""What a contrastive method is: make views, encode, loss on these rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Generic, TypeVar

import torch
from pydantic import BaseModel, ConfigDict
from torch import Tensor, nn

from imgcl._core.errors import InputError
from imgcl.graph.block import Block
from imgcl.views.diffusion import Diffusion


class MethodSettings(BaseModel):
    """Base of every method's settings: unknown keys are refused, values are checked, nothing changes later."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def not_read(self) -> Mapping[str, str]:
        """Settings that have no effect beside others, each with the reason."""
        return {}


SettingsT = TypeVar("SettingsT", bound=MethodSettings)


class Method(nn.Module, Generic[SettingsT]):
    """A two-branch contrastive method.

    A subclass declares its ``Settings``, if it has some, builds its networks in ``__init__`` (the one that embeds nodes
    is ``self.encoder``) and implements :meth:`loss`. ``loss`` is a function of a block and the rows to contrast, so the
    same method trains on a whole graph, on ImGCL's selected rows, and on a sampled piece. Random numbers of views come
    from the generator, so that a run resumes with the same ones.

    Args:
        n_features: number of features of the graph.
        settings: of the method.

    Example:
        >>> import imgcl
        >>> from imgcl.encoders import GCN
        >>> from imgcl.losses import barlow_twins
        >>> from imgcl.views import EdgeRemoving
        >>> class Mine(Method):
        ...     def __init__(self, n_features, settings):
        ...         super().__init__(n_features, settings)
        ...         self.encoder, self.view = GCN(n_features, [8]), EdgeRemoving(0.3)
        ...
        ...     def loss(self, block, rows, generator):
        ...         u, v = self.encoder([block, self.view(block, generator)], rows)
        ...         return barlow_twins(u, v)
        >>> graph = imgcl.load_graph("synthetic", class_sizes=[60, 20], seed=1)
        >>> imgcl.ImGCL(Mine, n_clusters=2, epochs=5).fit_transform(graph).shape
        (80, 8)
    """

    name: ClassVar[str]  # of ours: what users write
    Settings: ClassVar[type[MethodSettings]] = MethodSettings
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
        return self.encoder([block])[0]  # type: ignore[no-any-return, operator]

    def branches(self) -> list[tuple[nn.Module, Diffusion | None]]:
        """Encoders whose outputs add up to :meth:`embed`, each with the diffusion it sees instead of the edges."""
        if not hasattr(self, "encoder"):
            raise InputError(
                f"{type(self).__name__} has no attribute encoder, which mini-batches need: use batch_size=0"
            )
        return [(self.encoder, None)]  # type: ignore[list-item]

    def after_step(self, progress: float) -> None:
        """Called after every optimiser step with the finished share of training (moving averages live here)."""
