"""Short argument schemas for the list of tools, with the parts that a model needs to write a call.

Blendwright checks arguments against the complete schema, which is a resource. A refusal lists every problem.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import Any, cast

from blendwright.tool_api.tool import AnyTool

MAX_DESCRIPTION_CHARACTERS = 30
MAX_SUMMARY_CHARACTERS = 60
# The most forms of a value that the list describes.
MAX_FORMS = 3
# The largest `maxItems`, and the most values of an enum inside a list, that the list shows.
MAX_LISTED_VALUES = 10
# The most properties of an object whose optional properties the list describes.
MAX_DESCRIBED_PARTS = 3
# The most values of an enum that the list shows. For a longer one it shows two, and a refusal lists all.
MAX_VALUES = 12
END_OF_STATEMENT = re.compile(r"[.;:] ")
END_OF_CLAUSE = re.compile(r"(?<=[a-z])[.;,:] ")
OMITTED_KEYS = frozenset({
    "title", "$defs", "minLength", "maxLength", "pattern", "additionalProperties", "discriminator", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum",
})  # fmt: skip
# Arguments whose description is omitted if it only says whose name it is.
NAME_ARGUMENTS = frozenset({"object", "objects", "name", "modifier", "constraint", "material", "collection"})
# Arguments whose names need no description, at any depth.
CLEAR_BY_NAME = frozenset({
    "action", "asset", "body", "camera", "code", "collection", "color", "count", "end", "exposure", "folder", "frame", "image", "keys",
    "lens_mm", "location", "modifier_name", "new_name", "node_group_name", "object_name", "operations", "ops", "parent", "path", "prefix",
    "reference", "resolution", "samples", "scale", "seed", "settings", "start", "strength", "target", "track", "trees", "words",
})  # fmt: skip
OWNER_PHRASES = ("Name of the ", "Names of the ", "Object whose ", "Its ")
Schema = Mapping[str, Any]


def short_description(text: str) -> str:
    """Return the description of a tool. A long one ends after its first statement, because the tool's page has the
    rest.
    """
    if len(text) <= MAX_SUMMARY_CHARACTERS:
        return text
    return END_OF_STATEMENT.split(text, maxsplit=1)[0]


def used_arguments(tool: AnyTool) -> frozenset[str]:
    """Return the arguments of the tool's first example, which shows the most used ones."""
    return frozenset(name for example in tool.examples[:1] for name in example.args)


def short_schema(schema: Schema) -> dict[str, Any]:
    """Return the schema with all arguments and descriptions, without the bounds that a refusal reports."""
    return {"additionalProperties": False} | _short(schema, schema.get("$defs", {}), "")


def listed_schema(schema: Schema, name: str, used: Set[str]) -> dict[str, Any]:
    """Return the schema of a catalogue tool for the list of tools.

    `name` is the tool, whose page describes the rest. Arguments that are neither required nor `used` appear only by
    name.
    """
    short = _short(schema, schema.get("$defs", {}), name)
    short.pop("description", None)  # the tool has a description
    required = set(schema.get("required", ()))
    described = used | required
    for argument, part in short.get("properties", {}).items():
        optional = argument not in required
        # For an optional list the name is enough. A list schema without its items would be refused by some hosts.
        if argument not in described or (optional and part.get("type") == "array"):
            short["properties"][argument] = {}
            continue
        if optional:
            part.pop("description", None)  # a common argument, whose name is clear
        _shorten_descriptions(part)
        _omit_optional_parts(part)
        _omit_clear_descriptions({argument: part})
        if argument in NAME_ARGUMENTS and part.get("description", "").startswith(OWNER_PHRASES):
            part.pop("description", None)
    return short


def _shorten_descriptions(part: dict[str, Any]) -> None:
    """Cut long descriptions to their first clause and remove those that listed values make superfluous, also of inner
    parts.
    """
    if "enum" in part:
        part.pop("description", None)
        if len(part["enum"]) > MAX_VALUES and "type" in part:  # an enum without a type distinguishes variants
            first, second, *_ = part.pop("enum")
            part["description"] = f"{first}, {second} ..."
    if part.get("maxItems") == part.get("minItems"):
        part.pop("maxItems", None)  # one number is enough for the length of a vector
    if len(part.get("description", "")) > MAX_DESCRIPTION_CHARACTERS:
        part["description"] = END_OF_CLAUSE.split(part["description"], maxsplit=1)[0]
    if isinstance(part.get("items"), dict) and "enum" not in part["items"]:
        part["items"].pop("description", None)  # the description of the list describes its items
    inner_parts = [*part.get("properties", {}).values(), part.get("items")]
    for inner_part in inner_parts:
        if isinstance(inner_part, dict):
            _shorten_descriptions(cast("dict[str, Any]", inner_part))


def _omit_clear_descriptions(parts: Mapping[str, Any]) -> None:
    """Remove the descriptions of arguments whose names are clear, also inside objects and lists."""
    for name, part in parts.items():
        if name in CLEAR_BY_NAME:
            part.pop("description", None)
        items: Any = part.get("items")
        for inside in (part, items):
            if isinstance(inside, dict):
                _omit_clear_descriptions(cast("dict[str, Any]", inside).get("properties", {}))


def _omit_optional_parts(part: dict[str, Any]) -> None:
    """Reduce optional properties to their names, in objects with many properties and in the items of lists."""
    if len(part.get("properties", {})) > MAX_DESCRIBED_PARTS:
        _keep_optional_names(part)
    if isinstance(part.get("items"), dict):
        _keep_optional_names(part["items"])
        for item_part in part["items"].get("properties", {}).values():
            if len(item_part.get("enum", ())) > MAX_LISTED_VALUES:
                item_part.pop(
                    "enum"
                )  # the page has the values, and most such lists have another tool for a single element
    if len(part.get("anyOf", ())) > MAX_FORMS:
        part.pop("anyOf")  # the value can be almost anything


def _keep_optional_names(part: dict[str, Any]) -> None:
    for name in set(part.get("properties", {})) - set(part.get("required", ())):
        part["properties"][name] = {}


def _short(part: Schema, definitions: Mapping[str, Any], name: str) -> dict[str, Any]:
    if "$ref" in part:
        definition = _short(definitions[part["$ref"].rpartition("/")[2]], definitions, name)
        if "description" in part:
            definition["description"] = part["description"]
        return definition
    if "discriminator" in part:
        return _by_variant(part, name)

    forms = [form for form in part.get("anyOf", ()) if form.get("type") != "null"]
    if len(forms) == 1:
        # A caller can omit every argument that may be null.
        return _short({**forms[0], **_without(part, "anyOf", "default")}, definitions, name)
    if part.get("prefixItems"):
        return _short_vector(part, definitions, name)

    short: dict[str, Any] = {}
    for key, value in part.items():
        if _is_omitted(key, value, part):
            continue
        if key == "properties":
            short[key] = {argument: _short(inner, definitions, name) for argument, inner in value.items()}
        elif key in ("anyOf", "oneOf"):
            short[key] = _without_whole_numbers([_short(form, definitions, name) for form in forms or value])
        elif key == "items" and isinstance(value, dict):
            short[key] = _short(cast("dict[str, Any]", value), definitions, name)
        elif key == "default":
            short[key] = _plain(value)
        else:
            short[key] = value
    return short


def _short_vector(part: Schema, definitions: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a list of fixed length as an item type and a length."""
    first = _short(part["prefixItems"][0], definitions, name)
    size = len(part["prefixItems"])
    short = _short(_without(part, "prefixItems", "minItems", "maxItems", "items"), definitions, name)
    return short | {"items": {"type": first.get("type", "number")}, "minItems": size, "maxItems": size}


def _without(part: Schema, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key not in keys}


def _plain(value: Any) -> Any:
    """Return the value with whole numbers as integers, which are shorter than "1.0"."""
    if isinstance(value, list):
        return [_plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _without_whole_numbers(forms: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the forms without `integer` next to `number`, because a number may be whole. The same holds for the
    items of lists.
    """
    if {"type": "number"} in forms:
        forms = [form for form in forms if form.get("type") != "integer"]
    short_forms: list[dict[str, Any]] = []
    for form in forms:
        if form.get("items") == {"anyOf": [{"type": "number"}]}:
            form = {**form, "items": {"type": "number"}}
        short_forms.append(form)
    return short_forms


def _is_omitted(key: str, value: Any, part: Schema) -> bool:
    """Return whether the list omits this key: a bound, a usual minimum, or an empty, false or first default."""
    if key in OMITTED_KEYS:
        return True
    if key == "maxItems":
        return value > MAX_LISTED_VALUES
    if key == "minItems":
        return value <= 1
    if key != "default":
        return False
    is_first_choice = part.get("enum", [None])[0] == value
    is_number = part.get("type") in ("number", "integer")
    return is_first_choice or value is None or (not value and not is_number)


def _by_variant(part: Schema, name: str) -> dict[str, Any]:
    discriminator = part["discriminator"]
    key, values = discriminator["propertyName"], list(discriminator["mapping"])
    description = f"{part.get('description', '')} Fields by {key}: tool_describe {name}:{values[0]} and so on.".strip()
    variant: dict[str, Any] = {"enum": values}
    # A tool `noun.set` has the same values as `noun.add`, which lists them.
    if name.endswith(".set") and len(values) > MAX_VALUES:
        variant = {"type": "string"}
    return {"type": "object", "description": description, "properties": {key: variant}, "required": [key]}
