"""The commands `blendwright tools`, `macros`, `nodes` and `schemas`. They list what exists or show one entry, without Blender."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from blendwright.cli.choices import macro_names, tool_names
from blendwright.cli.options import AsJson, Workspace
from blendwright.cli.output import Exit, SafeConsole, present, print_json
from blendwright.macros import REGISTRY_VERSION, Macro, load_macros, macro_registry
from blendwright.nodes.catalogue.load import NEWEST, TREE_KINDS, VERSIONS, Catalogue, catalogue
from blendwright.nodes.catalogue.model import NodeType, Property, SocketType
from blendwright.nodes.catalogue.search import describe_node_type, search, suggest_node_type
from blendwright.schemas import published
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import catalog
from blendwright.tools.search import find_tools, searchable
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import did_you_mean

# Promises of a tool that its page shows, in this order.
PROMISES = ("safety_level", "safety_mode", "determinism", "idempotence", "revert", "replayable", "writes")
Kind = Annotated[
    str,
    typer.Option(
        "--kind", metavar="KIND", help=f"Of which trees: {', '.join(TREE_KINDS)}.", autocompletion=lambda: TREE_KINDS
    ),
]
Version = Annotated[str, typer.Option("--blender", metavar="VERSION", help=f"Which Blender: {', '.join(VERSIONS)}.")]


def tools(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A tool's name, the beginning of some, or words to search for.",
            autocompletion=tool_names,
        ),
    ] = None,
    json: AsJson = False,
) -> int:
    """List the tools, search them, or show one with its arguments, promises and examples."""
    all_tools = catalog.tools()
    if name is not None and name in all_tools:
        tool = all_tools[name]
        return present(json, tool.declaration, lambda out: _show_tool(out, tool))
    chosen = [tool for tool_name, tool in all_tools.items() if tool_name.startswith(name or "")]
    if not chosen and name is not None:
        chosen = _search_tools(name, all_tools)
    entries = [{"name": tool.name, "version": tool.version, "summary": tool.summary()} for tool in chosen]
    return present(
        json,
        lambda: {"fingerprint": catalog.fingerprint(), "tools": entries},
        lambda out: out.columns(
            ((tool.name, "bold"), (tool.safety_level.value, "dim"), tool.summary()) for tool in chosen
        ),
    )


def _search_tools(query: str, all_tools: Mapping[str, AnyTool]) -> list[AnyTool]:
    """Return the tools that match a search. Raise Refusal with suggestions when no tool matches."""
    result = find_tools(query, map(searchable, all_tools.values()))
    if "." in query and " " not in query.strip():
        # The query looks like the name of a tool, but no tool has it.
        cure = did_you_mean(query, all_tools, otherwise="List them all: blendwright tools")
        raise Refusal.of(Fault.TOOL_NOT_ALLOWED, f"there is no tool '{query[:100]}'", cure)
    if result.message:
        near = did_you_mean(query, all_tools, otherwise="List them all: blendwright tools")
        raise Refusal.of(Fault.TOOL_NOT_ALLOWED, f"there is no tool for '{query[:100]}'", f"{result.message} {near}")
    return [all_tools[name] for name in result.names]


def _show_tool(out: SafeConsole, tool: AnyTool) -> None:
    page = tool.declaration()
    out.labelled(tool.name, f"version {tool.version}", "bold", text_style="dim")
    out.show((tool.__class__.__doc__ or "").strip())
    out.show("")
    schema = page["args_schema"]
    show_arguments(out, schema.get("properties", {}), schema.get("required", ()))
    for promise in PROMISES:
        if promise == "writes":
            value = ", ".join(page["writes"])
        else:
            value = str(page[promise]).lower()
        if promise == "safety_level":
            value += "".join(f", destructive with {name}" for name in page["destructive_with"])
        out.show(f"  {promise:13}{value or 'nothing'}")
    show_examples(out, tool.name, (dict(example.args) for example in tool.examples))


def names_beginning_with(start: str | None, candidates: Iterable[str], what: str) -> list[str]:
    """Return the names that begin with `start`, or all without it. Raise Refusal with a similar name when none begins so."""
    names = list(candidates)
    chosen = [name for name in names if name.startswith(start or "")]
    if not chosen:
        cure = did_you_mean(str(start), names, otherwise=f"List them all: blendwright {what}s")
        raise Refusal.of(Fault.TOOL_NOT_ALLOWED, f"there is no {what} named '{start}'", cure)
    return chosen


def show_arguments(out: SafeConsole, properties: Mapping[str, dict[str, Any]], required: Iterable[str]) -> None:
    """Print a table with the arguments of a tool or the inputs of a macro."""
    needed = set(required)
    out.columns(
        (
            (
                (name, "bold"),
                _type_of(schema),
                (_argument_default(schema, name in needed), "dim"),
                schema.get("description", ""),
            )
            for name, schema in properties.items()
        ),
        indent=2,
    )
    out.show("")


def show_examples(out: SafeConsole, name: str, examples: Iterable[Mapping[str, Any]]) -> None:
    """Print example calls that a user can copy into a shell."""
    out.show("")
    for args in examples:
        out.show(f"  blendwright call {name} --args '{orjson.dumps(args).decode()}'")


def _type_of(schema: dict[str, Any]) -> str:
    """Return a short name for the type of a schema, for a table."""
    if "enum" in schema:
        return " | ".join(str(choice) for choice in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type_of(part) for part in schema["anyOf"])
    if schema.get("type") == "array":
        size = schema.get("maxItems")
        if size and size == schema.get("minItems"):
            return f"{size} numbers"
        return "list"
    return str(schema.get("type", schema.get("const", "object")))


def _argument_default(schema: dict[str, Any], required: bool) -> str:
    if required:
        return "required"
    return f"= {orjson.dumps(schema.get('default')).decode()}"


def macros(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A macro's name, or the beginning of some.", autocompletion=macro_names),
    ] = None,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """List the macros, or show one with its inputs, steps, promises and examples."""
    all_macros = load_macros(Path(workspace).resolve(), catalog.tools())
    if name is not None and name in all_macros:
        macro = all_macros[name]
        return present(
            json, lambda: {**macro.declaration(), "source": macro.source}, lambda out: _show_macro(out, macro)
        )
    chosen = [all_macros[macro_name] for macro_name in names_beginning_with(name, all_macros, "macro")]
    return present(
        json,
        lambda: {
            "version": REGISTRY_VERSION,
            "fingerprint": macro_registry(all_macros.values()).fingerprint,
            "macros": [_summary(macro) for macro in chosen],
        },
        lambda out: out.columns(
            ((macro.name, "bold"), (macro.source, "dim"), macro.document.summary) for macro in chosen
        ),
    )


def _summary(macro: Macro) -> dict[str, Any]:
    return {
        "name": macro.name,
        "version": macro.version,
        "summary": macro.document.summary,
        "source": macro.source,
        "fingerprint": macro.fingerprint,
    }


def _show_macro(out: SafeConsole, macro: Macro) -> None:
    document = macro.document
    out.labelled(macro.name, f"version {macro.version}, {macro.source}", "bold", text_style="dim")
    out.show(document.summary)
    out.show("")
    show_arguments(out, macro.properties, macro.declaration()["inputs"].get("required", ()))
    for number, step in enumerate(document.steps, start=1):
        if step.for_each:
            repetition = f"  for each of {step.for_each}"
        else:
            repetition = ""
        out.labelled(f"  {number:2}  {step.title} ", step.tool + repetition, "", text_style="dim")
    out.show("")
    out.show(f"  safety_level {macro.safety_level.value}")
    out.show(f"  determinism  {macro.determinism.value}")
    if document.rollback:
        rollback = "all steps or none"
    else:
        rollback = "what was done stays"
    out.show(f"  rollback     {rollback}")
    for moment, conditions in (("before", document.preconditions), ("after", document.postconditions)):
        for condition in conditions:
            out.show(f"  {moment:13}{orjson.dumps(condition).decode()}")
    out.show(f"  fingerprint  {macro.fingerprint}", "dim")
    show_examples(out, macro.name, (example.inputs for example in document.examples))


def nodes(
    query: Annotated[
        list[str] | None, typer.Argument(metavar="WORDS", help="A node type, or words to look for.")
    ] = None,
    blender: Version = NEWEST,
    kind: Kind = "geometry",
    json: AsJson = False,
) -> int:
    """List the nodes of a Blender, search them, or show one with its sockets and properties."""
    if blender not in VERSIONS:
        cure = f"One of: {', '.join(VERSIONS)}."
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"there is no catalogue of Blender {blender}", cure)
    if kind not in TREE_KINDS:
        raise Refusal.of(Fault.ARGS_INVALID, f"there are no {kind} nodes", f"One of: {', '.join(TREE_KINDS)}.")
    index = catalogue(blender, kind)
    words = " ".join(query or ())
    page = index.find(words)
    if page is not None:
        return present(
            json, lambda: {"blender": blender, **describe_node_type(page)}, lambda out: _show_node(out, page, index)
        )
    chosen = search(index, words)
    if not chosen:
        message = f"no {kind} node of Blender {blender} has '{words}' in it"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, message, suggest_node_type(index, words))
    entries = [{"bl_idname": node.bl_idname, "label": node.label, "description": node.description} for node in chosen]
    return present(
        json,
        lambda: {"blender": blender, "nodes": entries},
        lambda out: out.columns(((node.bl_idname, "bold"), node.label, (node.description, "dim")) for node in chosen),
    )


def _show_node(out: SafeConsole, node: NodeType, index: Catalogue) -> None:
    out.labelled(node.bl_idname, f"{node.label}, Blender {index.blender}", "bold", text_style="dim")
    if node.description:
        out.show(node.description)
    if node.zone_output:
        out.show(f"Begins a zone that ends with {node.zone_output}: set paired_output to the id of one.")
    if node.zone_input:
        out.show(f"Ends a zone that begins with {node.zone_input}.")
    rows: list[tuple[str, str, str, str]] = []
    for name, prop in node.properties.items():
        if name not in index.common:
            rows.append((prop.name, _kind(prop), _default(prop.default), _choices(node.choices(prop.name, {}))))
    for name, items in node.items.items():
        rows.append((name, "items", "", _choices(items.types)))
    _table(out, "properties", rows)
    for side in ("inputs", "outputs"):
        _table(out, side, _sockets(node, side))
    if node.deciding:
        out.show(f"\nWhich sockets are available depends on {', '.join(node.deciding)}.", "dim")
    out.show(f"\nAll nodes have: {', '.join(index.common)}.", "dim")


def _sockets(node: NodeType, side: str) -> list[tuple[str, str, str, str]]:
    rows: dict[tuple[str, str], tuple[str, str, str, str]] = {}
    for layout in node.layouts_for(node.defaults()) + list(node.layouts):
        if side == "inputs":
            sockets = layout.inputs
        else:
            sockets = layout.outputs
        for socket in sockets:
            if socket.identifier == socket.name:
                name = socket.identifier
            else:
                name = f"{socket.identifier} ({socket.name})"
            notes = ", ".join(_socket_notes(socket))
            row = (name, socket.type.removeprefix("NodeSocket"), _default(socket.default), notes)
            rows.setdefault((socket.identifier, socket.type), row)
    return list(rows.values())


def _socket_notes(socket: SocketType) -> Iterator[str]:
    """Yield remarks on a socket for its row: several links, its range, fields and choices."""
    if socket.multi:
        yield "takes several links"
    if limits := _range(socket):
        yield limits
    if socket.takes == "field" or socket.gives in ("field", "implicit"):
        yield "field"
    if socket.items:
        yield _choices(socket.items)


def _table(out: SafeConsole, title: str, rows: Sequence[tuple[str, str, str, str]]) -> None:
    if rows:
        out.show(f"\n{title}", "bold")
        out.columns((((name, "bold"), kind, (default, "dim"), notes) for name, kind, default, notes in rows), indent=2)


def _kind(prop: Property) -> str:
    if prop.type == "DATABLOCK":
        return f"name of a {prop.kind}"
    kind = prop.type.lower().replace("_", " ")
    if prop.size:
        return f"{kind} x {prop.size}"
    return kind


def _default(value: Any) -> str:
    if value in (None, ""):
        return ""
    if isinstance(value, bool):
        return f"= {str(value).lower()}"
    return f"= {value}"


def _choices(words: Iterable[str]) -> str:
    return " | ".join(words)


def _range(socket: SocketType) -> str:
    if socket.soft_min is None and socket.soft_max is None:
        return ""
    return f"{_limit(socket.soft_min)}..{_limit(socket.soft_max)}"


def _limit(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:g}"


def schemas(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A schema's name, like macro.v1; the newest without a version.",
            autocompletion=published.names,
        ),
    ] = None,
    json: AsJson = False,
) -> int:
    """List the published schemas, or print one, which is always JSON."""
    all_names = published.names()
    if name is not None:
        versions = [schema for schema in all_names if schema == name or schema.rpartition(".")[0] == name]
        if not versions:
            cure = did_you_mean(name, all_names, otherwise="List them all: blendwright schemas")
            raise Refusal.of(Fault.SCHEMA_INVALID, f"there is no schema named '{name}'", cure)
        print_json(published.schema(max(versions, key=_version_of)))
        return Exit.DONE
    entries = [
        {
            "name": schema,
            "version": _version_of(schema),
            "id": published.schema(schema)["$id"],
            "title": _title_of(schema),
        }
        for schema in all_names
    ]
    return present(
        json,
        lambda: {"schemas": entries},
        lambda out: out.columns(((str(entry["name"]), "bold"), str(entry["title"])) for entry in entries),
    )


def _version_of(name: str) -> int:
    return int(name.rpartition(".v")[2])


def _title_of(name: str) -> str:
    schema = published.schema(name)
    return str(schema.get("description") or schema.get("title") or "").partition("\n")[0]
