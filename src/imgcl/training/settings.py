"""Everything that decides a pre-training run, as one validated value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
)

from imgcl._core.errors import InputError
from imgcl._core.words import choices_in, did_you_mean
from imgcl.balance import BalanceSettings
from imgcl.encoders import encoder_name
from imgcl.methods import METHODS, Method, method_name, resolve_method
from imgcl.methods.base import MethodSettings
from imgcl.training.settling import EARLIEST, MOST_EPOCHS
from imgcl.views import views_name

AUTO = "auto"
ModelT = TypeVar("ModelT", bound=BaseModel)

LEARNED, OWN, NEIGHBOURS = "learned", "own", "neighbours"
RELATION = f"{NEIGHBOURS}:"  # the block of a relation begins so, and ends with its name
BLOCKS = (LEARNED, OWN, NEIGHBOURS)
"""Blocks of an embedding: what was learned, own features, propagated features (S^2 X)."""


def block_names(given: str | Iterable[str]) -> tuple[str, ...]:
    """Names of blocks in their usual order, from names or a text with commas; ``learned`` is always one of them.

    Blocks of relations, ``neighbours:NAME``, follow in the order of their names.

    Raises:
        InputError: when a name is unknown, or ``learned`` is missing.

    Example:
        >>> block_names("own,learned"), block_names(["learned"])
        (('learned', 'own'), ('learned',))
    """
    if not isinstance(given, Iterable):
        raise InputError(f"`blocks` is {given!r}: give names of {', '.join(BLOCKS)}")
    names = [name.strip() for name in given.split(",")] if isinstance(given, str) else list(given)
    relations = sorted({name for name in names if is_relation(name)})
    unknown = [name for name in names if name not in (*BLOCKS, *relations)]
    if unknown:
        raise InputError(f"unknown block {unknown[0]!r} in `blocks`{did_you_mean(str(unknown[0]), BLOCKS)}")
    if LEARNED not in names:
        raise InputError(f"`blocks` is {', '.join(names) or 'empty'}: 'learned' must be one of them")
    return (*(name for name in BLOCKS if name in names), *relations)


def is_relation(name: Any) -> bool:
    """Whether this names the block of a relation.

    Example:
        >>> is_relation("neighbours:product"), is_relation("neighbours")
        (True, False)
    """
    return isinstance(name, str) and name.startswith(RELATION) and len(name) > len(RELATION)


class TrainingSettings(BaseModel):
    """Optimiser, schedule and features of a run."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    epochs: int = Field(500, ge=1, description="T; an epoch is one optimiser step, on the whole graph or on one batch")
    settle: bool = Field(
        False, description="stop when nearest neighbours hardly change any more, after `epochs` at the latest"
    )
    lr: float = Field(1e-3, gt=0, description="peak learning rate")
    weight_decay: float = Field(1e-5, ge=0)
    optimiser: Literal["adamw", "adam"] = "adamw"
    schedule: Literal["cosine", "constant"] = Field("cosine", description="after the warm-up")
    warm_up: int | float = Field(0.1, ge=0, description="epochs (1 and above) or share of the epochs (below 1)")
    patience: int | None = Field(
        None,
        ge=1,
        description="epochs without a lower loss until training stops; with ImGCL they count from the last labelling",
    )
    normalise: Literal["none", "row", "column"] = Field("none", description="normalisation of the features")
    checkpoint_every: int = Field(50, ge=1, description="epochs between two checkpoints of a run directory")
    batch_size: Annotated[int, Field(ge=0)] | Literal["auto"] = Field(
        "auto", description="anchors of a step; 0: the whole graph; auto: the whole graph unless it is large"
    )
    fanout: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        (10, 10), min_length=1, description="sampled neighbours of an anchor, of its neighbours, …; the last repeats"
    )

    @model_serializer(mode="wrap")
    def _only_if_it_settles(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A training of a fixed length is written, and known, as before there was another."""
        values: dict[str, Any] = write(self)
        if not self.settle:
            values.pop("settle", None)
        return values

    @property
    def schedule_epochs(self) -> int:
        """Over how many epochs ImGCL's balance grows: all, or with ``settle`` those that are trained in any case."""
        return min(self.epochs, EARLIEST) if self.settle else self.epochs

    @field_validator("fanout", mode="before")
    @classmethod
    def _numbers(cls, value: Any) -> Any:
        return tuple(value.split(",")) if isinstance(value, str) else value


class ScopeSettings(BaseModel):
    """How far the imbalance of the labels reaches into the graph that pre-training sees."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    scope: Literal["train", "graph", "inductive"] = Field("train", description="see imgcl.imbalance.scopes")
    imbalance: str = Field("natural", description="law of the classes; read when the scope is not train")
    split: int = Field(0, ge=0, description="number of the split that decides which nodes are validation and test")


class RunConfig(BaseModel):
    """A pre-training run: method, training, balance and seed.

    Attributes:
        method: a name, ``package.module:Class``, or the class; it is kept as text. A class that cannot be imported (one
            of a function, or of the program that runs) is found within this process only.
        blocks: which blocks the embedding has; they do not change the training.
        extended: for every time that the run got more epochs, the epoch at which that was and the number of epochs
            before, see :mod:`imgcl.training.extending`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, PlainValidator(method_name)] = "gbt"
    method_settings: dict[str, Any] = Field(default_factory=dict)
    training: TrainingSettings = TrainingSettings()
    balance: BalanceSettings | None = None
    scope: ScopeSettings = ScopeSettings()
    seed: int = 0
    device: str = "auto"
    preset: str | None = None
    blocks: tuple[str, ...] = (LEARNED,)
    extended: tuple[tuple[int, int], ...] = ()

    @model_serializer(mode="wrap")
    def _without_the_only_block(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A run without further blocks or epochs is written, and known, as before there were some."""
        values: dict[str, Any] = write(self)
        if self.blocks == (LEARNED,):
            values.pop("blocks", None)
        if not self.extended:
            values.pop("extended", None)
        return values

    @field_validator("blocks", mode="before")
    @classmethod
    def _ordered(cls, blocks: Any) -> Any:
        return block_names(blocks)

    @field_validator("method_settings")
    @classmethod
    def _named(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """Objects become their names, as in ``method``."""
        names: dict[str, Callable[[Any], str]] = {"encoder": encoder_name, "views": views_name}
        objects = {key for key in names if not isinstance(settings.get(key), str | None)}
        return {key: names[key](value) if key in objects else value for key, value in settings.items()}

    def build_settings(self) -> MethodSettings:
        """The method's own settings, checked by the method."""
        return validated(self.method_class.Settings, self.method_settings)

    @property
    def method_class(self) -> type[Method[Any]]:
        """The class of the method; reading it imports the module that ``method`` names."""
        return resolve_method(self.method)


def validated(model: type[ModelT], values: Mapping[str, Any]) -> ModelT:
    """Build a settings value; pydantic's report becomes one line that names the key and what it may be."""
    for name, value in values.items():
        if isinstance(value, bool) and name in model.model_fields and _is_number(model.model_fields[name].annotation):
            raise InputError(f"setting {name} = {value}: it must be a number")  # pydantic would take 1 or 0
    try:
        return model(**values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "settings"
        if first["type"] == "extra_forbidden":
            raise InputError(f"unknown setting {key!r}{did_you_mean(key, model.model_fields)}") from None
        if first["type"] == "literal_error":
            hint = did_you_mean(first["input"], choices_in(first["ctx"]["expected"]))
            raise InputError(f"setting {key} = {first['input']!r}{hint}") from None
        reason = first.get("ctx", {}).get("error")
        if isinstance(reason, InputError):
            raise reason from None
        raise InputError(f"setting {key} = {first['input']!r}: {first['msg']}") from None


def _is_number(annotation: Any) -> bool:
    """Whether a setting takes numbers, and truth values only because Python counts them among those."""
    kinds = _parts(annotation)
    return not kinds.isdisjoint({int, float}) and kinds.isdisjoint({bool, Any})


def _parts(annotation: Any) -> set[Any]:
    """A type and all that it is made of."""
    inner = () if isinstance(annotation, str) else get_args(annotation)
    if inner and get_origin(annotation) is Literal:
        return set()
    return {annotation} if not inner else set().union(*map(_parts, inner))


def apply_overrides(config: RunConfig, overrides: Mapping[str, Any]) -> RunConfig:
    """The config with some settings replaced; a key belongs to the training or to the method, wherever it is known."""
    method_model = config.method_class.Settings
    training, method = config.training.model_dump(), dict(config.method_settings)
    for key, value in _with_epochs(overrides).items():
        if key in TrainingSettings.model_fields:
            training[key] = value
        elif key in method_model.model_fields:
            method[key] = value
        else:
            raise InputError(_unknown(key, config.method, method_model))
    checked = validated(method_model, method)
    for key in overrides:
        if key in checked.not_read():
            raise InputError(f"setting {key!r} has no effect here: {checked.not_read()[key]}; leave it out")
    changes = {
        "training": validated(TrainingSettings, training),
        "method_settings": checked.model_dump(exclude_unset=True),
    }
    return config.model_copy(update=changes)


def with_objects(config: RunConfig, *, method: Any = None, encoder: Any = None, views: Any = None) -> RunConfig:
    """The config of a run with objects in place of their names, where no import finds them.

    Args:
        config: of the run.
        method: the class of the method, if it is needed.
        encoder: the module, or the function that makes it.
        views: the view objects.

    Raises:
        InputError: when an object has another name than the run's.
    """
    if method is not None:
        _check_same("method", method_name(method), config.method)
        config = config.model_copy(update={"method": method_name(method)})
    for key, thing in (("encoder", encoder), ("views", views)):
        if thing is not None:
            stored = config.method_settings.get(key)
            config = apply_overrides(config, {key: thing})
            _check_same(key, config.method_settings[key], stored)
    return config


def _check_same(key: str, name: str, stored: str | None) -> None:
    if name != stored:
        raise InputError(f"{key} is {str(name)!r}, but the run was trained with {stored or 'the default'!r}")


def _unknown(key: str, method: str, model: type[MethodSettings]) -> str:
    having = [name for name, kind in METHODS.items() if key in kind.Settings.model_fields]
    if key == "views" and having:
        return f"method {method!r} makes its own views: views are a setting of {', '.join(having)}"
    known = [*TrainingSettings.model_fields, *model.model_fields]
    return f"unknown setting {key!r} of method {method!r}{did_you_mean(key, known)}"


def _with_epochs(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """``epochs = auto`` is a training that settles; a number is one of that length."""
    if "epochs" not in overrides or "settle" in overrides:
        return dict(overrides)
    if overrides["epochs"] == AUTO:
        return {"schedule": "constant", **overrides, "epochs": MOST_EPOCHS, "settle": True}
    return {**overrides, "settle": False}
