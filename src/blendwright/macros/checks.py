"""What is wrong with a macro by itself, before any other one is known: its inputs and the templates that use them."""

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

# What can be written into a text.
SCALARS = frozenset({"string", "integer", "number", "boolean"})
# What the schema of the inputs is read as, whether it says so or not.
JSON_SCHEMA = "https://json-schema.org/draft/2020-12/schema"
SEED = "{{seed}}"
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
# In these stand values, not schemas.
VALUES = ("default", "const", "enum", "examples")


def own_findings(document: MacroDocument) -> Iterator[Finding]:
    """Everything at once; a broken schema of the inputs is the only thing that hides others."""
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
    # First of all: what is asked about such a schema below goes and looks for what it refers to.
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
        yield wrong(f"the schema of the inputs is no JSON Schema: {reason[:200]}", pointer, "See JSON Schema 2020-12.")
        return
    if inputs.get("type") != "object":
        yield wrong("the inputs are no object", "/inputs/type", 'Say "type": "object".')
    if inputs.get("additionalProperties") is not False:
        message = "the inputs are not closed: a misspelt one would be lost"
        yield wrong(message, "/inputs", 'Say "additionalProperties": false.')
    properties = properties_of(inputs)
    required = inputs.get("required", [])
    for name in required:
        if name not in properties:
            yield wrong(f"'{name}' is required and not described", "/inputs/required", "Add it to the properties.")
    for name, schema in properties.items():
        pointer = "/inputs/properties" + pointer_of([name])
        if not TEMPLATE.fullmatch(f"{{{{{name}}}}}") or name == EACH:
            yield wrong(
                f"'{name[:60]}' is no name for an input", pointer, "Use small letters, digits and _; not 'each'."
            )
        if not isinstance(schema, dict) or "description" not in schema:
            yield wrong(f"the input '{name}' is not described", pointer, "Add a description.")
        elif name not in required and "default" not in schema:
            message = f"the input '{name}' is neither required nor has it a default"
            yield wrong(message, pointer, "Add a default, or require it.")


def _outside(schema: Any, path: tuple[str | int, ...]) -> Iterator[Finding]:
    """References that lead out of the document. Nothing is ever fetched for a schema."""
    if isinstance(schema, dict):
        members = cast("dict[str, Any]", schema)
        for word in REFERENCES:
            reference = members.get(word)
            if isinstance(reference, str) and not reference.startswith("#"):
                message = f"'{cut(reference)}' is not in this document"
                cure = "Put it under $defs here, and refer to it as #/$defs/name."
                yield wrong(message, "/inputs" + pointer_of((*path, word)), cure)
        draft = members.get("$schema")
        if isinstance(draft, str) and draft.removesuffix("#") != JSON_SCHEMA:
            message = f"the inputs are described in JSON Schema 2020-12, and this says '{cut(draft)}'"
            yield wrong(message, "/inputs" + pointer_of((*path, "$schema")), "Leave $schema out.")
        for key, inner in members.items():
            if key not in VALUES or isinstance(inner, dict):
                yield from _outside(inner, (*path, key))
    elif isinstance(schema, list):
        for index, inner in enumerate(cast("list[Any]", schema)):
            yield from _outside(inner, (*path, index))


def _defaults(inputs: Mapping[str, Any]) -> Iterator[Finding]:
    """Each held against the whole schema, since its own part may refer to others."""
    checker = Checker({**inputs, "required": []}, Fault.SCHEMA_INVALID, lambda _: "Give a default that fits.")
    for name, schema in properties_of(inputs).items():
        if "default" in schema:
            own = pointer_of([name])
            for finding in checker.findings({name: schema["default"]}):
                if finding.pointer == own or finding.pointer.startswith(own + "/"):
                    pointer = "/inputs/properties" + pointer_of([name, "default"])
                    yield replace(finding, pointer=pointer + finding.pointer.removeprefix(own))


def _templates(document: MacroDocument) -> Iterator[Finding]:
    properties = properties_of(document.inputs)
    for part in ("preconditions", "postconditions"):
        yield from _used(getattr(document, part), f"/{part}", properties)
    for index, step in enumerate(document.steps):
        pointer = f"/steps/{index}"
        names: dict[str, Any] = dict(properties)
        if step.for_each is not None:
            listed = properties.get(step.for_each)
            if listed is None or listed.get("type") != "array":
                cure = did_you_mean(step.for_each, properties, otherwise="Name an input whose type is array.")
                yield wrong(f"for_each names no list: '{step.for_each[:60]}'", f"{pointer}/for_each", cure)
            names[EACH] = fields_of(fields_of(listed).get("items"))
        yield from _used(step.args, f"{pointer}/args", names)
    filled = (document.preconditions, document.postconditions, *(step.args for step in document.steps))
    used = {step.for_each for step in document.steps} | {use.name for part in filled for use in uses(part)}
    for name in sorted(properties.keys() - used):
        pointer = "/inputs/properties" + pointer_of([name])
        yield wrong(f"the input '{name}' is used nowhere", pointer, f"Use it as {{{{{name}}}}}, or leave it out.")


def _used(value: Any, base: str, properties: Mapping[str, Any]) -> Iterator[Finding]:
    for use in uses(value):
        pointer = base + use.pointer
        if use.name is None:
            yield wrong("braces that hold no name of an input", pointer, "Write {{name}}, without blanks.")
        elif use.name not in properties:
            cure = did_you_mean(use.name, properties, otherwise=f"The inputs are: {', '.join(properties) or 'none'}.")
            yield wrong(f"there is no input named '{use.name}'", pointer, cure)
        elif not use.whole and not _is_scalar(properties[use.name]):
            message = f"'{use.name}' stands inside a text, and may be something else than text, a number or a boolean"
            yield wrong(message, pointer, "Use it as a whole value, or say its type.")


def _is_scalar(schema: Mapping[str, Any]) -> bool:
    types: Any = schema.get("type")
    return SCALARS.issuperset(cast("list[Any]", types) if isinstance(types, list) else [types])


def _seed(document: MacroDocument) -> Iterator[Finding]:
    """What a caller is told about the seed must be true: it is the one that steps were given."""
    if document.determinism is not Determinism.SEEDED:
        return
    if "seed" not in properties_of(document.inputs):
        yield wrong("it is seeded and takes no seed", "/inputs", "Add an input 'seed', and pass it on.")
    elif not any(step.args.get("seed") == SEED for step in document.steps):
        message = "it is seeded, and no step is given its seed"
        yield wrong(message, "/inputs/properties/seed", f'Give "seed": "{SEED}" to the steps that take one.')


def wrong(message: str, pointer: str, cure: str) -> Finding:
    return Finding(Fault.SCHEMA_INVALID, message, pointer, cure)
