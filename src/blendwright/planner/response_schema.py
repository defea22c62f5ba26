"""Schemas of a model's answer, compiled from the contract into the subset that Gemini's response schemas support.

The subset has `type`, `enum`, `properties`, `required`, `items` and `anyOf`, which suffice for the shape of every call.
It lacks `const`, `pattern`, lengths, bounds, `allOf`, `not`, defaults and descriptions. The prompt describes those, and
the contract checks them afterwards.

Parts that the subset or the budget does not allow (such as open objects and values of any type) become a JSON string in
a field with the suffix `_json`, and `unpack` restores them. The packed form does so with all arguments. An answer that
fits the schema is still unchecked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import orjson

from blendwright.planner.port import ResponseSchema
from blendwright.schemas.json_reader import read_json
from blendwright.tool_api.promises import SafetyLevel
from blendwright.tool_api.tool import AnyTool

# Parts of one answer's schema: its properties, items and alternatives. Services compile schemas into automata and refuse large ones
# without publishing a limit. This limit is our estimate; after a refusal, the planner uses the packed form.
MAX_PARTS = 600
PACKED = "_json"
LEVELS = [level.value for level in SafetyLevel]
STRING: dict[str, Any] = {"type": "string"}

Schema = dict[str, Any]


class _Inexpressible(Exception):
    """The subset cannot express a part of a schema."""


# ---------------------------------------------------------------------- the dialects that models write


def operations_schema(tools: Sequence[AnyTool], *, most_parts: int = MAX_PARTS) -> ResponseSchema:
    """Return a schema with one branch per tool, in the given order.

    When the budget of `most_parts` is used up, the remaining tools have packed arguments.
    """
    schemas = _within({tool.name: reduce_schema(tool.args_schema()) for tool in tools}, most_parts - 10 * len(tools))
    branches: list[Schema] = []
    for tool in tools:
        levels = [tool.safety_level.value]
        if tool.destructive_with:
            levels.append(SafetyLevel.DESTRUCTIVE.value)
        branches.append(_operation([tool.name], levels, schemas[tool.name]))
    return ResponseSchema(_operations({"anyOf": branches}), _operations(_operation(None, LEVELS, None)))


def geonodes_schema(node_tree: AnyTool, patch: AnyTool, *, most_parts: int = MAX_PARTS) -> ResponseSchema:
    """Return a schema with one branch per type of step; each payload has the arguments of its tool."""
    python = _object({"mode": _one_of("safe", "trusted"), "code": STRING, "timeout_ms": {"type": "integer"}}, ["code"])
    schemas = {
        "NODE_TREE": reduce_schema(node_tree.args_schema()),
        "GN_OPS": reduce_schema(patch.args_schema()),
        "PYTHON": python,
    }
    payloads = _within(schemas, most_parts)
    branches = [_step([kind], payload) for kind, payload in payloads.items()]
    return ResponseSchema(_steps({"anyOf": branches}), _steps(_step([*payloads], None)))


def program_schema() -> ResponseSchema:
    """Return a schema with one string. The prompt describes the tools that it may call."""
    form = _object({"program": STRING})
    return ResponseSchema(form, form)


def _within(schemas: Mapping[str, Schema | None], most_parts: int) -> dict[str, Schema | None]:
    """Return the schemas that fit into the budget of parts, in order; None for each schema that needs packing."""
    remaining, fitting = most_parts, dict[str, Schema | None]()
    for name, schema in schemas.items():
        fitting[name] = None
        if schema is not None and count_parts(schema) <= remaining:
            fitting[name] = schema
            remaining -= count_parts(schema)
    return fitting


def _operations(item: Schema) -> Schema:
    return _object({"request_id": STRING, "operations": {"type": "array", "items": item}})


def _operation(names: list[str] | None, levels: list[str], args: Schema | None) -> Schema:
    tool_name = STRING
    if names is not None:
        tool_name = _one_of(*names)
    properties: Schema = {
        "operation_id": STRING,
        "tool_name": tool_name,
        "safety_level": _one_of(*levels),
        "depends_on": {"type": "array", "items": STRING},
    }
    if args is None:
        properties["args" + PACKED] = STRING
    else:
        properties["args"] = args
    return _object(properties)


def _steps(item: Schema) -> Schema:
    return _object(
        {
            "version": _one_of("1.0"),
            "steps": {"type": "array", "items": item},
            "done": {"type": "boolean"},
            "final_message": STRING,
            "meta": _object({"requires_gate_verification": {"type": "boolean"}}),
        }
    )


def _step(kinds: list[str], payload: Schema | None) -> Schema:
    if payload is None:
        carried = {"payload" + PACKED: STRING}
    else:
        carried = {"payload": payload}
    return _object({"id": STRING, "type": _one_of(*kinds), "description": STRING, **carried})


def _object(properties: Schema, required: Iterable[str] | None = None) -> Schema:
    if required is None:
        required = properties
    return {"type": "object", "properties": properties, "required": list(required)}


def _one_of(*choices: str) -> Schema:
    return {"type": "string", "enum": list(choices)}


# ---------------------------------------------------------------------- into the subset


def reduce_schema(schema: Mapping[str, Any]) -> Schema | None:
    """Return an argument schema in the subset, or None.

    Inexpressible properties become JSON strings with the suffix `_json`.
    """
    try:
        return _reduced(schema, schema.get("$defs", {}))
    except _Inexpressible:
        return None


def count_parts(schema: Any) -> int:
    """Return the size of a schema for the service: its properties, items, alternatives and choices."""
    if isinstance(schema, list):
        return sum(count_parts(part) for part in cast("list[Any]", schema))
    if not isinstance(schema, dict):
        return 0
    part = cast("Schema", schema)
    inner = [part.get("items"), part.get("anyOf"), *part.get("properties", {}).values()]
    return 1 + len(part.get("enum", ())) // 4 + sum(count_parts(part) for part in inner)


def _reduced(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Schema:
    if "$ref" in schema:
        return _reduced(defs[str(schema["$ref"]).rpartition("/")[2]], defs)
    if "const" in schema:
        return _choices([schema["const"]])
    if "enum" in schema:
        return _choices(schema["enum"])
    if "anyOf" in schema or "oneOf" in schema:
        return _alternatives([_reduced(part, defs) for part in schema.get("anyOf") or schema["oneOf"]])
    kind = schema.get("type")
    if kind == "array":
        items = list(schema.get("prefixItems", ()))
        if isinstance(schema.get("items"), dict):
            items.append(schema["items"])
        if not items:
            raise _Inexpressible
        return {"type": "array", "items": _alternatives([_reduced(item, defs) for item in items])}
    if kind == "object":
        return _closed(schema, defs)
    if isinstance(kind, str):
        return {"type": kind}
    raise _Inexpressible


def _closed(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Schema:
    # The service refuses an object without properties, and returns an open object empty.
    if schema.get("additionalProperties") is not False or not schema.get("properties"):
        raise _Inexpressible
    required = set(schema.get("required", ()))
    properties: Schema = {}
    needed: list[str] = []
    for name, inner in schema.get("properties", {}).items():
        if name not in required:
            inner = _without_null(inner)
        try:
            key, value = name, _reduced(inner, defs)
        except _Inexpressible:
            key, value = name + PACKED, STRING
        properties[key] = value
        if name in required:
            needed.append(key)
    return {"type": "object", "properties": properties, "required": needed}


def _without_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of an optional property without the alternative null, which means the same as leaving it out."""
    if "anyOf" not in schema or schema.get("default", 0) is not None:
        return schema
    options = [part for part in schema["anyOf"] if part.get("type") != "null"]
    if len(options) == 1:
        return options[0]
    return {"anyOf": options}


def _choices(choices: Sequence[Any]) -> Schema:
    if all(isinstance(choice, str) for choice in choices):
        return _one_of(*choices)
    # Some versions of the subset lack enumerated numbers and booleans.
    return _alternatives([{"type": _type_of(choice)} for choice in choices])


def _type_of(value: Any) -> str:
    names: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return names.get(cast("type[Any]", type(value)), "null")


def _alternatives(options: list[Schema]) -> Schema:
    different = [option for index, option in enumerate(options) if option not in options[:index]]
    # Every integer is a number, and the subset has no bounds that would distinguish them.
    if {"type": "number"} in different:
        different = [option for option in different if option != {"type": "integer"}]
    if len(different) == 1:
        return different[0]
    return {"anyOf": different}


# ---------------------------------------------------------------------- and back


def unpack(text: str) -> str:
    """Return the answer in the dialect's form. Invalid JSON and invalid packed JSON stay unchanged, so that the
    contract reports them.
    """
    document, findings = read_json(text)
    if findings:
        return text
    unpacked = _unpacked(document)
    if unpacked == document:
        return text
    return orjson.dumps(unpacked).decode()


def _unpacked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpacked(part) for part in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    document: Schema = {}
    for key, inner in cast("Schema", value).items():
        name = key.removesuffix(PACKED)
        if name != key and name and name not in value and isinstance(inner, str):
            inner_document, findings = read_json(inner)
            if findings:
                document[key] = inner
            else:
                document[name] = inner_document
        else:
            document[key] = _unpacked(inner)
    return document
