"""The recipe of an import: what was learnt from the tables, kept in the store so that new tables are read alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from imgcl._core.checksums import json_checksum, read_checked_json, write_checked_json
from imgcl._core.errors import GraphError, InputError, RunError
from imgcl.data.importing.pandas_table import Place
from imgcl.data.importing.settings import ImportSettings, RepeatedSettings
from imgcl.data.importing.source import column_names, shown
from imgcl.data.store import is_store

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FORMAT = "imgcl-import-recipe-1"
FILE = "recipe.json"
LARGEST = 1 << 28  # bytes
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
AROUND = re.compile(r"[\s%$€£]")  # what is written beside a number, or within it
OTHER = "(other)"  # the feature of all values that have none of their own
AGAIN = "import its tables again"
MEANING = ("weight", "relation", "relations", "directed_as", "missing", "standardise")
FREE = ("on_dangling",)  # it changes no feature: an import that repeats another may choose it anew


class ColumnRecipe(BaseModel):
    """How a column becomes features.

    Attributes:
        name: of the column.
        kind: its SQL type, without parameters.
        mean: what a column of numbers is centred by, or filled with.
        deviation: what it is divided by.
        categories: values of a column of text, one feature each; ``None``: the column holds numbers.
        other: number of less common values that the first import had, which share one feature; 0: there are none.
        log: whether the logarithm of a number is taken first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    kind: str
    mean: FiniteFloat = 0.0
    deviation: Annotated[FiniteFloat, Field(gt=0)] = 1.0
    categories: tuple[str, ...] | None = None
    other: Annotated[int, Field(ge=0)] = 0
    log: bool = False

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features it becomes."""
        if self.categories is None:
            return (self.name,)
        values = (*self.categories, OTHER) if self.other else self.categories
        return tuple(f"{self.name}={value}" for value in values)

    @property
    def odd_value(self) -> str | None:
        """Where most categories look like numbers, the first that is none; where all are, text was meant."""
        values = self.categories or ()
        plain = [NUMBER.fullmatch(value.strip()) is not None for value in values]
        likely = [
            is_plain or NUMBER.fullmatch(AROUND.sub("", value)) for is_plain, value in zip(plain, values, strict=True)
        ]
        if 2 * sum(map(bool, likely)) <= len(values):
            return None
        return next((value for value, is_plain in zip(values, plain, strict=True) if not is_plain), None)

    def standardised(self, value: str) -> str:
        """SQL of a number with the mean and deviation of the first import taken out."""
        return f"({value} - {self.mean!r}) / {self.deviation!r}"


@dataclass(frozen=True)
class Unseen:
    """Values of a column of text that the first import did not have.

    Attributes:
        nodes: number of nodes that have one; their features of this column are 0.
        values: number of different ones.
        example: the first of them.
    """

    nodes: int
    values: int
    example: str


def feature_scales(store: str | Path) -> dict[str, tuple[float, float]]:
    """Mean and deviation that an import took out of each standardised column; empty for anything but such a store."""
    folder = Path(store).expanduser()
    if not is_store(folder) or not (folder / FILE).is_file():
        return {}
    recipe = Recipe.read(folder)
    numbers = [column for column in recipe.columns if column.categories is None]
    return {each.name: (each.mean, each.deviation) for each in numbers} if recipe.settings.standardise else {}


def logarithms(store: str | Path) -> frozenset[str]:
    """Columns whose logarithms an import took; none of anything but such a store."""
    folder = Path(store).expanduser()
    if not is_store(folder) or not (folder / FILE).is_file():
        return frozenset()
    return frozenset(column.name for column in Recipe.read(folder).columns if column.log)


class Recipe(BaseModel):
    """All that an import needs to give other tables the same features.

    Attributes:
        settings: columns and rules, as they were given.
        columns: the feature columns; none where features are made from the edges.
        class_names: in the order of their numbers; ``None``: there was no label.
        relation_names: of the relations, where edges have some.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    settings: RepeatedSettings
    columns: tuple[ColumnRecipe, ...] = ()
    class_names: tuple[str, ...] | None = None
    relation_names: tuple[str, ...] = ()

    def write(self, folder: Path) -> None:
        """Put the recipe into the directory of a store."""
        write_checked_json(folder / FILE, self.model_dump(mode="json"), FORMAT)

    @classmethod
    def read(cls, store: Path) -> Recipe:
        """The recipe of a store.

        Raises:
            GraphError: where there is no store, or it has no recipe, or a damaged one.
        """
        folder = store.expanduser()
        if not is_store(folder):
            raise GraphError(f"{store} is not a graph store (`like`): give the store of an earlier import")
        if not (folder / FILE).is_file():
            raise GraphError(
                f"{store} has no recipe to repeat (`like`): it was made by an earlier version, or not from tables; "
                f"{AGAIN}"
            )
        try:
            return cls(**read_checked_json(folder / FILE, FORMAT, AGAIN, largest=LARGEST))
        except RunError as error:
            raise GraphError(str(error)) from None
        except (ValidationError, TypeError) as error:
            reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "other keys"
            raise GraphError(f"{folder / FILE} is damaged ({reason}): {AGAIN}") from None

    def applied(self, settings: ImportSettings) -> ImportSettings:
        """The settings of a new import with those of this recipe.

        Raises:
            InputError: where a setting was given and differs.
        """
        given = settings.model_fields_set & set(RepeatedSettings.model_fields) - set(FREE)
        for name in sorted(given):
            asked, known = getattr(settings, name), getattr(self.settings, name)
            if asked != known and not (name == "features" and self._same_features(settings)):
                raise InputError(
                    f"`{name}` is {_text(asked)}, but {settings.like} was imported with {_text(known)} (`like`): leave "
                    "one of the two out"
                )
        kept = set(FREE) & settings.model_fields_set
        return settings.model_copy(update=self.settings.model_dump(exclude=kept))

    def fitted(self, connection: DuckDBPyConnection, settings: ImportSettings, *, label_needed: bool) -> ImportSettings:
        """The settings without their label, where the nodes have no such column and none is needed.

        Raises:
            InputError: naming all other columns that a table lacks.
        """
        ends = [settings.src, settings.dst, *filter(None, (settings.weight, settings.relation, settings.time))]
        _header_with(connection, settings.edges, ends, settings)
        if settings.nodes is None:
            return settings
        others = (settings.node_time, settings.label if label_needed else None)
        wanted = [settings.id_column, *self._features, *filter(None, others)]
        if settings.label in (None, *_header_with(connection, settings.nodes, wanted, settings)):
            return settings
        return settings.model_copy(update={"label": None, "numeric_label": False})

    def feature_columns(self, names: tuple[str, ...], settings: ImportSettings) -> list[str]:
        """The feature columns, in their order, of a table with these columns."""
        _check_lacking(settings.node_file, names, self._features, settings)
        return self._features

    @property
    def texts(self) -> list[str]:
        """Feature columns that are read as text from CSV files: 007 stays 007, and yes is not 1 among numbers."""
        return [each.name for each in self.columns if each.kind != "BOOLEAN"]

    @property
    def _features(self) -> list[str]:
        return [each.name for each in self.columns]

    def _same_features(self, settings: ImportSettings) -> bool:
        if settings.structural or self.settings.structural:
            return settings.structural and self.settings.structural
        return list(settings.features) == self._features


def rules_of(source: str) -> str | None:
    """A checksum of all that decides what features and edges mean in a store; ``None``: it is no import of tables.

    Stores of which one was imported like the other have the same.
    """
    if not (Path(source).expanduser() / FILE).is_file():
        return None
    recipe = Recipe.read(Path(source))
    rules = recipe.settings.model_dump(mode="json", include=set(MEANING))
    columns = [[each.features, each.mean, each.deviation, *(["log"] if each.log else [])] for each in recipe.columns]
    return json_checksum({**rules, "columns": columns})


def _header_with(
    connection: DuckDBPyConnection, path: Place, wanted: list[str], settings: ImportSettings
) -> tuple[str, ...]:
    """The columns of a table, which must have the wanted ones."""
    names = column_names(connection, path, set(wanted))
    if "" not in names:  # columns without a name get one when the table is opened, and are compared then
        _check_lacking(path, names, wanted, settings)
    return names


def _check_lacking(path: Place, names: tuple[str, ...], wanted: list[str], settings: ImportSettings) -> None:
    lacking = [repr(name) for name in wanted if name not in names]
    if lacking:
        raise InputError(
            f"{path} lacks columns that {settings.like} was imported from (`like`): {shown(lacking)}; "
            f"it has {shown(names)}"
        )


def _text(value: Any) -> str:
    return ",".join(value) or "none" if isinstance(value, tuple) else repr(value)
