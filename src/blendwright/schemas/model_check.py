"""Arguments against their model: every problem as a finding with its pointer and a cure, or the model filled in.

JSON Schema comes first, since its pointers are exact; then the model fills in defaults, trims, and finds what a schema cannot say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from blendwright.schemas.check import Advice, Checker, model_problems
from blendwright.schemas.whole_numbers import whole_numbers
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, pointer_of


class ModelChecker:
    """A model with its schema, compiled. `otherwise` is the cure where the argument at fault has no description."""

    def __init__(self, model: type[BaseModel], schema: dict[str, Any], otherwise: str) -> None:
        self._model = model
        self._schema = schema
        self._advice = argument_advice(schema.get("properties", {}), otherwise)
        self._checker = Checker(schema, Fault.ARGS_INVALID, self._advice)

    def validate(self, raw: Any) -> tuple[Any, tuple[Finding, ...]]:
        """The model and no findings, or None and all of them."""
        findings = tuple(self._checker.findings(raw))
        if findings:
            return None, findings
        try:
            return self._validated(raw), ()
        except ValidationError as error:
            return None, tuple(self._findings(raw, error))

    def _validated(self, raw: Any) -> BaseModel:
        """To JSON Schema 8.0 is an integer: where the model wants one it is read as 8, so that both are the same call."""
        try:
            return self._model.model_validate(raw)
        except ValidationError as error:
            if not any(problem["type"] == "int_type" for problem in error.errors()):
                raise
            return self._model.model_validate(whole_numbers(raw, self._schema, self._schema))

    def _findings(self, raw: Any, error: ValidationError) -> Iterator[Finding]:
        for loc, message in model_problems(error):
            pointer = pointer_of(_path_in(raw, loc))
            yield Finding(Fault.ARGS_INVALID, message, pointer, self._advice(pointer))


def argument_advice(properties: Mapping[str, Any], otherwise: str) -> Advice:
    """What the argument at fault is for, which says what would do."""

    def advice(pointer: str) -> str:
        name = pointer.removeprefix("/").partition("/")[0]
        description = properties.get(name, {}).get("description")
        return f"{name}: {description}" if description else otherwise

    return advice


def _path_in(raw: Any, loc: Sequence[int | str]) -> Iterator[int | str]:
    """The parts of a place that lead through the arguments; pydantic also names the members of unions it went through."""
    place = raw
    for number, part in enumerate(loc, start=1):
        if (isinstance(place, dict) and part in place) or (isinstance(place, list) and isinstance(part, int)):
            place = cast("Any", place)[part]
            yield part
        elif isinstance(place, dict) and number == len(loc) and part not in cast("dict[str, Any]", place).values():
            yield part  # an argument that was left out; a member of a union is called by one of the values
