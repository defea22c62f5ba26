"""Phase 1 of a call: arguments against the tool's schema, every finding with its pointer, then in canonical form.

What is no JSON at all is found first. Then JSON Schema speaks, since its pointers are exact; the argument model fills in
defaults, trims, and says what a schema cannot. What only the tool knows of its arguments comes last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, cast

from pydantic import ValidationError

from blendwright.schemas.check import Checker
from blendwright.schemas.whole_numbers import with_whole_number
from blendwright.tool_api.tool import AnyTool
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, pointer_of
from blendwright.values.json_reader import non_interoperable_values


def canonical_arguments(tool: AnyTool, raw: Any) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """The canonical arguments, or what is wrong with them. Pointers are relative to the arguments."""
    findings = non_interoperable_values(raw) or tuple(_checker(type(tool)).findings(raw))
    if findings:
        return {}, findings
    try:
        model = _model(tool, raw)
    except ValidationError as error:
        return {}, tuple(_model_findings(type(tool), raw, error))
    findings = tuple(tool.examine(model, None))
    return ({}, findings) if findings else (model.model_dump(mode="json"), ())


def _model(tool: AnyTool, raw: Any) -> Any:
    """To JSON Schema 8.0 is an integer: where the model wants one it is read as 8, so that both are the same call."""
    try:
        return tool.args_model.model_validate(raw)
    except ValidationError as error:
        places = [problem["loc"] for problem in error.errors() if problem["type"] == "int_type"]
        folded = raw
        for place in places:
            folded = with_whole_number(folded, place)
        if folded is raw:
            raise
        return tool.args_model.model_validate(folded)


@cache
def _checker(tool: type[AnyTool]) -> Checker:
    return Checker(tool.args_schema(), Fault.ARGS_INVALID, lambda pointer: _advice(tool, pointer))


def _model_findings(tool: type[AnyTool], raw: Any, error: ValidationError) -> Iterator[Finding]:
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        pointer = pointer_of(_way(raw, problem["loc"]))
        yield Finding(Fault.ARGS_INVALID, problem["msg"], pointer, _advice(tool, pointer))


def _way(raw: Any, loc: Sequence[int | str]) -> Iterator[int | str]:
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
