"""Checks of a single macro, independent of all further macros: the schema of its inputs, and the templates that use
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import jsonschema_rs

from blendwright.macros.definition import MacroDocument, properties_of
from blendwright.macros.templates import EACH, TEMPLATE, uses
from blendwright.schemas.check import BROKEN_SCHEMA, Checker
from blendwright.tool_api.promises import Determinism
from blendwright.util.json_shapes import fields_of
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, cut, did_you_mean, pointer_of

# JSON types that a template can write into a string.
SCALARS = frozenset({"string", "integer", "number", "boolean"})
# The dialect of JSON Schema for all inputs, stated or not.
JSON_SCHEMA = "https://json-schema.org/draft/2020-12/schema"
SEED = "{{seed}}"
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
# Keywords that contain values instead of schemas.
VALUES = ("default", "const", "enum", "examples")


def own_findings(document: MacroDocument) -> Iterator[Finding]:
    """Yield all findings about a macro. A broken schema of the inputs hides findings that depend on it."""
    broken = list(_inputs(document.inputs))
    yield from broken
    if not broken:
        yield from _defaults(document.inputs)
        yield from _templates(document)
    yield from _seed(document)
    if all(step.for_each is not None for step in document.steps):
        message = "every step is repeated for a list, which may be empty"
        yield wrong(message, "/steps", "Have at least one step without for_each.")


def _inputs(inputs: Mapping[str, Any]) -> Iterator[Finding]:
    # This comes first, because the checks below resolve references.
    outside = list(_outside(dict(inputs), ()))
    if outside:
        yield from outside
        return
    try:
        jsonschema_rs.meta.validate(dict(inputs))
        Checker(dict(inputs), Fault.SCHEMA_INVALID, str)
    except BROKEN_SCHEMA as error:
        pointer, reason = "/inputs", str(error).partition("\n")[0]
        if isinstance(error, jsonschema_rs.ValidationError):
            pointer, reason = pointer + pointer_of(error.instance_path), error.message
        yield wrong(
            f"the schema of the inputs is not a JSON Schema: {reason[:200]}", pointer, "See JSON Schema 2020-12."
        )
        return

    if inputs.get("type") != "object":
        yield wrong("the inputs are not an object", "/inputs/type", 'Add "type": "object".')
    if inputs.get("additionalProperties") is not False:
        message = "the inputs are not closed, so that misspelt inputs would have no effect"
        yield wrong(message, "/inputs", 'Add "additionalProperties": false.')
    yield from _property_problems(inputs)


def _property_problems(inputs: Mapping[str, Any]) -> Iterator[Finding]:
    properties = properties_of(inputs)
    required = inputs.get("required", [])
    for name in required:
        if name not in properties:
            yield wrong(f"'{name}' is required but not described", "/inputs/required", "Add it to the properties.")
    for name, schema in properties.items():
        pointer = "/inputs/properties" + pointer_of([name])
        if not TEMPLATE.fullmatch(f"{{{{{name}}}}}") or name == EACH:
            yield wrong(
                f"'{name[:60]}' is not a valid input name", pointer, "Use small letters, digits and _; not 'each'."
            )
        if not isinstance(schema, dict) or "description" not in schema:
            yield wrong(f"the input '{name}' is not described", pointer, "Add a description.")
        elif name not in required and "default" not in schema:
            message = f"the input '{name}' is not required and has no default"
            yield wrong(message, pointer, "Add a default, or require it.")


def _outside(schema: Any, path: tuple[str | int, ...]) -> Iterator[Finding]:
    """Yield a finding for each reference that leads out of the document. Blendwright never fetches schemas."""
    if isinstance(schema, dict):
        members = cast("dict[str, Any]", schema)
        for word in REFERENCES:
            reference = members.get(word)
            if isinstance(reference, str) and not reference.startswith("#"):
                message = f"'{cut(reference)}' is not in this document"
                cure = "Move it under $defs of this document, and refer to it as #/$defs/name."
                yield wrong(message, "/inputs" + pointer_of((*path, word)), cure)
        draft = members.get("$schema")
        if isinstance(draft, str) and draft.removesuffix("#") != JSON_SCHEMA:
            message = f"inputs use JSON Schema 2020-12, but $schema is '{cut(draft)}'"
            yield wrong(message, "/inputs" + pointer_of((*path, "$schema")), "Leave $schema out.")
        for key, inner in members.items():
            if key not in VALUES or isinstance(inner, dict):
                yield from _outside(inner, (*path, key))
    elif isinstance(schema, list):
        for index, inner in enumerate(cast("list[Any]", schema)):
            yield from _outside(inner, (*path, index))


def _defaults(inputs: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield findings about the defaults.

    Each is checked against the whole schema, since its part may contain references.
    """
    checker = Checker({**inputs, "required": []}, Fault.SCHEMA_INVALID, lambda _: "Give a default that fits.")
    for name, schema in properties_of(inputs).items():
        if "default" in schema:
            base = pointer_of([name])
            for finding in checker.findings({name: schema["default"]}):
                if finding.pointer == base or finding.pointer.startswith(base + "/"):
                    pointer = "/inputs/properties" + pointer_of([name, "default"])
                    yield replace(finding, pointer=pointer + finding.pointer.removeprefix(base))


def _templates(document: MacroDocument) -> Iterator[Finding]:
    properties = properties_of(document.inputs)
    parts: list[Any] = []
    used_names: set[str | None] = set()
    for part in ("preconditions", "postconditions"):
        parts.append(getattr(document, part))
        yield from _used(parts[-1], f"/{part}", properties)

    for index, step in enumerate(document.steps):
        pointer = f"/steps/{index}"
        names: dict[str, Any] = dict(properties)
        if step.for_each is not None:
            repeated = properties.get(step.for_each)
            if repeated is None or repeated.get("type") != "array":
                cure = did_you_mean(step.for_each, properties, otherwise="Name an input whose type is array.")
                message = f"for_each does not name a list: '{step.for_each[:60]}'"
                yield wrong(message, f"{pointer}/for_each", cure)
            names[EACH] = fields_of(fields_of(repeated).get("items"))
            used_names.add(step.for_each)
        parts.append(step.args)
        yield from _used(step.args, f"{pointer}/args", names)

    for part in parts:
        used_names.update(use.name for use in uses(part))
    for name in sorted(properties.keys() - used_names):
        pointer = "/inputs/properties" + pointer_of([name])
        yield wrong(f"nothing uses the input '{name}'", pointer, f"Use it as {{{{{name}}}}}, or remove it.")


def _used(value: Any, base: str, properties: Mapping[str, Any]) -> Iterator[Finding]:
    for use in uses(value):
        pointer = base + use.pointer
        if use.name is None:
            yield wrong("the braces do not contain the name of an input", pointer, "Write {{name}}, without blanks.")
        elif use.name not in properties:
            cure = did_you_mean(use.name, properties, otherwise=f"The inputs are: {', '.join(properties) or 'none'}.")
            yield wrong(f"there is no input named '{use.name}'", pointer, cure)
        elif not use.whole and not _is_scalar(properties[use.name]):
            message = f"'{use.name}' is used inside a string, but its type may be other than string, number or boolean"
            yield wrong(message, pointer, "Use it as a whole value, or declare its type.")


def _is_scalar(schema: Mapping[str, Any]) -> bool:
    types: Any = schema.get("type")
    if isinstance(types, list):
        return SCALARS.issuperset(cast("list[Any]", types))
    return types in SCALARS


def _seed(document: MacroDocument) -> Iterator[Finding]:
    """Yield a finding if a seeded macro does not pass its seed to a step, because receipts report that seed."""
    if document.determinism is not Determinism.SEEDED:
        return
    if "seed" not in properties_of(document.inputs):
        yield wrong("it is seeded but takes no seed", "/inputs", "Add an input 'seed', and pass it on.")
    elif not any(step.args.get("seed") == SEED for step in document.steps):
        message = "it is seeded, but no step gets its seed"
        yield wrong(message, "/inputs/properties/seed", f'Pass "seed": "{SEED}" to the steps that take one.')


def wrong(message: str, pointer: str, cure: str) -> Finding:
    return Finding(Fault.SCHEMA_INVALID, message, pointer, cure)
