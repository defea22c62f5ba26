"""Write what is derived from the catalogue: docs/tools/, docs/macros/ and tests/golden/catalogue/.
With --check, only say what is not current.

Reads declarations only, so it needs no Blender."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from blendwright.macros import Macro, package_macros
from blendwright.tools.catalog import tool_classes

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "tools"
MACROS = ROOT / "docs" / "macros" / "README.md"
GOLDEN = ROOT / "tests" / "golden" / "catalogue"
NOTE = "<!-- Generated from the tools' declarations by scripts/generate_reference.py; do not edit. -->"

Declaration = Mapping[str, Any]

PROMISES = {
    "safety_level": {
        "read_only": "reads only",
        "safe_write": "writes what it names",
        "destructive": "destroys what it names",
    },
    "determinism": {
        "deterministic": "equal input gives an equal scene",
        "seeded": "equal input and seed give an equal scene",
        "nondeterministic": "equal input may give different results, unless the arguments allow a stronger promise",
    },
    "idempotence": {
        "idempotent": "repeating it changes nothing more",
        "accumulating": "repeating it adds more",
        "non_idempotent": "repeating it is refused or does something else",
    },
    "revert": {
        "nothing": "nothing to take back",
        "inverse": "taken back by the recorded inverse of each write",
        "memfile": "taken back by Blender's own undo",
    },
}


def declarations() -> list[Declaration]:
    """All declarations by name, as they read after a way through JSON."""
    return json.loads(json.dumps([tool.declaration() for tool in sorted(tool_classes(), key=lambda tool: tool.name)]))


def documents() -> dict[Path, str]:
    """Every generated file with its text."""
    found = declarations()
    by_noun = {noun: list(group) for noun, group in groupby(found, key=lambda tool: tool["name"].partition(".")[0])}
    golden = {GOLDEN / f"{noun}.json": _json(group) for noun, group in by_noun.items()}
    pages = {PAGES / f"{noun}.md": _text(_page(noun, group)) for noun, group in by_noun.items()}
    macros = {MACROS: _text(_macros(package_macros().values()))}
    return {**golden, PAGES / "README.md": _text(_index(by_noun)), **pages, **macros}


def existing() -> list[Path]:
    """The files that are there, of those that only this script writes."""
    return [*PAGES.glob("*.md"), *GOLDEN.glob("*.json")]


def stale() -> list[str]:
    """What differs from what the declarations say, missing and superfluous files included."""
    expected = documents()
    superfluous = [path for path in existing() if path not in expected]
    changed = [path for path, text in expected.items() if not path.is_file() or path.read_text("utf-8") != text]
    return sorted(str(path.relative_to(ROOT)) for path in superfluous + changed)


def write() -> None:
    expected = documents()
    for path in existing():
        if path not in expected:
            path.unlink()
    for path, text in expected.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


# ---------------------------------------------------------------------- pages


def _index(by_noun: Mapping[str, list[Declaration]]) -> Iterator[str]:
    yield NOTE
    yield "# Tools"
    count = sum(len(group) for group in by_noun.values())
    yield f"{count} tools, grouped by what they work on. Each page lists arguments, promises and examples."
    for noun, group in by_noun.items():
        rows = [
            (f"[`{tool['name']}`]({noun}.md#{_anchor(tool['name'])})", _code(tool["safety_level"]), tool["summary"])
            for tool in group
        ]
        yield f"## {noun}"
        yield _table(("tool", "safety", "what it does"), rows)


def _page(noun: str, group: Iterable[Declaration]) -> Iterator[str]:
    yield NOTE
    yield f"# {noun}"
    yield "All tools: [index](README.md)."
    for tool in group:
        yield f"## {tool['name']}"
        yield f"{tool['summary']} *Version {tool['version']}.*"
        yield "### Arguments"
        yield from _fields_of(tool["args_schema"])
        yield "### Promises"
        yield _table(("promise", "value", "meaning"), _promises(tool))
        yield "### Result"
        yield from _fields_of(tool["result_schema"], with_default=False)
        yield "### Examples"
        for example in tool["examples"]:
            yield "```sh\n" + "\n".join(_commands(tool, example)) + "\n```"


def _macros(macros: Iterable[Macro]) -> Iterator[str]:
    yield NOTE
    yield "# Macros"
    yield "Several tool calls under one name: [what macros are](../macros.md)."
    for macro in macros:
        declared = json.loads(json.dumps(macro.declaration()))
        yield f"## {macro.name}"
        yield f"{declared['summary']} *Version {macro.version}.*"
        yield "### Inputs"
        yield from _fields_of(declared["inputs"])
        yield "### Steps"
        rows = [
            (str(number), step["title"], _code(step["tool"]), _code(step["for_each"]) if step["for_each"] else "")
            for number, step in enumerate(declared["steps"], start=1)
        ]
        yield _table(("", "what", "tool or macro", "for each of"), rows)
        conditions = [("before", one) for one in declared["preconditions"]]
        conditions += [("after", one) for one in declared["postconditions"]]
        if conditions:
            yield _table(("must hold", ""), [(moment, _code(json.dumps(one))) for moment, one in conditions])
        yield "### Promises"
        kept = "all steps or none" if macro.document.rollback else "what was done before a failure stays"
        promises = [
            ("safety_level", _code(declared["safety_level"]), PROMISES["safety_level"][declared["safety_level"]]),
            ("determinism", _code(declared["determinism"]), PROMISES["determinism"][declared["determinism"]]),
            ("rollback", _code(str(macro.document.rollback).lower()), kept),
            ("fingerprint", _code(macro.fingerprint[:16]), "changes with anything above"),
        ]
        yield _table(("promise", "value", "meaning"), promises)
        yield "### Examples"
        for example in declared["examples"]:
            shown = {"given": example["given"], "args": example["inputs"]}
            yield "```sh\n" + "\n".join(_commands(declared, shown)) + "\n```"


def _fields_of(schema: Mapping[str, Any], with_default: bool = True) -> Iterator[str]:
    """A table of the fields, then one for each object that they are made of."""
    yield _field_table(schema, schema, with_default)
    for name, part in schema.get("$defs", {}).items():
        if "properties" in part:
            yield f"**{name}**: {part.get('description', 'an object')}"
            yield _field_table(part, schema, with_default)


def _field_table(schema: Mapping[str, Any], root: Mapping[str, Any], with_default: bool) -> str:
    rows: list[tuple[str, ...]] = []
    for name, field in schema.get("properties", {}).items():
        default = (_default(name, field, schema),) if with_default else ()
        rows.append((_code(name), _type(field, root), *default, field.get("description", "")))
    head = ("name", "type", "default", "meaning") if with_default else ("name", "type", "meaning")
    return _table(head, rows) if rows else "None."


def _promises(tool: Declaration) -> Iterator[tuple[str, str, str]]:
    for promise, meanings in PROMISES.items():
        yield promise, _code(tool[promise]), meanings[tool[promise]]
        if promise == "safety_level" and tool["destructive_with"]:
            named = " or ".join(map(_code, tool["destructive_with"]))
            yield "", _code("destructive"), f"with {named}: {meanings['destructive']}"
    yield "safety_mode", _code(tool["safety_mode"]), "what it needs around it"
    yield (
        "replayable",
        _code(str(tool["replayable"]).lower()),
        "whether the journal can run it again to rebuild a scene",
    )
    yield "writes", ", ".join(map(_code, tool["writes"])) or "nothing", "kinds of datablock that may change"
    needs = tool["requires"]
    newest = f", before {_version(needs['blender_max'])}" if needs["blender_max"] else ""
    yield "Blender", f"{_version(needs['blender_min'])} or newer{newest}", "versions it works in"
    yield "capabilities", ", ".join(map(_code, needs["capabilities"])) or "none", "what a session must offer"


def _commands(tool: Declaration, example: Mapping[str, Any]) -> Iterator[str]:
    if example["given"]:
        yield "# given:"
        yield from (f"#   {_command(name, args)}" for name, args in example["given"])
    yield _command(tool["name"], example["args"])


def _command(name: str, args: Mapping[str, Any]) -> str:
    return f"blendwright call {name} --args {shlex.quote(json.dumps(args, ensure_ascii=False))}"


# ---------------------------------------------------------------------- schemas in words


def _type(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        target = root["$defs"][name]
        # Objects have a table of their own, and a definition may be recursive: only choices are spelled out.
        return _type(target, root) if "enum" in target else name
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(_type(part, root) for part in schema[union]))
    if "enum" in schema:
        return " \\| ".join(_code(json.dumps(choice)) for choice in schema["enum"])
    if "const" in schema:
        return _code(json.dumps(schema["const"]))
    kind = schema.get("type", "any")
    if kind == "array":
        return _array(schema, root)
    return kind + _bounds(schema)


def _array(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    least, most = schema.get("minItems"), schema.get("maxItems")
    if "prefixItems" in schema:
        parts = list(dict.fromkeys(_type(part, root) for part in schema["prefixItems"]))
        return f"{len(schema['prefixItems'])} of {' / '.join(parts)}"
    item = _type(schema.get("items", {}), root)
    item = f"({item})" if schema.get("items", {}).get("type") == "array" else item
    size = f"{least}" if least == most and least is not None else _span(least, most)
    return f"list of {item}" + (f", {size} items" if size else "")


def _bounds(schema: Mapping[str, Any]) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    parts = [
        f"{sign} {bound:g}"
        for sign, bound in (("≥", least), (">", above), ("≤", most), ("<", below))
        if bound is not None
    ]
    if schema.get("maxLength") is not None:
        parts.append(f"at most {schema['maxLength']} characters")
    return f" ({', '.join(parts)})" if parts else ""


def _span(least: int | None, most: int | None) -> str:
    if least and most:
        return f"{least} to {most}"
    return f"at least {least}" if least else f"at most {most}" if most else ""


def _default(name: str, field: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    if name in schema.get("required", ()):
        return "**required**"
    return "" if field.get("default") is None else _code(json.dumps(field["default"], ensure_ascii=False))


# ---------------------------------------------------------------------- Markdown


def _json(group: list[Declaration]) -> str:
    return json.dumps(group, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _text(blocks: Iterable[str]) -> str:
    return "\n\n".join(blocks) + "\n"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(" ".join(cell.split()) for cell in line) + " |" for line in lines)


def _code(text: str) -> str:
    return f"`{text}`"


def _anchor(name: str) -> str:
    return name.replace(".", "")


def _version(parts: list[int]) -> str:
    return ".".join(map(str, parts[:2]))


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        old = stale()
        for path in old:
            print(f"not current: {path}", file=sys.stderr)
        if old:
            print("Run scripts/generate_reference.py.", file=sys.stderr)
        return 1 if old else 0
    if arguments:
        print("usage: generate_reference.py [--check]", file=sys.stderr)
        return 2
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
