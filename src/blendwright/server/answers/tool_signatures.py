"""Tools as one line each, the way a call of them is written: what a model must have read before it can call one.

`light.create(name, type: POINT|SUN|SPOT|AREA, location=[0,0,0], energy=number …)`: what stands without `=` is required, behind `=` is
what is usual, or the type of what may be left out; `[3]` is a list of three numbers. Descriptions, bounds and examples are on the
tool's page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import orjson

from blendwright.server.answers.tool_page import argument_order, resolved, variants
from blendwright.tool_api.promises import SafetyLevel
from blendwright.tool_api.tool import AnyTool

Schema = Mapping[str, Any]
# Of one line. What is used least gives way.
MAX_SIGNATURE_CHARACTERS = 520
# So many signs of what an argument takes; further inside, an object is only named.
MAX_TYPE_CHARACTERS = 90
MAX_DEPTH = 2
ASKS = "(destructive: asks a person, unless the policy allows it)"
MAX_CHOICES = 12
SHORT_NAMES = {"string": "text", "boolean": "bool", "integer": "int"}


def tool_signature(tool: AnyTool, variant: str = "", longest: int = MAX_SIGNATURE_CHARACTERS) -> str:
    """A tool, or one of its variants, as it is called; what only a person may allow in most places says so."""
    schema = tool.args_schema()
    chosen = dict(variants(schema)).get(variant, "")
    line = _signature(tool.name, schema, argument_order(tool, schema), chosen, longest)
    if tool.safety_level is SafetyLevel.DESTRUCTIVE:
        return f"{line} {ASKS}"
    return line


def inputs_signature(name: str, schema: Schema) -> str:
    """A macro as it is called, from the schema of its inputs."""
    required = schema.get("required", ())
    return _signature(
        name,
        schema,
        sorted(schema.get("properties", {}), key=lambda one: one not in required),
        "",
        MAX_SIGNATURE_CHARACTERS,
    )


def _signature(name: str, schema: Schema, order: Sequence[str], chosen: str, longest: int) -> str:
    required = schema.get("required", ())
    parts = [
        _argument(one, schema["properties"][one], schema, one in required, chosen)
        for one in order
    ]  # fmt: skip
    line = f"{name}({', '.join(parts)})"
    while len(line) > longest and len(parts) > max(1, len(required)):
        parts.pop()
        line = f"{name}({', '.join(parts)}, …)"
    return line


def _argument(name: str, part: Schema, schema: Schema, required: bool, chosen: str) -> str:
    default: Any = part.get("default")
    kind = _kind(part, schema, 0, chosen)
    if required:
        if kind == "text":
            return name
        return f"{name}: {kind}"
    if isinstance(default, str) and "|" in kind:
        # What is usual comes first.
        return f"{name}={'|'.join(sorted(kind.split('|'), key=lambda one: one != default))}"
    return f"{name}={kind if default in (None, [], {}, '') else _json(default)}"


def _kind(part: Schema, schema: Schema, depth: int, chosen: str = "") -> str:
    part = resolved(part, schema)
    if "const" in part:
        return str(part["const"])
    if "enum" in part:
        return _choices(part["enum"])
    if "discriminator" in part:
        mapping = part["discriminator"]["mapping"]
        if chosen in mapping.values():
            return _fields(resolved({"$ref": chosen}, schema), schema, depth, 4 * MAX_TYPE_CHARACTERS)
        return f"{{{part['discriminator']['propertyName']}: {_choices(mapping)}, …}}"
    forms = [one for one in part.get("anyOf") or part.get("oneOf") or () if one.get("type") != "null"]
    if forms:
        return " or ".join(dict.fromkeys(_kind(one, schema, depth, chosen) for one in forms))
    if part.get("type") == "array":
        return _list(part, schema, depth, chosen)
    if part.get("properties"):
        return _fields(part, schema, depth, MAX_TYPE_CHARACTERS)
    return SHORT_NAMES.get(str(part.get("type", "any")), str(part.get("type", "any")))


def _list(part: Schema, schema: Schema, depth: int, chosen: str) -> str:
    if fixed := part.get("prefixItems"):
        kinds = [_kind(one, schema, depth + 1) for one in fixed]
        if set(kinds) == {"number"}:
            return f"[{len(kinds)}]"
        return f"[{', '.join(kinds)}]"
    return f"[{_kind(part.get('items', {}), schema, depth + 1, chosen)}, …]"


def _fields(part: Schema, schema: Schema, depth: int, longest: int) -> str:
    if depth > MAX_DEPTH:
        return "{…}"
    told: list[str] = []
    for field in _field_lines(part, schema, depth):
        if sum(map(len, told)) + len(field) > longest and told:
            told.append("…")
            break
        told.append(field)
    return "{" + ", ".join(told) + "}"


def _field_lines(part: Schema, schema: Schema, depth: int) -> Iterator[str]:
    required = part.get("required", ())
    for name, inner in sorted(part["properties"].items(), key=lambda pair: pair[0] not in required):
        kind = _kind(inner, schema, depth + 1)
        yield f"{name}: {kind}" if name in required else f"{name}={kind}"


def _choices(values: Any) -> str:
    listed = [str(one) for one in values]
    return "|".join(listed[:MAX_CHOICES]) + ("|…" if len(listed) > MAX_CHOICES else "")


def _json(value: Any) -> str:
    """Whole numbers without the point that their type adds."""
    return orjson.dumps(_whole(value)).decode()


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in cast("list[Any]", value)]
    return value
