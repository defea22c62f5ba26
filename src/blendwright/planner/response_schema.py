"""The form that a model's answer must have, compiled from the contract into what Gemini's response schemas know.

Kept are `type`, `enum`, `properties`, `required`, `items`, `anyOf`: enough for the shape of every call. Gone are `const`, `pattern`,
lengths, bounds, `allOf`, `not`, defaults and descriptions: the prompt tells them, and the contract checks them afterwards.

What such a schema cannot say (open objects, values of any type), and what does not fit into the budget, travels as a string of JSON
under its name with `_json` behind it, and `unpacked` puts it back. The packed form does so with all arguments. Nothing here judges a
plan: an answer that fits the schema is still unchecked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import orjson

from blendwright.planner.port import ResponseSchema
from blendwright.schemas.json_reader import read_json
from blendwright.tool_api.promises import SafetyLevel
from blendwright.tool_api.tool import AnyTool

# Parts of a schema (every property, item and alternative counts) that one answer's form may have. Services compile schemas into
# automata and refuse big ones, without publishing where the border is: this bound is ours, and what is refused is asked again packed.
MOST_PARTS = 600
PACKED = "_json"
LEVELS = [level.value for level in SafetyLevel]
STRING: dict[str, Any] = {"type": "string"}

Schema = dict[str, Any]


class _Inexpressible(Exception):
    """The subset has no words for this part."""


# ---------------------------------------------------------------------- the dialects that models write


def operations_schema(tools: Sequence[AnyTool], *, most_parts: int = MOST_PARTS) -> ResponseSchema:
    """One branch per tool, in the order given: when the budget is used up, the rest have their arguments packed."""
    schemas = _within({tool.name: reduce_schema(tool.args_schema()) for tool in tools}, most_parts - 10 * len(tools))
    branches: list[Schema] = []
    for tool in tools:
        levels = [tool.safety_level.value, *([SafetyLevel.DESTRUCTIVE.value] if tool.destructive_with else ())]
        branches.append(_operation([tool.name], levels, schemas[tool.name]))
    return ResponseSchema(_operations({"anyOf": branches}), _operations(_operation(None, LEVELS, None)))


def geonodes_schema(node_tree: AnyTool, patch: AnyTool, *, most_parts: int = MOST_PARTS) -> ResponseSchema:
    """One branch per type of step; the payloads are the arguments of the tools that carry them out."""
    python = _object({"mode": _one_of("safe", "trusted"), "code": STRING, "timeout_ms": {"type": "integer"}}, ["code"])
    node_tree_args, patch_args = (reduce_schema(tool.args_schema()) for tool in (node_tree, patch))
    payloads = _within({"NODE_TREE": node_tree_args, "GN_OPS": patch_args, "PYTHON": python}, most_parts)
    branches = [_step([kind], payload) for kind, payload in payloads.items()]
    return ResponseSchema(_steps({"anyOf": branches}), _steps(_step([*payloads], None)))


def program_schema() -> ResponseSchema:
    """One text; what it may call is for the prompt to say."""
    form = _object({"program": STRING})
    return ResponseSchema(form, form)


def _within(schemas: Mapping[str, Schema | None], most_parts: int) -> dict[str, Schema | None]:
    """The schemas in order, as long as all of them together have no more parts than that; None for those that are packed."""
    remaining, fitting = most_parts, dict[str, Schema | None]()
    for name, schema in schemas.items():
        fits = schema is not None and count_parts(schema) <= remaining
        remaining -= count_parts(schema) if fits else 0
        if fits:
            fitting[name] = schema
        else:
            fitting[name] = None
    return fitting


def _operations(item: Schema) -> Schema:
    return _object({"request_id": STRING, "operations": {"type": "array", "items": item}})


def _operation(names: list[str] | None, levels: list[str], args: Schema | None) -> Schema:
    return _object(
        {
            "operation_id": STRING,
            "tool_name": STRING if names is None else _one_of(*names),
            "safety_level": _one_of(*levels),
            "depends_on": {"type": "array", "items": STRING},
            **({"args" + PACKED: STRING} if args is None else {"args": args}),
        }
    )


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
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
    }


def _one_of(*choices: str) -> Schema:
    return {"type": "string", "enum": list(choices)}


# ---------------------------------------------------------------------- into the subset


def reduce_schema(schema: Mapping[str, Any]) -> Schema | None:
    """An argument schema in the subset, or None. Properties that it cannot express are packed under their name with `_json` behind it."""
    try:
        return _reduced(schema, schema.get("$defs", {}))
    except _Inexpressible:
        return None


def count_parts(schema: Any) -> int:
    """How much a schema asks of the service: its properties, items, alternatives and choices."""
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
        items = [*schema.get("prefixItems", ()), *([schema["items"]] if isinstance(schema.get("items"), dict) else ())]
        if not items:
            raise _Inexpressible
        return {"type": "array", "items": _alternatives([_reduced(item, defs) for item in items])}
    if kind == "object":
        return _closed(schema, defs)
    if isinstance(kind, str):
        return {"type": kind}
    raise _Inexpressible


def _closed(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Schema:
    # An object without properties is refused by the service, one with others than it names comes back empty.
    if schema.get("additionalProperties") is not False or not schema.get("properties"):
        raise _Inexpressible
    required = set(schema.get("required", ()))
    properties: Schema = {}
    needed: list[str] = []
    for name, inner in schema.get("properties", {}).items():
        try:
            key, value = name, _reduced(_without_null(inner) if name not in required else inner, defs)
        except _Inexpressible:
            key, value = name + PACKED, STRING
        properties[key] = value
        if name in required:
            needed.append(key)
    return {"type": "object", "properties": properties, "required": needed}


def _without_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What may be left out need not be null as well."""
    if "anyOf" not in schema or schema.get("default", 0) is not None:
        return schema
    options = [part for part in schema["anyOf"] if part.get("type") != "null"]
    if len(options) == 1:
        return options[0]
    return {"anyOf": options}


def _choices(choices: Sequence[Any]) -> Schema:
    if all(isinstance(choice, str) for choice in choices):
        return _one_of(*choices)
    # Enumerated numbers and booleans are not in the subset of every version.
    return _alternatives([{"type": _type_of(choice)} for choice in choices])


def _type_of(value: Any) -> str:
    names: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return names.get(cast("type[Any]", type(value)), "null")


def _alternatives(options: list[Schema]) -> Schema:
    different = [option for index, option in enumerate(options) if option not in options[:index]]
    # Every integer is a number, and no bound tells them apart here.
    if {"type": "number"} in different:
        different = [option for option in different if option != {"type": "integer"}]
    if len(different) == 1:
        return different[0]
    return {"anyOf": different}


# ---------------------------------------------------------------------- and back


def unpack(text: str) -> str:
    """The answer in the form of its dialect. What is no JSON, or no packed JSON, stays as it is: the contract says what is wrong."""
    document, findings = read_json(text)
    if findings:
        return text
    whole = _unpacked(document)
    if whole == document:
        return text
    return orjson.dumps(whole).decode()


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
                document[key if findings else name] = inner
            else:
                document[key if findings else name] = inner_document
        else:
            document[key] = _unpacked(inner)
    return document
