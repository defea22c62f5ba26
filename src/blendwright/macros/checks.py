"""What is wrong with a macro by itself, before any other one is known: its inputs and the templates that use them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs

from blendwright.contracts.effects import Determinism
from blendwright.contracts.schema_check import Checker
from blendwright.macros.definition import MacroDocument, properties_of
from blendwright.macros.templates import EACH, TEMPLATE, uses
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean, pointer_of

# What can be written into a text.
SCALARS = frozenset({"string", "integer", "number", "boolean"})


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
        yield _wrong(message, "/steps", "Have at least one step without for_each.")


def _inputs(inputs: Mapping[str, Any]) -> Iterator[Finding]:
    try:
        jsonschema_rs.meta.validate(dict(inputs))
    except jsonschema_rs.ValidationError as error:
        pointer = "/inputs" + pointer_of(error.instance_path)
        yield _wrong(
            f"the schema of the inputs is no JSON Schema: {error.message}", pointer, "See JSON Schema 2020-12."
        )
        return
    if inputs.get("type") != "object":
        yield _wrong("the inputs are no object", "/inputs/type", 'Say "type": "object".')
    if inputs.get("additionalProperties") is not False:
        message = "the inputs are not closed: a misspelt one would be lost"
        yield _wrong(message, "/inputs", 'Say "additionalProperties": false.')
    known = properties_of(inputs)
    required = inputs.get("required", [])
    for name in required:
        if name not in known:
            yield _wrong(f"'{name}' is required and not described", "/inputs/required", "Add it to the properties.")
    for name, schema in known.items():
        pointer = "/inputs/properties" + pointer_of([name])
        if not TEMPLATE.fullmatch(f"{{{{{name}}}}}") or name == EACH:
            yield _wrong(
                f"'{name[:60]}' is no name for an input", pointer, "Use small letters, digits and _; not 'each'."
            )
        if not isinstance(schema, dict) or "description" not in schema:
            yield _wrong(f"the input '{name}' is not described", pointer, "Add a description.")
        elif name not in required and "default" not in schema:
            message = f"the input '{name}' is neither required nor has it a default"
            yield _wrong(message, pointer, "Add a default, or require it.")


def _defaults(inputs: Mapping[str, Any]) -> Iterator[Finding]:
    for name, schema in properties_of(inputs).items():
        if "default" in schema:
            pointer = "/inputs/properties" + pointer_of([name, "default"])
            checker = Checker(
                {**schema, "$defs": inputs.get("$defs", {})},
                Fault.SCHEMA_INVALID,
                lambda _: "Give a default that fits.",
            )
            for finding in checker.findings(schema["default"]):
                yield finding.under(pointer)


def _templates(document: MacroDocument) -> Iterator[Finding]:
    known = properties_of(document.inputs)
    for part in ("preconditions", "postconditions"):
        yield from _used(getattr(document, part), f"/{part}", known)
    for place, step in enumerate(document.steps):
        pointer = f"/steps/{place}"
        names: dict[str, Any] = dict(known)
        if step.for_each is not None:
            listed = known.get(step.for_each)
            if listed is None or listed.get("type") != "array":
                cure = did_you_mean(step.for_each, known, otherwise="Name an input whose type is array.")
                yield _wrong(f"for_each names no list: '{step.for_each[:60]}'", f"{pointer}/for_each", cure)
            names[EACH] = {} if listed is None else listed.get("items", {})
        yield from _used(step.args, f"{pointer}/args", names)


def _used(value: Any, base: str, known: Mapping[str, Any]) -> Iterator[Finding]:
    for use in uses(value):
        pointer = base + use.pointer
        if use.name is None:
            yield _wrong("braces that hold no name of an input", pointer, "Write {{name}}, without blanks.")
        elif use.name not in known:
            cure = did_you_mean(use.name, known, otherwise=f"The inputs are: {', '.join(known) or 'none'}.")
            yield _wrong(f"there is no input named '{use.name}'", pointer, cure)
        elif not use.whole and known[use.name].get("type") not in SCALARS:
            message = f"'{use.name}' stands inside a text, and may be something else than text, a number or a boolean"
            yield _wrong(message, pointer, "Use it as a whole value, or say its type.")


def _seed(document: MacroDocument) -> Iterator[Finding]:
    if document.determinism is Determinism.SEEDED and "seed" not in properties_of(document.inputs):
        yield _wrong("it is seeded and takes no seed", "/inputs", "Add an input 'seed', and pass it on.")


def _wrong(message: str, pointer: str, cure: str) -> Finding:
    return Finding(Fault.SCHEMA_INVALID, message, pointer, cure)
