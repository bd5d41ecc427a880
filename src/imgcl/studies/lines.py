"""What the lines of a journal must have: every reader of results or plans uses these checks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from imgcl._core.documents import first_problem
from imgcl._core.errors import RunError
from imgcl.studies.journal import Journal, Line

GROUP_LABELS = ("dataset", "method", "balance", "imbalance")
EVALUATED = ("evaluate", "trial", "baseline")
Label = str | int | float | bool | None


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class PointLine(_Part):
    """A point of the grid: its labels, the cell that is computed for it, and the pre-training that this needs."""

    __pydantic_extra__: dict[str, Label]
    kind: str
    key: str
    pretrain: str | None
    seed: int

    @model_validator(mode="after")
    def _labelled(self) -> PointLine:
        missing = [label for label in GROUP_LABELS if not isinstance(self.__pydantic_extra__.get(label), str)]
        if self.kind in EVALUATED and missing:
            raise ValueError(f"{missing[0]} is missing")
        return self


class PlanLine(_Part):
    """The plan of a study."""

    type: Literal["plan"]
    command: str
    missing: dict[str, str]
    versions: dict[str, str]
    points: list[PointLine]


class CellLine(_Part):
    """What became of a cell."""

    type: Literal["cell"]
    key: str
    kind: str
    status: Literal["done", "failed"]
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    commit: str
    result: dict[str, Any] = Field(default_factory=dict)
    error: str = ""
    message: str = ""

    @model_validator(mode="after")
    def _with_result(self) -> CellLine:
        if self.status == "done" and "result" not in self.model_fields_set:
            raise ValueError("result is missing")
        return self


LINE: TypeAdapter[PlanLine | CellLine] = TypeAdapter(Annotated[PlanLine | CellLine, Field(discriminator="type")])


def study_lines(journal: Journal) -> list[Line]:
    """The plans and cells of a journal.

    Raises:
        RunError: naming the first line that is neither.
    """
    lines = journal.lines()
    for number, line in enumerate(lines, start=1):
        try:
            LINE.validate_python(line)
        except ValidationError as error:
            problem = first_problem(error)
            raise RunError(f"{journal.path}: line {number} is damaged ({problem}); remove that line to go on") from None
    return lines
