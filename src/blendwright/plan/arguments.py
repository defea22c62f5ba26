"""Phase 1 of a call: arguments against the tool's schema, every finding with its pointer, then in canonical form.

JSON Schema speaks first, since its pointers are exact; the argument model then fills in defaults, trims, and has the last word
on what a schema cannot say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import jsonschema_rs
from pydantic import ValidationError

from blendwright.contracts.tool import AnyTool
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean, pointer_of

# A refusal lists everything, but a hostile document must not become an endless one.
MOST_FINDINGS = 100


def canonical_arguments(tool: AnyTool, raw: Any) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """The canonical arguments, or what is wrong with them. Pointers are relative to the arguments."""
    findings = tuple(_schema_findings(tool, raw))
    if findings:
        return {}, findings
    try:
        model = tool.args_model.model_validate(raw)
    except ValidationError as error:
        return {}, tuple(_model_findings(tool, error))
    return model.model_dump(mode="json"), ()


def _schema_findings(tool: AnyTool, raw: Any) -> Iterator[Finding]:
    for error, _ in zip(_validator(type(tool)).iter_errors(raw), range(MOST_FINDINGS), strict=False):
        pointer = pointer_of(error.instance_path)
        yield from _finding(tool, error, pointer)


@cache
def _validator(tool: type[AnyTool]) -> Any:
    return jsonschema_rs.validator_for(tool.args_schema())


def _finding(tool: AnyTool, error: Any, pointer: str) -> Iterator[Finding]:
    keyword = str(error.schema_path[-1]) if error.schema_path else ""
    message = _short(error.message)
    if "additionalProperties" in [str(part) for part in error.schema_path]:
        known = _properties(tool, error.schema_path)
        for name in re.findall(r"'((?:[^'\\]|\\.)*)'", error.message):
            cure = did_you_mean(name, known, otherwise="Leave it out. Known: " + ", ".join(sorted(known)) + ".")
            yield Finding(Fault.ARGS_INVALID, f"unknown argument '{name}'", pointer + pointer_of([name]), cure)
        return
    if keyword == "required":
        name = re.search(r'"([^"]+)"', error.message)
        cure = f"Add {name.group(1)!r}." if name else "Add what is missing."
        yield Finding(Fault.ARGS_INVALID, message, pointer, cure)
        return
    yield Finding(Fault.ARGS_INVALID, message, pointer, _cure(tool, pointer))


def _properties(tool: AnyTool, path: list[Any]) -> list[str]:
    """The properties that the schema at fault knows."""
    schema: Any = tool.args_schema()
    for part in path:
        if part == "additionalProperties":
            break
        schema = schema[part]
        if "$ref" in schema:
            schema = tool.args_schema()["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
    return list(schema.get("properties", {}))


def _model_findings(tool: AnyTool, error: ValidationError) -> Iterator[Finding]:
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        pointer = pointer_of(problem["loc"])
        yield Finding(Fault.ARGS_INVALID, problem["msg"], pointer, _cure(tool, pointer))


def _cure(tool: AnyTool, pointer: str) -> str:
    """What the argument at fault is for, which says what would do; the tool's page otherwise."""
    parts = pointer.split("/")
    properties: Mapping[str, Any] = tool.args_schema().get("properties", {})
    if len(parts) > 1 and parts[1] in properties:
        description = properties[parts[1]].get("description")
        if description:
            return f"{parts[1]}: {description}"
    return f"See: blendwright tools {tool.name}"


def _short(message: str) -> str:
    return message if len(message) <= 300 else message[:297] + "..."
