"""GRACE (Zhu et al.): node-level InfoNCE; with ``drop`` other than uniform its successor GCA."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator
from torch import Tensor, nn

from imgcl._core.errors import InputError
from imgcl.encoders.base import Activation, Linear, Norm
from imgcl.graph.block import Block
from imgcl.losses import info_nce
from imgcl.losses.info_nce import SMALLEST_TAU
from imgcl.methods.two_views import Drop, TwoViews, TwoViewSettings
from imgcl.views import View

SCHEDULE = ("tau_period", "tau_min", "tau_max")


class GRACESettings(TwoViewSettings):
    """GRACE's settings; its encoder has no norm."""

    activation: Activation = Field("relu", description="after every layer")
    norm: Norm = Field("none", description="before every activation")
    projection: int = Field(256, ge=1, description="hidden width of the projector Linear-ELU-Linear")
    tau: float = Field(0.4, ge=SMALLEST_TAU, description="temperature of the cosine")
    tau_period: int = Field(
        0, ge=0, description="epochs in which the temperature goes from tau_max to tau_min and back; 0: it is tau"
    )
    tau_min: float = Field(0.1, ge=SMALLEST_TAU, description="lowest temperature of a period")
    tau_max: float = Field(1.0, ge=SMALLEST_TAU, description="highest temperature of a period")
    sample: float = Field(
        1.0, gt=0, le=1, description="share of the nodes contrasted in a step when no rows are selected; 1: all (ours)"
    )
    drop: Drop = Field("uniform", description="how edges and features are dropped; by a centrality as in GCA")

    @model_validator(mode="after")
    def _ordered(self) -> GRACESettings:
        if self.tau_min > self.tau_max:
            raise InputError(
                f"tau_min is {self.tau_min} and tau_max is {self.tau_max}: tau_min must not be above tau_max"
            )
        return self

    @model_serializer(mode="wrap")
    def _only_if_it_changes(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A constant temperature is written, and known, as before there was another."""
        values: dict[str, Any] = write(self)
        return values if self.tau_period else {key: value for key, value in values.items() if key not in SCHEDULE}

    def not_read(self) -> Mapping[str, str]:
        if self.tau_period:
            return {**super().not_read(), "tau": "tau_min and tau_max replace it with tau_period"}
        return {**super().not_read(), **dict.fromkeys(SCHEDULE[1:], "tau_period is 0")}

    def temperature(self, epoch: int) -> float:
        """The temperature of an epoch, counted from 0.

        Example:
            >>> settings = GRACESettings(tau_period=100, tau_min=0.2, tau_max=1.0)
            >>> [round(settings.temperature(epoch), 6) for epoch in (0, 25, 50, 100)]
            [1.0, 0.6, 0.2, 1.0]
        """
        if not self.tau_period:
            return self.tau
        height = (1 + math.cos(2 * math.pi * epoch / self.tau_period)) / 2  # Kukleva et al. 2023
        return self.tau_min + (self.tau_max - self.tau_min) * height

    def own_views(self) -> tuple[View, View]:
        return self.dropping(self.drop)


class GRACE(TwoViews[GRACESettings]):
    """Two views, one encoder, a projector, InfoNCE with all selected rows of both views as negatives.

    With ``tau_period`` the temperature oscillates (Kukleva et al. 2023, "Temperature schedules for self-supervised
    contrastive methods on long-tail data"): high ones group nodes, low ones tell them apart.
    """

    name = "grace"
    Settings = GRACESettings

    def __init__(self, n_features: int, settings: GRACESettings) -> None:
        super().__init__(n_features, settings)
        self.encoder = settings.build_encoder(n_features)
        width = self.encoder.out_features
        self.projector = nn.Sequential(Linear(width, settings.projection), nn.ELU(), Linear(settings.projection, width))
        self.epoch: Tensor | None
        # With the weights, so that a run resumes at the temperature where it stopped.
        self.register_buffer("epoch", torch.zeros((), dtype=torch.int64) if settings.tau_period else None)

    def loss(self, block: Block, rows: Tensor | None, generator: torch.Generator) -> Tensor:
        if rows is None and self.settings.sample < 1:
            rows = _random_rows(block.n_nodes, self.settings.sample, generator).to(block.device)
        both = self.projector(torch.cat(self.encoder(self.draw(block, generator), rows)))
        u, v = both.chunk(2)
        return info_nce(u, v, self.settings.temperature(0 if self.epoch is None else int(self.epoch)))

    def after_step(self, progress: float) -> None:
        if self.epoch is not None:
            self.epoch += 1


def _random_rows(n_nodes: int, share: float, generator: torch.Generator) -> Tensor:
    """Other rows in every step: the loss costs share^2 of its time and still meets every node."""
    return torch.randperm(n_nodes, generator=generator)[: max(2, round(share * n_nodes))].sort().values
