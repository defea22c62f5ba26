"""The schema of a tool's arguments as the list of tools has it: what a model needs to write a call, and little else.

Arguments are checked against the whole schema, which is a resource; a refusal says everything that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import Any, cast

from blendwright.tool_api.tool import AnyTool

MAX_DESCRIPTION_CHARACTERS = 30
MAX_SUMMARY_CHARACTERS = 60
# A value of more forms than this can be almost anything.
MAX_FORMS = 3
# Lists that may be longer than this are as long as need be.
MAX_LISTED_VALUES = 10
# An object with more parts than this is told by their names.
MAX_DESCRIBED_PARTS = 3
# Of more values than this, the first ones stand for all; a refusal lists them.
MAX_VALUES = 12
END_OF_STATEMENT = re.compile(r"[.;:] ")
END_OF_CLAUSE = re.compile(r"(?<=[a-z])[.;,:] ")
OMITTED_KEYS = frozenset({
    "title", "$defs", "minLength", "maxLength", "pattern", "additionalProperties", "discriminator", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum",
})  # fmt: skip
# Arguments whose description says no more than the tool's does, when all that it says is whose name it is.
NAME_ARGUMENTS = frozenset({"object", "objects", "name", "modifier", "constraint", "material", "collection"})
# Arguments whose names tell what they are, wherever they stand: a short description would say it again.
CLEAR_BY_NAME = frozenset({
    "action", "asset", "body", "camera", "code", "collection", "color", "count", "end", "exposure", "folder", "frame", "image", "keys",
    "lens_mm", "location", "modifier_name", "new_name", "node_group_name", "object_name", "operations", "ops", "parent", "path", "prefix",
    "reference", "resolution", "samples", "scale", "seed", "settings", "start", "strength", "target", "track", "trees", "words",
})  # fmt: skip
OWNER_PHRASES = ("Name of the ", "Names of the ", "Object whose ", "Its ")
Schema = Mapping[str, Any]


def short_description(text: str) -> str:
    """What a tool does, without the list of all that it does where that is long: its page has it."""
    if len(text) <= MAX_SUMMARY_CHARACTERS:
        return text
    return END_OF_STATEMENT.split(text, maxsplit=1)[0]


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
    required = set(schema.get("required", ()))
    shown = used | required
    for argument, part in short.get("properties", {}).items():
        optional = argument not in required
        # Of a list that may be left out the name tells enough until the page is read; without its items some hosts refuse one.
        if argument not in shown or (optional and part.get("type") == "array"):
            short["properties"][argument] = {}
            continue
        if optional:
            part.pop("description", None)  # used often, so its name is one that people know
        _shorten_descriptions(part)
        _leave_optional_out(part)
        _leave_names_to_tell({argument: part})
        if argument in NAME_ARGUMENTS and part.get("description", "").startswith(OWNER_PHRASES):
            part.pop("description", None)
    return short


def _shorten_descriptions(part: dict[str, Any]) -> None:
    """To their first clause where they are long, and to nothing where the values tell; those of what is inside too."""
    if "enum" in part:
        part.pop("description", None)
        if len(part["enum"]) > MAX_VALUES and "type" in part:  # one without is what tells variants apart
            first, second, *_ = part.pop("enum")
            part["description"] = f"{first}, {second} ..."
    if part.get("maxItems") == part.get("minItems"):
        part.pop("maxItems", None)  # one number says how long a vector is
    if len(part.get("description", "")) > MAX_DESCRIPTION_CHARACTERS:
        part["description"] = END_OF_CLAUSE.split(part["description"], maxsplit=1)[0]
    if isinstance(part.get("items"), dict) and "enum" not in part["items"]:
        part["items"].pop("description", None)  # the list's own says what is in it
    inside = [*part.get("properties", {}).values(), part.get("items")]
    for one in inside:
        if isinstance(one, dict):
            _shorten_descriptions(cast("dict[str, Any]", one))


def _leave_names_to_tell(parts: Mapping[str, Any]) -> None:
    for name, part in parts.items():
        if name in CLEAR_BY_NAME:
            part.pop("description", None)
        items: Any = part.get("items")
        for inside in (part, items):
            if isinstance(inside, dict):
                _leave_names_to_tell(cast("dict[str, Any]", inside).get("properties", {}))


def _leave_optional_out(part: dict[str, Any]) -> None:
    """Of what may be left out inside of an argument that has many such parts, or of the elements of a list: all but the names."""
    if len(part.get("properties", {})) > MAX_DESCRIBED_PARTS:
        _leave_names(part)
    if isinstance(part.get("items"), dict):
        _leave_names(part["items"])
        for one in part["items"].get("properties", {}).values():
            if len(one.get("enum", ())) > MAX_LISTED_VALUES:
                one.pop("enum")  # the page has them; most such lists have a tool for one element beside them
    if len(part.get("anyOf", ())) > MAX_FORMS:
        part.pop("anyOf")  # almost anything


def _leave_names(part: dict[str, Any]) -> None:
    for name in set(part.get("properties", {})) - set(part.get("required", ())):
        part["properties"][name] = {}


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
        if (
            key in OMITTED_KEYS
            or (key == "maxItems" and value > MAX_LISTED_VALUES)
            or (key == "minItems" and value == 1)
            or _goes_without_saying(key, value, part)
        ):
            continue
        if key == "properties":
            short[key] = {one: _short(inner, definitions, name) for one, inner in value.items()}
        elif key in ("anyOf", "oneOf"):
            short[key] = _without_whole_numbers([_short(one, definitions, name) for one in forms or value])
        elif key == "items" and isinstance(value, dict):
            short[key] = _short(cast("dict[str, Any]", value), definitions, name)
        else:
            if key == "default":
                short[key] = _plain(value)
            else:
                short[key] = value
    return short


def _plain(value: Any) -> Any:
    """Whole numbers without their point, which says nothing and stands in a hundred defaults."""
    if isinstance(value, list):
        return [_plain(each) for each in cast("list[Any]", value)]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _without_whole_numbers(forms: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A number may be a whole one, and so may those of a list."""
    if {"type": "number"} in forms:
        kept = [one for one in forms if one.get("type") != "integer"]
    else:
        kept = forms
    return [
        {**one, "items": {"type": "number"}} if one.get("items") == {"anyOf": [{"type": "number"}]} else one
        for one in kept
    ]


def _goes_without_saying(key: str, value: Any, part: Schema) -> bool:
    """What is off, empty or the first choice unless it is given, and that a list is given for something to be in it."""
    if key == "minItems":
        return value <= 1
    if key == "default" and part.get("enum", [None])[0] == value:
        return True
    return key == "default" and (value is None or (not value and part.get("type") not in ("number", "integer")))


def _by_variant(part: Schema, name: str) -> dict[str, Any]:
    told = part["discriminator"]
    key, values = told["propertyName"], list(told["mapping"])
    described = f"{part.get('description', '')} Fields by {key}: tool_describe {name}:{values[0]} and so on.".strip()
    # What changes a thing has the same list as what adds it.
    if name.endswith(".set") and len(values) > MAX_VALUES:
        listed = {"type": "string"}
    else:
        listed = {"enum": values}
    return {"type": "object", "description": described, "properties": {key: listed}, "required": [key]}
