"""MVGRL (Hassani and Khasahmadi): contrast nodes of one structural view with the summary of the other."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor, nn

from imgcl.encoders.base import Norm
from imgcl.graph.block import Block
from imgcl.losses import bce_discrimination
from imgcl.methods.base import Method
from imgcl.methods.parts import Bilinear, EncoderSettings, summarise
from imgcl.views import FeatureShuffling, PPRDiffusion
from imgcl.views.diffusion import Diffusion


class MVGRLSettings(EncoderSettings):
    """MVGRL's settings; the defaults are those of its own repository."""

    dim: int = Field(512, ge=1, description="width d of the embedding; hidden layers have 2 d")
    layers: int = Field(1, ge=1, description="number of message-passing layers")
    norm: Norm = Field("none", description="before every activation")
    alpha: float = Field(0.2, gt=0, lt=1, description="restart probability of the PPR diffusion")
    epsilon: float = Field(
        1e-4, gt=0, lt=1, description="threshold of the diffusion's push: smaller is closer to exact"
    )
    top_k: int | None = Field(64, ge=1, description="largest diffusion entries kept per node; none keeps all")


class MVGRL(Method[MVGRLSettings]):
    """The adjacency and its PPR diffusion, an encoder each, shuffled features as negatives, one discriminator."""

    name = "mvgrl"
    Settings = MVGRLSettings

    def __init__(self, n_features: int, settings: MVGRLSettings) -> None:
        super().__init__(n_features, settings)
        self.corruption = FeatureShuffling()
        self.diffusion = PPRDiffusion(settings.alpha, settings.epsilon, settings.top_k)
        self.encoder = settings.build_encoder(n_features)
        self.diffusion_encoder = settings.build_encoder(n_features, fresh=True)
        self.discriminator = Bilinear(self.encoder.out_features)

    def loss(self, block: Block, rows: Tensor | None, generator: torch.Generator) -> Tensor:
        pair = [block, self.corruption(block, generator)]
        near, near_negative = self.encoder(pair, rows)
        # The diffusion of a block is computed once and kept with its adjacency; both views share the shuffled order.
        far, far_negative = self.diffusion_encoder([self.diffusion(each, generator) for each in pair], rows)
        near_summary, far_summary = summarise(near), summarise(far)
        score = self.discriminator
        return bce_discrimination(
            torch.cat([score(far, near_summary), score(near, far_summary)]),
            torch.cat([score(far_negative, near_summary), score(near_negative, far_summary)]),
        )

    def embed(self, block: Block) -> Tensor:
        diffused = self.diffusion(block, torch.Generator())
        return self.encoder([block])[0] + self.diffusion_encoder([diffused])[0]  # type: ignore[no-any-return]

    def branches(self) -> list[tuple[nn.Module, Diffusion | None]]:
        return [(self.encoder, None), (self.diffusion_encoder, self.diffusion)]
