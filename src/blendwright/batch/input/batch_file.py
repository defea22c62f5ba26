"""Batch files: a program, its rows and the outputs of every case in one strict JSON document with a published schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from blendwright.batch.definition import Keep, Output
from blendwright.batch.input import sampling
from blendwright.batch.input.tables import Row, table_rows
from blendwright.batch.outputs.makers import output_of
from blendwright.schemas.check import model_problems
from blendwright.schemas.json_reader import LARGEST, read_json
from blendwright.util.json_shapes import fields_of
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, pointer_of

FORMAT = "batch.v1"
# The largest number of cases in one batch.
MAX_CASES = 100_000_000
Number = int | float
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)


class Normal(_Part):
    mean: Number
    deviation: Annotated[Number, Field(gt=0)]
    min: Number | None = Field(default=None, description="Lower bound; smaller samples become this value.")
    max: Number | None = Field(default=None, description="Upper bound; larger samples become this value.")


class Variation(_Part):
    """The way in which one parameter varies between cases: exactly one of these fields."""

    values: list[JsonValue] | None = Field(
        default=None, min_length=1, description="List of values. Every value is combined with all other lists."
    )
    range: list[int] | None = Field(
        default=None,
        min_length=2,
        max_length=3,
        description="Whole numbers: start, end (excluded) and optionally a step.",
    )
    uniform: list[Number] | None = Field(
        default=None, min_length=2, max_length=2, description="Two bounds; samples are uniform between them."
    )
    log_uniform: list[Number] | None = Field(
        default=None,
        min_length=2,
        max_length=2,
        description="Two bounds above 0; the logarithm of the samples is uniform between them.",
    )
    integer: list[int] | None = Field(
        default=None,
        min_length=2,
        max_length=2,
        description="Two bounds, both included; samples are whole numbers between them.",
    )
    normal: Normal | None = Field(default=None, description="A normal distribution, optionally with bounds.")
    choice: list[JsonValue] | None = Field(
        default=None, min_length=1, description="List of values, one of which is drawn for each sample."
    )

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        names = [name for name in Variation.model_fields if getattr(self, name) is not None]
        if len(names) != 1:
            raise ValueError(f"a parameter needs exactly one of {', '.join(Variation.model_fields)}")
        bounds: Any = getattr(self, names[0])
        if names[0] in ("uniform", "log_uniform", "integer") and not bounds[0] <= bounds[1]:
            raise ValueError("the first bound must not be above the second")
        if self.log_uniform is not None and self.log_uniform[0] <= 0:
            raise ValueError("the bounds of log_uniform must be above 0")
        if self.range is not None and not range(*self.range):
            raise ValueError("the range contains no number")
        return self

    @property
    def listed(self) -> Sequence[Any] | None:
        """Return the values that are combined with all other lists, or None if this parameter is sampled."""
        if self.range is not None:
            return range(*self.range)
        return self.values

    def draw(self, chance: sampling.Chance) -> Any:
        if self.uniform is not None:
            return sampling.uniform(chance, *self.uniform)
        if self.log_uniform is not None:
            return sampling.log_uniform(chance, *self.log_uniform)
        if self.integer is not None:
            return chance.whole(*self.integer)
        if self.normal is not None:
            return sampling.normal(chance, self.normal.mean, self.normal.deviation, self.normal.min, self.normal.max)
        assert self.choice is not None
        return self.choice[chance.whole(0, len(self.choice) - 1)]


class WantedOutput(_Part):
    kind: str = Field(description="blend, glb, usd, fbx, picture, still or another kind of output.")
    name: str | None = Field(default=None, description="The file name; by default the one of the kind.")
    args: dict[str, JsonValue] = Field(
        default={}, description="Arguments of the tool that makes it: file.export, render.preview or render.still."
    )


class BatchDocument(_Part):
    """A batch: one program for every row of parameters."""

    format: Literal["batch.v1"] = Field(description="The version of this schema.")
    program: str = Field(
        min_length=1, description="Path of the program (.star) or plan (.json), relative to this file's folder."
    )
    params: dict[Name, JsonValue] = Field(default={}, description="Parameters with the same value in every case.")
    table: str | None = Field(
        default=None,
        description="Path of a table (.csv, .jsonl, .parquet) with one case per row, relative to this file.",
    )
    vary: dict[Name, Variation] = Field(default={}, description="Parameters that vary: listed or sampled.")
    cases: Annotated[int, Field(ge=1, le=MAX_CASES)] = Field(
        default=1, description="Samples of each row. Without a table and lists, this is the number of cases."
    )
    seed: int = Field(default=0, description="Seed of all samples.")
    outputs: list[str | WantedOutput] = Field(
        default=["blend", "picture"],
        description="Outputs of every case: kinds, or kinds with names and arguments.",
    )
    keep: Keep = Field(
        default="drop", description="Workspaces of the cases: keep, keep without logs (compact), or drop."
    )
    approve: list[str] = Field(
        default=[], description="Grants that the cases need. The user who runs the batch must pass the same --approve."
    )
    blender: str | None = Field(
        default=None, description="Name of an added Blender, such as 5.2. A path is not allowed."
    )
    case_seconds: Annotated[Number, Field(gt=0)] | None = Field(
        default=None, description="Time limit of one case in seconds; by default the one of the policy."
    )

    def rows(self, folder: Path) -> Iterator[Row]:
        """Yield the rows of the table, combined with every listed value and sample. `folder` is the folder of the batch file.

        Raise Refusal for an unreadable table and for too many cases, at once or in the middle of the table."""
        listed_values: dict[str, Sequence[Any]] = {}
        for name, variation in self.vary.items():
            values = variation.listed
            if values is not None:
                listed_values[name] = values
        cases_per_row = prod(_length(values) for values in listed_values.values()) * self.cases
        _require_not_too_many(cases_per_row)
        return self._rows(folder, listed_values, cases_per_row)

    def _rows(self, folder: Path, listed_values: Mapping[str, Sequence[Any]], cases_per_row: int) -> Iterator[Row]:
        single: Row = ({}, "")
        table: Iterator[Row] = iter((single,))
        if self.table is not None:
            table = table_rows(folder / self.table)
        for count, (row, source) in enumerate(table, 1):
            _require_not_too_many(count * cases_per_row)
            for values in _combinations(tuple(listed_values.items())):
                fixed = {**row, **values}
                for sample in range(self.cases):
                    yield {**fixed, **self._sampled(fixed, sample)}, source

    def _sampled(self, fixed: Mapping[str, Any], sample: int) -> dict[str, Any]:
        """Return the sampled parameters of one case."""
        values: dict[str, Any] = {}
        for name, variation in self.vary.items():
            if variation.listed is None:
                values[name] = variation.draw(sampling.chance_for(self.seed, name, fixed, sample))
        return values

    def wanted_outputs(self) -> tuple[Output, ...]:
        """Return the outputs of every case. Raise Refusal with the JSON pointer of the problem."""
        outputs: list[Output] = []
        names: set[str] = set()
        for position, entry in enumerate(self.outputs):
            pointer = f"/outputs/{position}"
            if isinstance(entry, str):
                output = output_of(entry, pointer=pointer)
            else:
                output = output_of(entry.kind, entry.name, entry.args, pointer)
            if output.name in names:
                message = f"two outputs have the name '{output.name}'"
                raise Refusal([Finding(Fault.ARGS_INVALID, message, pointer, "Choose another name for one of them.")])
            names.add(output.name)
            outputs.append(output)
        return tuple(outputs)


def _combinations(listed: Sequence[tuple[str, Sequence[Any]]]) -> Iterator[dict[str, Any]]:
    """Yield every combination of the listed values. itertools.product would hold every range in memory."""
    if not listed:
        yield {}
        return
    (name, values), *remaining = listed
    for value in values:
        for combination in _combinations(remaining):
            yield {name: value, **combination}


def _length(values: Sequence[Any]) -> int:
    """Return the number of values. `len` fails for ranges with more than 2^63 numbers."""
    if isinstance(values, range):
        return (values[-1] - values[0]) // values.step + 1
    return len(values)


def _require_not_too_many(cases: int) -> None:
    if cases > MAX_CASES:
        message = f"the batch file defines {cases:.3g} cases, and a batch can have at most {MAX_CASES:,}"
        fix = "List fewer values, or split it into several batches."
        raise Refusal([Finding(Fault.LIMIT_EXCEEDED, message, "/vary", fix)])


@dataclass(frozen=True, slots=True)
class BatchFile:
    """A batch file: its path and its content."""

    path: Path
    document: BatchDocument

    @property
    def program(self) -> Path:
        return self.path.parent / self.document.program

    def rows(self) -> Iterator[Row]:
        return self.document.rows(self.path.parent)


def read_batch_file(path: Path) -> BatchFile | None:
    """Return a batch file, or None for another JSON file, such as a plan. Raise Refusal with all findings and their pointers."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1)
    except OSError as error:
        fix = "Pass the path of a program (.star), a plan or a batch file (.json)."
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"cannot read {path}: {error.strerror}", fix) from error
    value, broken = read_json(text)
    if broken:
        raise Refusal([replace(finding, message=f"{path}: {finding.message}") for finding in broken])
    if not str(fields_of(value).get("format", "")).startswith("batch."):
        return None
    try:
        return BatchFile(path, BatchDocument.model_validate_json(orjson.dumps(value)))
    except ValidationError as error:
        fix = "See the published schema: blendwright schemas batch.v1"
        findings: list[Finding] = []
        for location, text in model_problems(error):
            pointer = pointer_of(location)
            message = f"{path}: {pointer or '(all)'}: {text}"
            findings.append(Finding(Fault.SCHEMA_INVALID, message, pointer, fix))
        raise Refusal(findings) from error
