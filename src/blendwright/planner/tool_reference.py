"""The reference of a tool for a model: its promise, every argument with type, bounds and default, one example. As short as possible."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from blendwright.tool_api.arguments import LARGEST
from blendwright.tool_api.tool import AnyTool

Schema = Mapping[str, Any]


def describe_tool(tool: AnyTool) -> str:
    """Declarations only; nothing of a scene is in it."""
    schema = tool.args_schema()
    defs: Schema = schema.get("$defs", {})
    required = schema.get("required", ())
    raised = "".join(f", destructive with {name}" for name in tool.destructive_with)
    lines = [f"{tool.name} [{tool.safety_level.value}{raised}] {tool.summary()}"]
    for name, field in schema.get("properties", {}).items():
        optional = "" if name in required else "?"
        description = f" {field['description']}" if "description" in field else ""
        lines.append(f"  {name}{optional}: {_type(field, defs)}{_default(field)}.{description}")
    lines.append(f"  e.g. {_compact(tool.examples[0].args)}")
    return "\n".join(lines)


def _type(schema: Schema, defs: Schema) -> str:
    if "$ref" in schema:
        return _type(defs[str(schema["$ref"]).rpartition("/")[2]], defs)
    if "const" in schema or "enum" in schema:
        return "|".join(_compact(choice) for choice in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema or "oneOf" in schema:
        options = [part for part in schema.get("anyOf") or schema["oneOf"] if not _is_omission(part, schema)]
        return " or ".join(dict.fromkeys(_type(part, defs) for part in options))
    kind = schema.get("type")
    if kind == "array":
        return _array(schema, defs)
    if kind == "object":
        return _object(schema, defs)
    return f"{kind or 'any value'}{_bounds(schema)}"


def _is_omission(part: Schema, whole: Schema) -> bool:
    """Null as another word for leaving it out is not worth telling."""
    return part.get("type") == "null" and whole.get("default", 0) is None


def _array(schema: Schema, defs: Schema) -> str:
    fixed = schema.get("prefixItems")
    if fixed:
        kinds = list(dict.fromkeys(_type(item, defs) for item in fixed))
        return (
            f"[{len(fixed)} x {kinds[0]}]" if len(kinds) == 1 else f"[{', '.join(_type(item, defs) for item in fixed)}]"
        )
    least, most = schema.get("minItems"), schema.get("maxItems")
    size = f"{most} x " if least == most and most is not None else "" if most is None else f"{least or 0}..{most} x "
    return f"[{size}{_type(schema.get('items', {}), defs)}]"


def _object(schema: Schema, defs: Schema) -> str:
    fields: Schema = schema.get("properties", {})
    if not fields:
        return "object"
    required = schema.get("required", ())
    inner = (f"{name}{'' if name in required else '?'}: {_type(field, defs)}" for name, field in fields.items())
    return "{" + ", ".join(inner) + "}"


def _bounds(schema: Schema) -> str:
    bounds = [*_one_bound(schema, "exclusiveMinimum", ">"), *_one_bound(schema, "minimum", ">=")]
    bounds += [*_one_bound(schema, "exclusiveMaximum", "<"), *_one_bound(schema, "maximum", "<=")]
    return f" ({', '.join(bounds)})" if bounds else ""


def _one_bound(schema: Schema, key: str, sign: str) -> Iterator[str]:
    # What holds for every number, and no scene comes near, is no news to a model.
    if key in schema and abs(schema[key]) != LARGEST:
        yield f"{sign} {_compact(schema[key])}"


def _default(schema: Schema) -> str:
    return f" = {_compact(schema['default'])}" if schema.get("default") is not None else ""


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
