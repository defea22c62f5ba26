"""Batch files: a program, its rows and what is wanted of every case, in one strict JSON document with a published schema."""

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
MOST_CASES = 100_000_000
Number = int | float
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)


class Normal(_Part):
    mean: Number
    deviation: Annotated[Number, Field(gt=0)]
    min: Number | None = Field(default=None, description="What is drawn below is this.")
    max: Number | None = Field(default=None, description="What is drawn above is this.")


class Variation(_Part):
    """How one parameter differs from case to case: exactly one of these."""

    values: list[JsonValue] | None = Field(
        default=None, min_length=1, description="Each of them, with all others: the cases are multiplied."
    )
    range: list[int] | None = Field(
        default=None,
        min_length=2,
        max_length=3,
        description="Whole numbers from the first to before the second, and a step.",
    )
    uniform: list[Number] | None = Field(
        default=None, min_length=2, max_length=2, description="Drawn between two bounds, each as likely."
    )
    log_uniform: list[Number] | None = Field(
        default=None, min_length=2, max_length=2, description="The same by orders of magnitude; both bounds above 0."
    )
    integer: list[int] | None = Field(
        default=None,
        min_length=2,
        max_length=2,
        description="A whole number drawn between two bounds, which are among them.",
    )
    normal: Normal | None = Field(default=None, description="Drawn around a mean, and kept within bounds.")
    choice: list[JsonValue] | None = Field(default=None, min_length=1, description="One of these, drawn.")

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        given = [name for name in Variation.model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"exactly one of {', '.join(Variation.model_fields)} says how a parameter varies")
        bounds: Any = getattr(self, given[0])
        if given[0] in ("uniform", "log_uniform", "integer") and not bounds[0] <= bounds[1]:
            raise ValueError("the first bound is above the second")
        if self.log_uniform is not None and self.log_uniform[0] <= 0:
            raise ValueError("the bounds of log_uniform are above 0")
        if self.range is not None and not range(*self.range):
            raise ValueError("there is no number in this range")
        return self

    @property
    def listed(self) -> Sequence[Any] | None:
        """What multiplies the cases; None for what is drawn."""
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
    kind: str = Field(description="blend, glb, usd, fbx, picture, still or another kind that there is.")
    name: str | None = Field(default=None, description="The name of its file; that of the kind otherwise.")
    args: dict[str, JsonValue] = Field(
        default={}, description="Arguments of the tool that makes it: file.export, render.preview, render.still."
    )


class BatchDocument(_Part):
    """A batch: one program for every row."""

    format: Literal["batch.v1"] = Field(description="The version of this schema.")
    program: str = Field(min_length=1, description="The program (.star) or plan (.json), beside this file or below.")
    params: dict[Name, JsonValue] = Field(default={}, description="Parameters that are the same in every case.")
    table: str | None = Field(
        default=None, description="A table (.csv, .jsonl, .parquet) beside this file: a case for each row."
    )
    vary: dict[Name, Variation] = Field(default={}, description="Parameters that differ, listed or drawn.")
    cases: Annotated[int, Field(ge=1, le=MOST_CASES)] = Field(
        default=1, description="How often each row is drawn: with nothing else, the number of cases."
    )
    seed: int = Field(default=0, description="What is drawn follows from it.")
    outputs: list[str | WantedOutput] = Field(
        default=["blend", "picture"],
        description="What is made of every case: kinds, or kinds with names and arguments.",
    )
    keep: Keep = Field(
        default="drop", description="What becomes of the workspaces: kept, kept without logs, or dropped."
    )
    approve: list[str] = Field(
        default=[], description="What is to be allowed beforehand; whoever runs it gives the same --approve."
    )
    blender: str | None = Field(
        default=None, description="Which Blender, by the name of one that was added, as 5.2; no path."
    )
    case_seconds: Annotated[Number, Field(gt=0)] | None = Field(
        default=None, description="The deadline of one case; that of the policy otherwise."
    )

    def rows(self, beside: Path) -> Iterator[Row]:
        """Of the table, times what is listed, times how often it is drawn. Raises Refusal, also for more than there may be: at once, or in
        the middle of a table."""
        listed = {name: one.listed for name, one in self.vary.items() if one.listed is not None}
        of_each = prod(_length(values) for values in listed.values()) * self.cases
        _require_not_too_many(of_each)
        return self._rows(beside, listed, of_each)

    def _rows(self, beside: Path, listed: Mapping[str, Sequence[Any]], of_each: int) -> Iterator[Row]:
        drawn = {name: one for name, one in self.vary.items() if one.listed is None}
        single: Row = ({}, "")
        if self.table is None:
            given = iter((single,))
        else:
            given = table_rows(beside / self.table)
        for count, (row, source) in enumerate(given, 1):
            _require_not_too_many(count * of_each)
            for values in _combinations(tuple(listed.items())):
                fixed = {**row, **values}
                for sample in range(self.cases):
                    yield {**fixed, **self._drawn(drawn, fixed, sample)}, source

    def _drawn(self, drawn: Mapping[str, Variation], fixed: Mapping[str, Any], sample: int) -> dict[str, Any]:
        return {name: one.draw(sampling.chance_for(self.seed, name, fixed, sample)) for name, one in drawn.items()}

    def wanted_outputs(self) -> tuple[Output, ...]:
        """Raises Refusal with the place of what is wrong."""
        outputs: list[Output] = []
        for position, one in enumerate(self.outputs):
            if isinstance(one, str):
                wanted = WantedOutput(kind=one)
            else:
                wanted = one
            outputs.append(output_of(wanted.kind, wanted.name, wanted.args, f"/outputs/{position}"))
        names = [output.name for output in outputs]
        if repeated := next((name for name in names if names.count(name) > 1), None):
            message = f"two outputs are called '{repeated}'"
            pointer = f"/outputs/{len(names) - 1 - names[::-1].index(repeated)}"
            raise Refusal([Finding(Fault.ARGS_INVALID, message, pointer, "Give one of them another name.")])
        return tuple(outputs)


def _combinations(listed: Sequence[tuple[str, Sequence[Any]]]) -> Iterator[dict[str, Any]]:
    """Each value of the first with all others, one after another: itertools.product holds every range as a whole."""
    if not listed:
        yield {}
        return
    (name, values), *others = listed
    for value in values:
        for rest in _combinations(others):
            yield {name: value, **rest}


def _length(values: Sequence[Any]) -> int:
    """`len` knows no range of more than 2^63."""
    if isinstance(values, range):
        return (values[-1] - values[0]) // values.step + 1
    return len(values)


def _require_not_too_many(cases: int) -> None:
    if cases > MOST_CASES:
        message = f"these are {cases:.3g} cases, and a batch has {MOST_CASES:,} at most"
        cure = "List fewer values, or make several batches of it."
        raise Refusal([Finding(Fault.LIMIT_EXCEEDED, message, "/vary", cure)])


@dataclass(frozen=True, slots=True)
class BatchFile:
    """A batch file that was read, and where it lies."""

    path: Path
    document: BatchDocument

    @property
    def program(self) -> Path:
        return self.path.parent / self.document.program

    def rows(self) -> Iterator[Row]:
        return self.document.rows(self.path.parent)


def read_batch_file(path: Path) -> BatchFile | None:
    """None for a JSON file that is no batch file, which may be a plan. Raises Refusal with every finding and its place."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1)
    except OSError as error:
        cure = "Give the path of a program (.star), a plan or a batch file (.json)."
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"cannot read {path}: {error.strerror}", cure) from error
    value, broken = read_json(text)
    if broken:
        raise Refusal([replace(finding, message=f"{path}: {finding.message}") for finding in broken])
    if not str(fields_of(value).get("format", "")).startswith("batch."):
        return None
    try:
        return BatchFile(path, BatchDocument.model_validate_json(orjson.dumps(value)))
    except ValidationError as error:
        problems = [(pointer_of(loc), message) for loc, message in model_problems(error)]
        cure = "See the published schema: blendwright schemas batch.v1"
        findings = [
            Finding(Fault.SCHEMA_INVALID, f"{path}: {at or '(all)'}: {text}", at, cure) for at, text in problems
        ]
        raise Refusal(findings) from error
