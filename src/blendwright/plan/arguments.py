"""Phase 1 of a call: its arguments are validated, once for the whole core, with every finding and its pointer.

JSON Schema comes first, since its pointers are exact; then the argument model fills in defaults, trims, and finds what a schema
cannot say; what only the tool knows of its arguments comes last. Whether the arguments are JSON at all was checked where they
came in (`values.json_reader`). The worker validates once more, on its side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, cast

from pydantic import ValidationError

from blendwright.schemas.check import Checker, model_problems
from blendwright.schemas.whole_numbers import whole_numbers
from blendwright.tool_api.tool import AnyTool
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, pointer_of


class ValidatedArguments(NamedTuple):
    """`canonical` is what is sent, hashed and kept; `model` is the same as the tool's own type, for promises that depend on the
    arguments. With findings, which point into the arguments, there is neither."""

    canonical: dict[str, Any]
    findings: tuple[Finding, ...] = ()
    model: Any = None


def validate_arguments(tool: AnyTool, raw: Any) -> ValidatedArguments:
    """The arguments of a call in canonical form and as a model, or everything that is wrong with them."""
    findings = tuple(_checker(type(tool)).findings(raw))
    if findings:
        return ValidatedArguments({}, findings)
    try:
        model = _model(tool, raw)
    except ValidationError as error:
        return ValidatedArguments({}, tuple(_model_findings(type(tool), raw, error)))
    findings = tuple(tool.examine(model, None))
    return (
        ValidatedArguments({}, findings) if findings else ValidatedArguments(model.model_dump(mode="json"), (), model)
    )


def _model(tool: AnyTool, raw: Any) -> Any:
    """To JSON Schema 8.0 is an integer: where the model wants one it is read as 8, so that both are the same call."""
    try:
        return tool.args_model.model_validate(raw)
    except ValidationError as error:
        if not any(problem["type"] == "int_type" for problem in error.errors()):
            raise
        schema = tool.args_schema()
        return tool.args_model.model_validate(whole_numbers(raw, schema, schema))


@cache
def _checker(tool: type[AnyTool]) -> Checker:
    return Checker(tool.args_schema(), Fault.ARGS_INVALID, lambda pointer: _advice(tool, pointer))


def _model_findings(tool: type[AnyTool], raw: Any, error: ValidationError) -> Iterator[Finding]:
    for loc, message in model_problems(error):
        pointer = pointer_of(_path_in(raw, loc))
        yield Finding(Fault.ARGS_INVALID, message, pointer, _advice(tool, pointer))


def _path_in(raw: Any, loc: Sequence[int | str]) -> Iterator[int | str]:
    """The parts of a place that lead through the arguments; pydantic also names the members of unions it went through."""
    place = raw
    for number, part in enumerate(loc, start=1):
        if (isinstance(place, dict) and part in place) or (isinstance(place, list) and isinstance(part, int)):
            place = cast("Any", place)[part]
            yield part
        elif isinstance(place, dict) and number == len(loc) and part not in cast("dict[str, Any]", place).values():
            yield part  # an argument that was left out; a member of a union is called by one of the values


def _advice(tool: type[AnyTool], pointer: str) -> str:
    """What the argument at fault is for, which says what would do; the tool's page otherwise."""
    _, _, name = pointer.partition("/")
    name = name.partition("/")[0]
    description = tool.args_schema().get("properties", {}).get(name, {}).get("description")
    return f"{name}: {description}" if description else f"See: blendwright tools {tool.name}"
