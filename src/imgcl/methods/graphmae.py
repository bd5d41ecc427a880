"""GraphMAE (Hou et al.): reconstruct the features of masked nodes from the codes of their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from pydantic import Field
from torch import Tensor, nn

from imgcl._core.sparse.features import DenseFeatures, row_products
from imgcl.encoders import Encoder, LayeredEncoder
from imgcl.encoders.base import glorot
from imgcl.encoders.layered import select
from imgcl.graph.block import Block, projection
from imgcl.losses.scaled_cosine import scaled_cosine_of_linear
from imgcl.methods.base import Method
from imgcl.methods.parts import EncoderSettings
from imgcl.views.base import draw_seed


class GraphMAESettings(EncoderSettings):
    """GraphMAE's settings."""

    mask_rate: float = Field(0.5, gt=0, lt=1, description="probability that a node's features are masked")
    replace_rate: float = Field(
        0.1, ge=0, lt=1, description="share of the masked nodes that get another node's features, not the mask token"
    )
    gamma: float = Field(2.0, ge=1, le=10, description="power of the scaled cosine error")


@dataclass(frozen=True, eq=False)
class NodeMask:
    """Whose features the encoder does not see.

    Attributes:
        masked: for every node, whether it is masked.
        replaced: whether it is one of the masked nodes that get other features instead of the token.
        other: the block with the features that those get.
    """

    masked: Tensor
    replaced: Tensor
    other: Block | None

    def blocks(self, block: Block) -> list[Block]:
        """The block, and the one with other features if there is one."""
        return [block] if self.other is None else [block, self.other]

    def apply(self, rows: Sequence[Tensor], token: Tensor) -> Tensor:
        """The rows of the first of :meth:`blocks` with those of masked nodes changed."""
        own, *others = rows
        hidden = torch.where(self.masked.unsqueeze(1), token, own)
        return torch.where(self.replaced.unsqueeze(1), others[0], hidden) if others else hidden


class GraphMAE(Method[GraphMAESettings]):
    """Nodes are masked all over the block; the loss is the mean error of the masked nodes among the given rows.

    Whether a node is masked is a hash of its number: so a mini-batch, and every one of several workers, sees the mask
    that the whole graph would see, and ImGCL's selected rows are reconstructed under the same conditions as all rows.
    """

    name = "graphmae"
    Settings = GraphMAESettings
    decoder_layers = 1

    def __init__(self, n_features: int, settings: GraphMAESettings) -> None:
        super().__init__(n_features, settings)
        self.autoencoder = MaskedAutoencoder(n_features, settings)

    def loss(self, block: Block, rows: Tensor | None, generator: torch.Generator) -> Tensor:
        [errors] = self.autoencoder([block], rows, [self.draw(block, generator)])
        total, count = errors.sum(dim=0)
        return total / count.clamp(min=1)  # type: ignore[no-any-return]

    def draw(self, block: Block, generator: torch.Generator) -> NodeMask:
        """The mask of a step."""
        masked, replaced = self.settings.mask_rate, self.settings.mask_rate * self.settings.replace_rate
        numbers = block.node_uniform(draw_seed(generator))
        return NodeMask(numbers < masked, numbers < replaced, block.shuffled(generator) if replaced else None)

    @property
    def encoder(self) -> Encoder:
        """What embeds nodes, without a mask."""
        return self.autoencoder.encoder


class MaskedAutoencoder(Encoder):
    """From blocks and masks to reconstruction errors.

    It is an :class:`Encoder` whose output rows are (error, 1) for masked nodes and (0, 0) for others: that is what
    several workers exchange, instead of reconstructed features.

    Args:
        n_features: width of the features.
        settings: of the method.
    """

    def __init__(self, n_features: int, settings: GraphMAESettings) -> None:
        super().__init__()
        self.gamma, self.out_features = settings.gamma, 2
        self.encoder = settings.build_encoder(n_features)
        width = self.encoder.out_features
        self.feature_token = nn.Parameter(torch.zeros(n_features, dtype=torch.float32))  # x_[M]
        self.code_token = nn.Parameter(torch.zeros(width, dtype=torch.float32))  # h_[M], "[DMASK]"
        self.code_map = glorot(width, width)
        self.decoder = glorot(n_features, width)
        self.decoder_bias = nn.Parameter(torch.zeros(n_features, dtype=torch.float32))

    def forward(
        self, blocks: Sequence[Block], rows: Tensor | None = None, masks: Sequence[NodeMask] = ()
    ) -> list[Tensor]:
        """(error, 1) or (0, 0) for every row of every block."""
        return [self._errors(block, rows, mask) for block, mask in zip(blocks, masks, strict=True)]

    def _errors(self, block: Block, rows: Tensor | None, mask: NodeMask) -> Tensor:
        asked = torch.arange(block.n_nodes, device=block.device) if rows is None else rows
        places = mask.masked[asked].nonzero().flatten()
        wanted = asked[places]
        errors = self._decode(block, wanted, self._gather(block, rows, wanted, mask))
        found = torch.stack([errors, torch.ones_like(errors)], dim=1)
        return found.new_zeros(len(asked), 2).index_copy(0, places, found)

    def _gather(self, block: Block, rows: Tensor | None, wanted: Tensor, mask: NodeMask) -> Tensor:
        """What the decoder's message passing brings to the wanted rows: those of masked nodes bring the token."""
        layers = len(self.encoder.layers) if isinstance(self.encoder, LayeredEncoder) else 0
        *steps, (piece, _) = block.steps(layers + 1, rows)
        codes = self._encode(block, steps, mask) @ self.code_map
        codes = torch.where(mask.masked[: len(codes)].unsqueeze(1), self.code_token, codes)
        return select(piece.normalised, wanted) @ codes

    def _encode(self, block: Block, steps: Sequence[tuple[Block, Tensor | None]], mask: NodeMask) -> Tensor:
        """The codes, without a call of the encoder as a module: what several workers exchange are the errors."""
        if isinstance(self.encoder, LayeredEncoder):
            return self.encoder.follow(steps, self.first_product(block, mask, self.encoder.input_weight))
        x = mask.apply([each.dense_features() for each in mask.blocks(block)], self.feature_token)
        return self.encoder.forward([replace(block, features=DenseFeatures(x))])[0]  # of a user: wants the matrix

    def first_product(self, block: Block, mask: NodeMask, weight: Tensor) -> Tensor:
        """Masked features times the first weight; only rows of the product change, so the features stay as stored."""
        return mask.apply(projection(mask.blocks(block))(weight), self.feature_token @ weight)

    def _decode(self, block: Block, wanted: Tensor, gathered: Tensor) -> Tensor:
        """The error of every wanted row; the bias is one more column of the weight."""
        weight = torch.cat([self.decoder, self.decoder_bias.unsqueeze(1)], dim=1)
        codes = torch.cat([gathered, gathered.new_ones(len(gathered), 1)], dim=1)
        products = row_products(block.features, wanted, weight)
        return scaled_cosine_of_linear(codes, weight, products, block.features.row_norms[wanted], self.gamma)
