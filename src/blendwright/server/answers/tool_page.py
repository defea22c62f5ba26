"""Short pages about tools and nodes: one line for each argument, the most used first, and working examples.

`modifier.add:BEVEL` is the page of a variant. The page names the resource with the complete JSON Schema.
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
# The bytes of several pages together, and the fewest bytes of each. A single page may have MAX_PAGE_BYTES.
SEVERAL_PAGES_BYTES = 4 * 1024
MIN_PAGE_BYTES = 800
MAX_EXAMPLES = 2
# The most choices that a line lists.
MAX_CHOICES = 20
# Properties of every node, which pages omit.
COMMON_NODE_PROPERTIES = frozenset({
    "label", "location", "width", "hide", "parent", "use_custom_color", "color", "warning_propagation", "mute",
})  # fmt: skip
AS_IN = "as in"
SIDES = ("inputs", "outputs")
Schema = Mapping[str, Any]


def page_budget(pages: int) -> int:
    """Return the largest size in bytes of each of `pages` pages."""
    if pages < 2:
        return MAX_PAGE_BYTES
    return min(MAX_PAGE_BYTES, max(MIN_PAGE_BYTES, SEVERAL_PAGES_BYTES // pages))


def brief_tool_page(tool: AnyTool, variant: str = "") -> dict[str, Any] | Finding:
    """Return the page of a tool or of one of its variants, or a finding if the tool has no such variant."""
    schema = tool.args_schema()
    known_variants = dict(variants(schema))
    if variant and variant not in known_variants:
        if known_variants:
            otherwise = f"It has: {', '.join(known_variants)}."
        else:
            otherwise = "It has no variants."
        message = f"{tool.name} has no variant '{variant}'"
        return Finding(Fault.TARGET_NOT_FOUND, message, "", did_you_mean(variant, known_variants, otherwise=otherwise))
    examples = [example.args for example in tool.examples]
    if variant:
        examples = [example for example in examples if f'"{variant}"' in orjson.dumps(example).decode()]

    name = tool.name
    if variant:
        name = f"{tool.name}:{variant}"
    page: dict[str, Any] = {
        "name": name,
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
    if known_variants and not variant:
        page["variants"] = (
            f"Each has a page, such as {tool.name}:{next(iter(known_variants))}: {', '.join(known_variants)}."
        )
    return fitted_page(page)


def without_repetition(pages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the pages with each repeated argument replaced by the name of the first page that describes it."""
    described_by: dict[tuple[str, str], str] = {}
    short_pages: list[dict[str, Any]] = []
    for page in pages:
        arguments: Any = page.get("arguments")
        if not isinstance(arguments, dict):
            short_pages.append(page)
            continue

        lines: dict[str, str] = {}
        repeated: dict[str, list[str]] = {}
        for name, line in cast("dict[str, str]", arguments).items():
            earlier_page = described_by.get((name, line))
            if earlier_page is None:
                lines[name] = line
            else:
                repeated.setdefault(earlier_page, []).append(name)
        for argument in lines.items():
            described_by[argument] = str(page["name"])
        for earlier_page, names in repeated.items():
            lines[f"{AS_IN} {earlier_page}"] = ", ".join(names)
        short_pages.append({**page, "arguments": lines})
    return short_pages


def brief_node_page(node: NodeType) -> dict[str, Any]:
    """Return the page of a node type without the properties that every node has.

    If its sockets depend on its properties, the page shows the sockets of a new node and names the others.
    """
    description = describe_node_type(node)
    page: dict[str, Any] = {}
    for key, value in description.items():
        if value not in (None, [], "") and key not in ("layouts", "settings"):
            page[key] = value

    properties = [item for item in description["properties"] if item["name"] not in COMMON_NODE_PROPERTIES]
    page["properties"] = {item["name"]: _property_line(item) for item in properties}
    layouts: list[dict[str, Any]] = description["layouts"]
    initial = _layout_of_a_new_node(node)
    for side in SIDES:
        page[side] = {}
        if layouts:
            page[side] = {_identifier(socket): _socket_line(socket) for socket in layouts[initial][side]}
    if len(layouts) > 1:
        page["sockets"] = f"of a new node; they depend on {', '.join(description['deciding'])}"
        page["other_sockets"] = dict(_other_sockets(node, layouts, initial))
    page["schema"] = f"blendwright://nodes/{node.bl_idname}"
    return fitted_page({key: value for key, value in page.items() if value})


def _layout_of_a_new_node(node: NodeType) -> int:
    """Return the index of the socket layout of a new node."""
    default_words = [*map(word, node.defaults().values())]
    for words, number in node.settings.items():
        if [*words] == default_words:
            return number
    return 0


def _other_sockets(node: NodeType, layouts: Sequence[Schema], first: int) -> Iterator[tuple[str, str]]:
    """Yield sockets that a new node lacks, each with the setting that adds it and differs least from the defaults."""
    defaults = {name: word(value) for name, value in node.defaults().items()}
    layouts_by_change: list[tuple[list[str], int]] = []
    for words, number in node.settings.items():
        change: list[str] = []
        for name, value in zip(node.deciding, words, strict=True):
            if defaults[name] != value:
                change.append(f"{name}={value}")
        layouts_by_change.append((change, number))
    layouts_by_change.sort(key=lambda pair: len(pair[0]))

    known = _identifiers(layouts[first])
    for change, number in layouts_by_change:
        parts: list[str] = []
        for side in SIDES:
            names = [_identifier(socket) for socket in layouts[number][side]]
            new_names = [name for name in names if name not in known]
            if new_names:
                parts.append(f"{side} {', '.join(new_names)}")
        known |= _identifiers(layouts[number])
        if parts:
            yield ", ".join(change), "; ".join(parts)


def _identifiers(layout: Schema) -> set[str]:
    return {_identifier(socket) for side in SIDES for socket in layout[side]}


def _identifier(socket: Schema) -> str:
    return str(socket.get("identifier", socket["name"]))


def _property_line(item: Schema) -> str:
    kind = str(item["type"]).lower()
    if item.get("items"):
        kind = _choices(item["items"])
    return _with_default(kind, item.get("default"))


def _socket_line(socket: Schema) -> str:
    name = ""
    if _identifier(socket) != socket["name"]:
        name = f"'{socket['name']}' "
    kind = str(socket.get("type", "")).removeprefix("NodeSocket").lower()
    return name + _with_default(kind, socket.get("default"))


def _with_default(kind: str, default: Any) -> str:
    if default is None:
        return kind
    return f"{kind} = {_json(default)}"


# ---------------------------------------------------------------------- arguments


def variants(schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield each variant of a tool and the reference to its definition in the schema."""
    for part in schema.get("properties", {}).values():
        holder = part.get("items", part)
        yield from cast("dict[str, str]", holder.get("discriminator", {}).get("mapping", {})).items()


def argument_order(tool: AnyTool, schema: Schema) -> list[str]:
    """Return the arguments of a tool: required ones first, then those that its examples use most."""
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
            prefix = f"{name}."
            if "items" in part:
                prefix = f"{name}[]."
            for key, field in inner.get("properties", {}).items():
                yield prefix + key, _line(field, schema, key in inner.get("required", ()))


def _line(part: Schema, schema: Schema, required: bool) -> str:
    definition = resolved(part, schema)
    if required:
        default = ""
    elif part.get("default") is not None:
        default = f" = {_json(part['default'])}"
    else:
        default = "?"
    described = part.get("description") or definition.get("description") or ""
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
        kinds = [_type(form, schema, depth) for form in forms if form.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if part.get("type") == "array":
        fixed_items = part.get("prefixItems")
        if fixed_items:
            kinds = [_type(item, schema, depth + 1) for item in fixed_items]
            if len(kinds) > 1 and len(set(kinds)) == 1:
                return f"[{kinds[0]}] x {len(kinds)}"
            return f"[{', '.join(kinds)}]"
        return f"list of {_type(part.get('items', {}), schema, depth + 1)}"
    if part.get("properties"):
        if depth > 1:
            return "object"
        fields: list[str] = []
        for key, field in part["properties"].items():
            mark = "?"
            if key in part.get("required", ()):
                mark = ""
            fields.append(f"{key}{mark}: {_type(field, schema, depth + 1)}")
        return "{" + ", ".join(fields) + "}"
    return str(part.get("type", "any")) + _range(part)


def _range(part: Schema) -> str:
    """Return the bounds of a number as text, without bounds that only express single precision."""
    least = part.get("minimum", part.get("exclusiveMinimum"))
    most = part.get("maximum")
    if part.get("type") == "string" or not (_is_useful_bound(least) or _is_useful_bound(most)):
        return ""
    lower = upper = ""
    if least is not None:
        lower = f"{least:g}"
    if _is_useful_bound(most):
        upper = f"{most:g}"
    return f" {lower}..{upper}"


def _is_useful_bound(bound: float | None) -> bool:
    return bound is not None and abs(bound) < 1e6


def resolved(part: Schema, schema: Schema) -> Schema:
    """Return the definition that a schema part refers to, or the part itself."""
    reference = part.get("$ref")
    if reference:
        return schema["$defs"][reference.rpartition("/")[2]]
    return part


def _choices(values: Any) -> str:
    choices = [str(value) for value in values]
    text = " | ".join(choices[:MAX_CHOICES])
    if len(choices) > MAX_CHOICES:
        return f"{text} | … {len(choices) - MAX_CHOICES} more"
    return text


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def without_description(line: str) -> str:
    """Return the type at the start of an argument line. Colons inside brackets belong to the type."""
    depth = 0
    for position, char in enumerate(line):
        if char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
        if depth == 0 and line.startswith(": ", position):
            return line[:position]
    return line[:MAX_TYPE_CHARACTERS]


def fitted_page(page: dict[str, Any], most: int = MAX_PAGE_BYTES) -> dict[str, Any]:
    """Return the page in at most `most` bytes. It first loses descriptions of the least used arguments, then
    examples.
    """
    if len(orjson.dumps(page)) <= most:
        return page
    left_out = "describe it alone for the rest"
    if most == MAX_PAGE_BYTES:
        left_out = "see schema for the rest"
    page = {**page, "left_out": left_out}
    if len(page.get("examples", ())) > 1:
        page["examples"] = page["examples"][:1]
    for part in ("items", "arguments", "inputs", "outputs", "properties"):
        lines: Any = page.get(part)
        if isinstance(lines, list):
            page[part] = [line.get("name") for line in cast("list[dict[str, Any]]", lines)]
            continue
        for name in reversed(list(lines or ())):
            if len(orjson.dumps(page)) <= most:
                return page
            # The properties of a macro are schemas and cannot be shortened.
            if not name.startswith(AS_IN) and isinstance(page[part][name], str):
                page[part] = {**page[part], name: without_description(page[part][name])}
    while len(orjson.dumps(page)) > most and page.get("examples"):
        page["examples"] = page["examples"][:-1]
    return page
