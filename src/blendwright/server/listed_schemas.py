"""The schema of a tool's arguments as the list of tools has it: what a model needs to write a call, and little else.

Arguments are checked against the whole schema, which is a resource; a refusal says everything that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import Any, cast

from blendwright.tool_api.tool import AnyTool

LONGEST_DESCRIPTION = 40
# Lists that may be longer than this are as long as need be.
MANY = 10
# An object with more parts than this is told by their names.
FEW = 5
END_OF_CLAUSE = re.compile(r"(?<=[a-z])[.;,:] ")
LEFT_OUT = frozenset({
    "title", "$defs", "minLength", "maxLength", "pattern", "additionalProperties", "discriminator", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum",
})  # fmt: skip
# Arguments whose description says no more than the tool's does, when all that it says is whose name it is.
NAMED_BY_THEMSELVES = frozenset({"object", "objects", "name", "modifier", "constraint", "material", "collection"})
Schema = Mapping[str, Any]


def used_arguments(tool: AnyTool) -> frozenset[str]:
    """What its first example gives: the most used ones."""
    return frozenset(name for example in tool.examples[:1] for name in example.args)


def short_schema(schema: Schema) -> dict[str, Any]:
    """All arguments with their descriptions, without the bounds that a refusal names."""
    return {"additionalProperties": False} | _short(schema, schema.get("$defs", {}), "")


def listed_schema(schema: Schema, name: str, used: Set[str]) -> dict[str, Any]:
    """`name` is that of the tool whose page describes what is left out; of what is neither required nor `used`, that is all but the
    name."""
    short = _short(schema, schema.get("$defs", {}), name)
    short.pop("description", None)  # the tool has one of its own
    told = used | set(schema.get("required", ()))
    for argument, part in short.get("properties", {}).items():
        if argument not in told:
            short["properties"][argument] = {}
        else:
            _shorten_descriptions(part)
            _leave_optional_out(part)
        if argument in NAMED_BY_THEMSELVES and part.get("description", "").startswith(
            ("Name of the ", "Names of the ")
        ):
            part.pop("description", None)
        if isinstance(part.get("default"), list):
            part.pop("minItems", None)  # it shows how long such a list is
            part.pop("maxItems", None)
        if "default" in part and part.get("type") in ("number", "integer", "boolean", "array"):
            part.pop("description", None)  # a name and what is usual tell enough until the page is read
    return short


def _shorten_descriptions(part: dict[str, Any]) -> None:
    """To their first clause where they are long, and to nothing where the values tell; those of what is inside too."""
    if "enum" in part:
        part.pop("description", None)
    if len(part.get("description", "")) > LONGEST_DESCRIPTION:
        part["description"] = END_OF_CLAUSE.split(part["description"], maxsplit=1)[0]
    if isinstance(part.get("items"), dict):
        part["items"].pop("description", None)  # the list's own says what is in it
    inside = [*part.get("properties", {}).values(), part.get("items")]
    for one in inside:
        if isinstance(one, dict):
            _shorten_descriptions(cast("dict[str, Any]", one))


def _leave_optional_out(part: dict[str, Any]) -> None:
    """Of what may be left out inside of an argument that has many such parts: all but the names."""
    inside = part.get("properties", {})
    if len(inside) > FEW:
        for name in set(inside) - set(part.get("required", ())):
            inside[name] = {}


def _short(part: Schema, definitions: Mapping[str, Any], name: str) -> dict[str, Any]:
    if "$ref" in part:
        inner = _short(definitions[part["$ref"].rpartition("/")[2]], definitions, name)
        return inner | ({"description": part["description"]} if "description" in part else {})
    if "discriminator" in part:
        return _by_variant(part, name)
    forms = [one for one in part.get("anyOf", ()) if one.get("type") != "null"]
    if len(forms) == 1:
        # Whatever may be null may be left out.
        rest = {key: value for key, value in part.items() if key not in ("anyOf", "default")}
        return _short({**forms[0], **rest}, definitions, name)
    if part.get("prefixItems"):
        first = _short(part["prefixItems"][0], definitions, name)
        size = len(part["prefixItems"])
        part = {
            key: value for key, value in part.items() if key not in ("prefixItems", "minItems", "maxItems", "items")
        }
        return _short(part, definitions, name) | {
            "items": {"type": first.get("type", "number")},
            "minItems": size,
            "maxItems": size,
        }
    short: dict[str, Any] = {}
    for key, value in part.items():
        if key in LEFT_OUT or (key == "maxItems" and value > MANY) or _goes_without_saying(key, value, part):
            continue
        if key == "properties":
            short[key] = {one: _short(inner, definitions, name) for one, inner in value.items()}
        elif key in ("anyOf", "oneOf"):
            short[key] = [_short(one, definitions, name) for one in forms or value]
        elif key == "items" and isinstance(value, dict):
            short[key] = _short(cast("dict[str, Any]", value), definitions, name)
        else:
            short[key] = value
    return short


def _goes_without_saying(key: str, value: Any, part: Schema) -> bool:
    """What is off or empty unless it is given, and that a list is given for something to be in it."""
    if key == "minItems":
        return value <= 1
    return key == "default" and not value and part.get("type") not in ("number", "integer")


def _by_variant(part: Schema, name: str) -> dict[str, Any]:
    told = part["discriminator"]
    key, values = told["propertyName"], list(told["mapping"])
    described = f"{part.get('description', '')} Fields by {key}: tool_describe {name}:{values[0]} and so on.".strip()
    return {"type": "object", "description": described, "properties": {key: {"enum": values}}, "required": [key]}
