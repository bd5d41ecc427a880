"""Every choice of the balanced selection, as plain values that a run directory can keep."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from imgcl._core.errors import InputError
from imgcl._core.words import choices_in, did_you_mean, listed
from imgcl.balance.centrality import CENTRALITIES
from imgcl.balance.clusters import CLUSTERERS, ONE_STAGE
from imgcl.balance.schedules import schedule

GIVEN = "given"  # instead of a name: the caller passes the thing itself (scores, a schedule, labels)


class BalanceSettings(BaseModel):
    """Settings of ImGCL's balanced selection; the defaults are the paper's, and this project's where it is silent.

    Attributes:
        n_clusters: number of pseudo-classes K; ``None``: the caller says (the number of classes), ``"auto"``: chosen
            from the data.
        clusters: where pseudo-labels come from: ``constrained``, ``kmeans``, ``communities``, ``gmm``, ``given``.
        stage: ``multi``: cluster the embeddings again and again; ``one``: cluster the raw features once.
        min_cluster_fraction: (ours) least size of a constrained cluster, as a fraction of N/K.
        max_cluster_fraction: (ours) greatest size of a constrained cluster, as a multiple of N/K; ``None``: no limit.
        centrality: name of the centrality of Eq. 5, ``none`` for all nodes alike.
        damping: (0.85 is ours) damping factor of PageRank and Katz.
        alpha: schedule of alpha in Eq. 3: ``linear``, ``cosine``, ``step``, ``constant``, or with its number
            ``name:number``.
        sampler: class probabilities: ``pb`` (Eq. 3) or ``power`` (Eq. 2 with ``q``).
        q: exponent of Eq. 2.
        normalise: normalisation of Eq. 5: ``class`` (ours) balances, ``global`` is the literal reading.
        floor: cut-off p_tau of Eq. 5: ``median`` (ours, relative) or an absolute number.
        selection: ``systematic`` (fixed size), ``poisson`` (independent; a draw of fewer than two rows is repeated),
            ``replacement``.
        fraction: l, the fraction of nodes selected.
        labellings: how many times pseudo-labels are made, T/B.
        relabel_every: B in epochs, instead of ``labellings``.
        resample_every: draw again every so many epochs; ``None``: whenever labels are made anew.

    Example:
        >>> BalanceSettings.parse("clusters=kmeans,centrality=none").clusters
        'kmeans'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    n_clusters: int | Literal["auto"] | None = None
    clusters: str = "constrained"
    stage: Literal["multi", "one"] = "multi"
    min_cluster_fraction: float = Field(default=0.1, ge=0, le=1)
    max_cluster_fraction: float | None = Field(default=None, ge=1)
    centrality: str = "pagerank"
    damping: float = Field(default=0.85, ge=0, lt=1)
    alpha: str = "linear"
    sampler: Literal["pb", "power"] = "pb"
    q: float = Field(default=0.5, ge=0, le=1)
    normalise: Literal["class", "global"] = "class"
    floor: Literal["median"] | float = "median"
    selection: Literal["systematic", "poisson", "replacement"] = "systematic"
    fraction: float = Field(default=0.1, gt=0, le=1)
    labellings: int = Field(default=8, ge=1)
    relabel_every: int | None = Field(default=None, ge=1)
    resample_every: int | None = Field(default=None, ge=1)

    @field_validator("n_clusters")
    @classmethod
    def _positive(cls, value: int | str | None) -> int | str | None:
        if isinstance(value, int) and value < 1:
            raise ValueError("must be at least 1, 'auto', or none")
        return value

    @field_validator("floor")
    @classmethod
    def _sensible_floor(cls, value: str | float) -> str | float:
        if isinstance(value, float) and not 0 <= value < math.inf:
            raise ValueError("must be 'median' or a number of at least 0")
        return value

    @field_validator("clusters")
    @classmethod
    def _known_clusters(cls, value: str) -> str:
        if value not in CLUSTERERS:
            raise ValueError(f"unknown clusterer {value!r}{did_you_mean(value, CLUSTERERS)}")
        return value

    @field_validator("centrality")
    @classmethod
    def _known_centrality(cls, value: str) -> str:
        if value not in CENTRALITIES and value != GIVEN:
            raise ValueError(f"unknown centrality {value!r}{did_you_mean(value, CENTRALITIES)}")
        return value

    @field_validator("alpha")
    @classmethod
    def _known_schedule(cls, value: str) -> str:
        if value != GIVEN:
            schedule(value)
        return value

    @property
    def one_stage(self) -> bool:
        """Whether one labelling serves the whole training."""
        return self.stage == "one" or self.clusters in ONE_STAGE

    def cluster_bounds(self, n_nodes: int, n_clusters: int) -> tuple[int, int | None]:
        """Least and greatest size of a constrained cluster.

        Example:
            >>> BalanceSettings().cluster_bounds(n_nodes=13752, n_clusters=10)
            (138, None)
        """
        mean = n_nodes / n_clusters
        least = min(math.ceil(self.min_cluster_fraction * mean), n_nodes // n_clusters)
        if self.max_cluster_fraction is None:
            return max(1, least), None
        return max(1, least), max(math.floor(self.max_cluster_fraction * mean), math.ceil(mean))

    def period(self, epoch: int, epochs: int) -> tuple[int, int]:
        """Numbers of the labelling and of the draw that serve ``epoch``; a new number means a new one is due.

        Without ``relabel_every`` the training of T epochs is cut into exactly ``labellings`` periods (B = T/8).

        Example:
            >>> settings = BalanceSettings(labellings=4, resample_every=1)
            >>> [settings.period(epoch, epochs=8) for epoch in (0, 1, 2, 7)]
            [(0, 0), (0, 1), (1, 2), (3, 7)]
        """
        if self.relabel_every is not None:
            labelling = epoch // self.relabel_every
        else:
            labelling = min(epoch, epochs - 1) * min(self.labellings, epochs) // epochs
        return labelling, labelling if self.resample_every is None else epoch // self.resample_every

    @classmethod
    def make(cls, values: Mapping[str, Any]) -> BalanceSettings:
        """Settings from a mapping; what is wrong with it is said in one line."""
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            raise InputError("; ".join(_explain(problem) for problem in error.errors())) from None

    @classmethod
    def parse(cls, text: str) -> BalanceSettings:
        """Settings from ``"key=value,key=value"``; keys left out keep their defaults.

        Example:
            >>> BalanceSettings.parse("alpha=step:0.5, n_clusters=auto, resample_every=1").n_clusters
            'auto'
        """
        values: dict[str, Any] = {}
        for part in listed(text):
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not value:
                raise InputError(f"balance setting {part!r}: write key=value, for example centrality=none")
            if key in values:
                raise InputError(f"balance setting {key!r} is given twice")
            optional = key in cls.model_fields and cls.model_fields[key].default is None
            values[key] = None if optional and value.lower() == "none" else value
        return cls.make(values)

    def updated(self, **changes: Any) -> BalanceSettings:
        """The same settings with some of them changed."""
        return BalanceSettings.make(self.model_dump() | changes)


def _explain(problem: Any) -> str:
    key = str(problem["loc"][0])
    if problem["type"] == "extra_forbidden":
        return f"unknown balance setting {key!r}{did_you_mean(key, BalanceSettings.model_fields)}"
    if problem["type"] == "literal_error":
        choices = choices_in(problem["ctx"]["expected"])
        return f"balance setting {key}={problem['input']!r}{did_you_mean(problem['input'], choices)}"
    message = str(problem["msg"]).removeprefix("Value error, ")
    return f"balance setting {key}={problem['input']!r}: {message[:1].lower()}{message[1:]}"
