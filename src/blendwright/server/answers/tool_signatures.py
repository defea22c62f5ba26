"""Tool signatures: one line for each tool, which a model must have read before it can write a call.

In `light.create(name, type: POINT|SUN|SPOT|AREA, location=[0,0,0], energy=number …)`, arguments without `=` are
required.
After `=` comes the default, or the type of an optional argument. `[3]` is a list of three numbers. The tool's page
has descriptions, bounds and examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import orjson

from blendwright.server.answers.tool_page import argument_order, resolved, variants
from blendwright.tool_api.promises import SafetyLevel
from blendwright.tool_api.tool import AnyTool

Schema = Mapping[str, Any]
# The most characters of a signature. A longer one loses its least used arguments.
MAX_SIGNATURE_CHARACTERS = 520
# The most characters of an object's fields. Objects deeper than MAX_DEPTH are only marked.
MAX_TYPE_CHARACTERS = 90
MAX_DEPTH = 2
ASKS = "(destructive: needs approval, unless the policy allows it)"
MAX_CHOICES = 12
SHORT_NAMES = {"string": "text", "boolean": "bool", "integer": "int"}


def tool_signature(tool: AnyTool, variant: str = "", longest: int = MAX_SIGNATURE_CHARACTERS) -> str:
    """Return the signature of a tool or of one of its variants. A destructive tool's signature ends with a note about
    approval.
    """
    schema = tool.args_schema()
    chosen = dict(variants(schema)).get(variant, "")
    line = _signature(tool.name, schema, argument_order(tool, schema), chosen, longest)
    if tool.safety_level is SafetyLevel.DESTRUCTIVE:
        return f"{line} {ASKS}"
    return line


def inputs_signature(name: str, schema: Schema) -> str:
    """Return the signature of a macro from the schema of its inputs."""
    required = schema.get("required", ())
    order = sorted(schema.get("properties", {}), key=lambda argument: argument not in required)
    return _signature(name, schema, order, "", MAX_SIGNATURE_CHARACTERS)


def _signature(name: str, schema: Schema, order: Sequence[str], chosen: str, longest: int) -> str:
    required = schema.get("required", ())
    parts: list[str] = []
    for argument in order:
        parts.append(_argument(argument, schema["properties"][argument], schema, argument in required, chosen))
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
        # The default comes first.
        choices = sorted(kind.split("|"), key=lambda choice: choice != default)
        return f"{name}={'|'.join(choices)}"
    if default in (None, [], {}, ""):
        return f"{name}={kind}"
    return f"{name}={_json(default)}"


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
    forms = [form for form in part.get("anyOf") or part.get("oneOf") or () if form.get("type") != "null"]
    if forms:
        return " or ".join(dict.fromkeys(_kind(form, schema, depth, chosen) for form in forms))
    if part.get("type") == "array":
        return _list(part, schema, depth, chosen)
    if part.get("properties"):
        return _fields(part, schema, depth, MAX_TYPE_CHARACTERS)
    return SHORT_NAMES.get(str(part.get("type", "any")), str(part.get("type", "any")))


def _list(part: Schema, schema: Schema, depth: int, chosen: str) -> str:
    fixed_items = part.get("prefixItems")
    if fixed_items:
        kinds = [_kind(item, schema, depth + 1) for item in fixed_items]
        if set(kinds) == {"number"}:
            return f"[{len(kinds)}]"
        return f"[{', '.join(kinds)}]"
    return f"[{_kind(part.get('items', {}), schema, depth + 1, chosen)}, …]"


def _fields(part: Schema, schema: Schema, depth: int, longest: int) -> str:
    if depth > MAX_DEPTH:
        return "{…}"
    lines: list[str] = []
    for field in _field_lines(part, schema, depth):
        if sum(map(len, lines)) + len(field) > longest and lines:
            lines.append("…")
            break
        lines.append(field)
    return "{" + ", ".join(lines) + "}"


def _field_lines(part: Schema, schema: Schema, depth: int) -> Iterator[str]:
    required = part.get("required", ())
    for name, inner in sorted(part["properties"].items(), key=lambda pair: pair[0] not in required):
        kind = _kind(inner, schema, depth + 1)
        if name in required:
            yield f"{name}: {kind}"
        else:
            yield f"{name}={kind}"


def _choices(values: Any) -> str:
    choices = [str(value) for value in values]
    text = "|".join(choices[:MAX_CHOICES])
    if len(choices) > MAX_CHOICES:
        return f"{text}|…"
    return text


def _json(value: Any) -> str:
    return orjson.dumps(_without_zero_fractions(value)).decode()


def _without_zero_fractions(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_without_zero_fractions(item) for item in cast("list[Any]", value)]
    return value
