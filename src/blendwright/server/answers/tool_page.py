"""Descriptions of tools and nodes that a model can afford: a line for each argument, the most used first, and what works.

`modifier.add:BEVEL` is the page of a variant. The whole JSON Schema is a resource, and the page says which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import orjson

from blendwright.nodes.catalogue.model import NodeType, word
from blendwright.nodes.catalogue.search import describe_node_type
from blendwright.tool_api.promises import Determinism
from blendwright.tool_api.tool import AnyTool
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

MAX_PAGE_BYTES = 3 * 1024
MAX_TYPE_CHARACTERS = 160
# Of several pages together, and what each of many has at least: whoever asks for one alone gets all of it.
SEVERAL_PAGES_BYTES = 4 * 1024
MIN_PAGE_BYTES = 800
MAX_EXAMPLES = 2
# Choices that are worth listing in a line.
MAX_CHOICES = 20
# What every node has.
OF_EVERY_NODE = frozenset({
    "label", "location", "width", "hide", "parent", "use_custom_color", "color", "warning_propagation", "mute",
})  # fmt: skip
AS_IN = "as in"
SIDES = ("inputs", "outputs")
Schema = Mapping[str, Any]


def page_budget(pages: int) -> int:
    """How long each of so many pages may be."""
    if pages < 2:
        return MAX_PAGE_BYTES
    return min(MAX_PAGE_BYTES, max(MIN_PAGE_BYTES, SEVERAL_PAGES_BYTES // pages))


def brief_tool_page(tool: AnyTool, variant: str = "") -> dict[str, Any] | Finding:
    """The page of a tool, or of one of its variants; a finding where it has no such variant."""
    schema = tool.args_schema()
    known = dict(variants(schema))
    if variant and variant not in known:
        if known:
            otherwise = f"It has: {', '.join(known)}."
        else:
            otherwise = "It has no variants."
        message = f"{tool.name} has no variant '{variant}'"
        return Finding(Fault.TARGET_NOT_FOUND, message, "", did_you_mean(variant, known, otherwise=otherwise))
    examples = [example.args for example in tool.examples]
    if variant:
        examples = [one for one in examples if f'"{variant}"' in orjson.dumps(one).decode()]
    page: dict[str, Any] = {
        "name": f"{tool.name}:{variant}" if variant else tool.name,
        "summary": tool.summary(),
        "safety_level": tool.safety_level.value,
        "arguments": dict(_argument_lines(tool, schema, variant)),
        "examples": examples[:MAX_EXAMPLES],
        "schema": f"blendwright://tools/{tool.name}",
    }
    if tool.destructive_with:
        page["destructive_with"] = list(tool.destructive_with)
    if tool.determinism is not Determinism.DETERMINISTIC:
        page["determinism"] = tool.determinism.value
    if known and not variant:
        page["variants"] = f"Ask for {tool.name}:{next(iter(known))} and so on: {', '.join(known)}."
    return fitted_page(page)


def without_repetition(pages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Arguments that an earlier page has told in the very same words are named once, by that page."""
    told: dict[tuple[str, str], str] = {}
    short: list[dict[str, Any]] = []
    for page in pages:
        arguments: Any = page.get("arguments")
        if not isinstance(arguments, dict):
            short.append(page)
            continue
        lines = cast("dict[str, str]", arguments)
        again: dict[str, list[str]] = {}
        for name, line in lines.items():
            if (name, line) in told:
                again.setdefault(told[name, line], []).append(name)
        own = {name: line for name, line in lines.items() if (name, line) not in told}
        told |= {pair: str(page["name"]) for pair in own.items()}
        short.append({**page, "arguments": own | {f"{AS_IN} {one}": ", ".join(names) for one, names in again.items()}})
    return short


def brief_node_page(node: NodeType) -> dict[str, Any]:
    """A node without what every node has; where its sockets depend on its properties, those that it has from the start."""
    whole = describe_node_type(node)
    page = {
        key: value for key, value in whole.items() if value not in (None, [], "") and key not in ("layouts", "settings")
    }
    own = [one for one in whole["properties"] if one["name"] not in OF_EVERY_NODE]
    page["properties"] = {one["name"]: _property_line(one) for one in own}
    layouts: list[dict[str, Any]] = whole["layouts"]
    first = _layout_of_a_new_node(node)
    for side in SIDES:
        if layouts:
            page[side] = {one.get("identifier", one["name"]): _socket_line(one) for one in layouts[first][side]}
        else:
            page[side] = {}
    if len(layouts) > 1:
        page["sockets"] = f"as they are at first; they depend on {', '.join(whole['deciding'])}"
        page["other_sockets"] = dict(_other_sockets(node, layouts, first))
    page["schema"] = f"blendwright://nodes/{node.bl_idname}"
    return fitted_page({key: value for key, value in page.items() if value})


def _layout_of_a_new_node(node: NodeType) -> int:
    """Its number: that of the values which the deciding properties have from the start."""
    at_first = [*map(word, node.defaults().values())]
    return next((number for words, number in node.settings.items() if [*words] == at_first), 0)


def _other_sockets(node: NodeType, layouts: Sequence[Schema], first: int) -> Iterator[tuple[str, str]]:
    """The sockets of other layouts, each once, by the setting nearest to that of a new node that has them; names are enough."""
    at_first = {name: word(value) for name, value in node.defaults().items()}
    changes = [
        (
            [f"{name}={value}" for name, value in zip(node.deciding, words, strict=True) if at_first[name] != value],
            number,
        )
        for words, number in node.settings.items()
    ]
    known = {_identifier(one) for side in SIDES for one in layouts[first][side]}
    for setting, number in sorted(changes, key=lambda change: len(change[0])):
        found = {side: [_identifier(one) for one in layouts[number][side]] for side in SIDES}
        new = {side: [name for name in names if name not in known] for side, names in found.items()}
        known |= {name for names in found.values() for name in names}
        if any(new.values()):
            yield ", ".join(setting), "; ".join(f"{side} {', '.join(names)}" for side, names in new.items() if names)


def _identifier(socket: Schema) -> str:
    return str(socket.get("identifier", socket["name"]))


def _property_line(one: Schema) -> str:
    return _joined(_choices(one["items"]) if one.get("items") else str(one["type"]).lower(), one.get("default"))


def _socket_line(one: Schema) -> str:
    if one.get("identifier", one["name"]) != one["name"]:
        name = f"'{one['name']}' "
    else:
        name = ""
    return name + _joined(str(one.get("type", "")).removeprefix("NodeSocket").lower(), one.get("default"))


def _joined(kind: str, default: Any) -> str:
    if default is None:
        return kind
    return f"{kind} = {_json(default)}"


# ---------------------------------------------------------------------- arguments


def variants(schema: Schema) -> Iterator[tuple[str, str]]:
    """The variants of a tool: the values that tell the forms of one of its arguments apart, each with its definition."""
    for part in schema.get("properties", {}).values():
        holder = part.get("items", part)
        yield from cast("dict[str, str]", holder.get("discriminator", {}).get("mapping", {})).items()


def argument_order(tool: AnyTool, schema: Schema) -> list[str]:
    """The arguments of a tool: what must be given, then what its examples use most."""
    used = Counter(name for example in tool.examples for name in example.args)
    required = schema.get("required", ())
    return sorted(schema.get("properties", {}), key=lambda name: (name not in required, -used[name]))


def _argument_lines(tool: AnyTool, schema: Schema, variant: str) -> Iterator[tuple[str, str]]:
    required = schema.get("required", ())
    for name in argument_order(tool, schema):
        part = schema["properties"][name]
        holder = part.get("items", part)
        mapping = holder.get("discriminator", {}).get("mapping", {})
        yield name, _line(part, schema, name in required)
        if variant in mapping:
            inner = resolved({"$ref": mapping[variant]}, schema)
            if "items" in part:
                place = f"{name}[]."
            else:
                place = f"{name}."
            for key, field in inner.get("properties", {}).items():
                yield place + key, _line(field, schema, key in inner.get("required", ()))


def _line(part: Schema, schema: Schema, required: bool) -> str:
    whole = resolved(part, schema)
    if required:
        default = ""
    elif part.get("default") is not None:
        default = f" = {_json(part['default'])}"
    else:
        default = "?"
    described = part.get("description") or whole.get("description") or ""
    return f"{_type(part, schema)}{default}: {described}".removesuffix(": ")


def _type(part: Schema, schema: Schema, depth: int = 0) -> str:
    part = resolved(part, schema)
    if "const" in part:
        return _json(part["const"])
    if "enum" in part:
        return _choices(part["enum"])
    forms = part.get("anyOf") or part.get("oneOf")
    if forms:
        if "discriminator" in part:
            return f"object by {part['discriminator']['propertyName']}: " + _choices(part["discriminator"]["mapping"])
        kinds = [_type(one, schema, depth) for one in forms if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if part.get("type") == "array":
        if fixed := part.get("prefixItems"):
            kinds = [_type(one, schema, depth + 1) for one in fixed]
            if len(kinds) > 1 and len(set(kinds)) == 1:
                return f"[{kinds[0]}] x {len(kinds)}"
            return f"[{', '.join(kinds)}]"
        return f"list of {_type(part.get('items', {}), schema, depth + 1)}"
    if part.get("properties"):
        if depth > 1:
            return "object"
        inner = (
            f"{key}{'' if key in part.get('required', ()) else '?'}: {_type(one, schema, depth + 1)}"
            for key, one in part["properties"].items()
        )
        return "{" + ", ".join(inner) + "}"
    return str(part.get("type", "any")) + _range(part)


def _range(part: Schema) -> str:
    """The bounds that say something; those of single precision go without saying."""
    least, most = part.get("minimum", part.get("exclusiveMinimum")), part.get("maximum")
    told = [bound for bound in (least, most) if bound is not None and abs(bound) < 1e6]
    if not told or part.get("type") == "string":
        return ""
    if least is None:
        lower = ""
    else:
        lower = f"{least:g}"
    if most is None or abs(most) >= 1e6:
        upper = ""
    else:
        upper = f"{most:g}"
    return f" {lower}..{upper}"


def resolved(part: Schema, schema: Schema) -> Schema:
    reference = part.get("$ref")
    if reference:
        return schema["$defs"][reference.rpartition("/")[2]]
    return part


def _choices(values: Any) -> str:
    listed = [str(one) for one in values]
    if len(listed) > MAX_CHOICES:
        more = f" | … {len(listed) - MAX_CHOICES} more"
    else:
        more = ""
    return " | ".join(listed[:MAX_CHOICES]) + more


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def without_description(line: str) -> str:
    """The type of an argument alone; the colons inside of it are not those before its description."""
    depth = 0
    for place, sign in enumerate(line):
        depth += (sign in "{[") - (sign in "}]")
        if depth == 0 and line.startswith(": ", place):
            return line[:place]
    return line[:MAX_TYPE_CHARACTERS]


def fitted_page(page: dict[str, Any], most: int = MAX_PAGE_BYTES) -> dict[str, Any]:
    """Longer descriptions and the least used arguments give way, those at the end first; the schema has them all."""
    if len(orjson.dumps(page)) <= most:
        return page
    page = {
        **page,
        "left_out": "see schema for the rest" if most == MAX_PAGE_BYTES else "ask for it alone for the rest",
    }
    if len(page.get("examples", ())) > 1:
        page["examples"] = page["examples"][:1]
    for part in ("items", "arguments", "inputs", "outputs", "properties"):
        lines: Any = page.get(part)
        if isinstance(lines, list):
            page[part] = [one.get("name") for one in cast("list[dict[str, Any]]", lines)]
            continue
        for name in reversed(list(lines or ())):
            if len(orjson.dumps(page)) <= most:
                return page
            # Those of a macro are its schema, which is whole or not at all.
            if not name.startswith(AS_IN) and isinstance(page[part][name], str):
                page[part] = {**page[part], name: without_description(page[part][name])}
    while len(orjson.dumps(page)) > most and page.get("examples"):
        page["examples"] = page["examples"][:-1]
    return page
