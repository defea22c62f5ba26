"""Whole floats as integers: JSON knows one kind of number, and 8.0 means 8 wherever a schema wants an integer."""

from __future__ import annotations

from typing import Any, cast

from blendwright.values.json_shapes import fields_of


def whole_numbers(value: Any, schema: Any, root: Any) -> Any:
    """The value with every whole float as an integer where its JSON Schema wants one. `root` is the schema that references
    lead into; of alternatives, those that fit the kind of the value count."""
    if not isinstance(schema, dict) or not isinstance(value, (float, dict, list)):
        return value
    rules = cast("dict[str, Any]", schema)
    if isinstance(value, float):
        return int(value) if value.is_integer() and _kinds(rules, root, 0) == {"integer"} else value
    for part in _parts(rules, root):
        if isinstance(value, dict):
            fields, others = part.get("properties", {}), part.get("additionalProperties")
            members = cast("dict[str, Any]", value)
            value = {name: whole_numbers(one, fields.get(name, others), root) for name, one in members.items()}
        else:
            first, rest = part.get("prefixItems", []), part.get("items")
            listed = cast("list[Any]", value)
            value = [
                whole_numbers(one, first[place] if place < len(first) else rest, root)
                for place, one in enumerate(listed)
            ]
    return cast("Any", value)


# References into each other could go on for ever.
DEEPEST = 16


def _parts(schema: dict[str, Any], root: Any, depth: int = 0) -> list[dict[str, Any]]:
    """A schema and all that it is put together of."""
    parts = [schema]
    if depth < DEEPEST:
        inner: list[Any] = [one for word in ("allOf", "anyOf", "oneOf") for one in schema.get(word, [])]
        if str(schema.get("$ref", "")).startswith("#/"):
            inner.append(resolved(root, schema["$ref"]))
        for one in inner:
            if isinstance(one, dict):
                parts += _parts(cast("dict[str, Any]", one), root, depth + 1)
    return parts


def _kinds(schema: dict[str, Any], root: Any, depth: int) -> set[str]:
    """Which kinds of number it speaks of."""
    kinds: set[str] = set()
    for part in _parts(schema, root, depth):
        types: Any = part.get("type", [])
        kinds |= {"integer", "number"} & set([types] if isinstance(types, str) else types)
    return kinds


def resolved(schema: Any, reference: str) -> dict[str, Any]:
    """What a reference inside a schema leads to; an empty schema where that is not to be seen at once."""
    target: Any = schema
    for part in reference.removeprefix("#").split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        target = fields_of(target).get(key)
    return fields_of(target)
