"""blendwright tools, macros, nodes, schemas: what there is to be used, listed or one page of it. No Blender is needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    """List the tools, or those that do something, or show one with its arguments, promises and examples."""
    all_tools = catalog.tools()
    if name is not None and name in all_tools:
        tool = all_tools[name]
        return present(json, tool.declaration, lambda out: _show_tool(out, tool))
    chosen = [tool for each, tool in all_tools.items() if each.startswith(name or "")]
    if not chosen and name is not None:
        chosen = _searched(name, all_tools)
    listed = [{"name": tool.name, "version": tool.version, "summary": tool.summary()} for tool in chosen]
    return present(
        json,
        lambda: {"fingerprint": catalog.fingerprint(), "tools": listed},
        lambda out: out.columns(
            ((tool.name, "bold"), (tool.safety_level.value, "dim"), tool.summary()) for tool in chosen
        ),
    )


def _searched(query: str, all_tools: Mapping[str, AnyTool]) -> list[AnyTool]:
    """The tools that words ask for. Raises Refusal where no tool does it, with what can."""
    found = find_tools(query, map(searchable, all_tools.values()))
    if "." in query and " " not in query.strip():
        # The name of a tool, and of none that there is.
        cure = did_you_mean(query, all_tools, otherwise="List them all: blendwright tools")
        raise Refusal.of(Fault.TOOL_NOT_ALLOWED, f"there is no tool '{query[:100]}'", cure)
    if found.message:
        near = did_you_mean(query, all_tools, otherwise="List them all: blendwright tools")
        raise Refusal.of(Fault.TOOL_NOT_ALLOWED, f"there is no tool for '{query[:100]}'", f"{found.message} {near}")
    return [all_tools[each] for each in found.names]


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
    """All names, or those that begin so. Raises Refusal, with a name that is near, when there is none."""
    names = list(candidates)
    chosen = [name for name in names if name.startswith(start or "")]
    if not chosen:
        cure = did_you_mean(str(start), names, otherwise=f"List them all: blendwright {what}s")
        raise Refusal.of(Fault.TOOL_NOT_ALLOWED, f"there is no {what} named '{start}'", cure)
    return chosen


def show_arguments(out: SafeConsole, properties: Mapping[str, dict[str, Any]], required: Iterable[str]) -> None:
    """The arguments of a tool or the inputs of a macro."""
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
    """Calls as they can be typed."""
    out.show("")
    for args in examples:
        out.show(f"  blendwright call {name} --args '{orjson.dumps(args).decode()}'")


def _type_of(schema: dict[str, Any]) -> str:
    """A schema in a word, for a table."""
    if "enum" in schema:
        return " | ".join(str(choice) for choice in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type_of(part) for part in schema["anyOf"])
    if schema.get("type") == "array":
        if schema.get("maxItems") == schema.get("minItems"):
            size = schema.get("maxItems")
        else:
            size = None
        if size:
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
    chosen = [all_macros[each] for each in names_beginning_with(name, all_macros, "macro")]
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
            each = f"  for each of {step.for_each}"
        else:
            each = ""
        out.labelled(f"  {number:2}  {step.title} ", step.tool + each, "", text_style="dim")
    out.show("")
    out.show(f"  safety_level {macro.safety_level.value}")
    out.show(f"  determinism  {macro.determinism.value}")
    out.show(f"  rollback     {'all steps or none' if macro.document.rollback else 'what was done stays'}")
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
    index, words = catalogue(blender, kind), " ".join(query or ())
    page = index.find(words)
    if page is not None:
        return present(
            json, lambda: {"blender": blender, **describe_node_type(page)}, lambda out: _show_node(out, page, index)
        )
    chosen = search(index, words)
    if not chosen:
        message = f"no {kind} node of Blender {blender} has '{words}' in it"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, message, suggest_node_type(index, words))
    listed = [{"bl_idname": node.bl_idname, "label": node.label, "description": node.description} for node in chosen]
    return present(
        json,
        lambda: {"blender": blender, "nodes": listed},
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
    own = [prop for name, prop in node.properties.items() if name not in index.common]
    rows = [(prop.name, _kind(prop), _default(prop.default), _choices(node.choices(prop.name, {}))) for prop in own]
    rows += [(name, "items", "", _choices(items.types)) for name, items in node.items.items()]
    _table(out, "properties", rows)
    for side in ("inputs", "outputs"):
        _table(out, side, _sockets(node, side))
    if node.deciding:
        out.show(f"\nWhich sockets are available depends on {', '.join(node.deciding)}.", "dim")
    out.show(f"\nAll nodes have: {', '.join(index.common)}.", "dim")


def _sockets(node: NodeType, side: str) -> list[tuple[str, str, str, str]]:
    rows: dict[tuple[str, str], tuple[str, str, str, str]] = {}
    for layout in node.layouts_for(node.defaults()) + list(node.layouts):
        for socket in layout.inputs if side == "inputs" else layout.outputs:
            if socket.identifier == socket.name:
                name = socket.identifier
            else:
                name = f"{socket.identifier} ({socket.name})"
            notes = [*(["takes several links"] if socket.multi else []), *([_range(socket)] if _range(socket) else [])]
            notes += ["field"] if socket.takes == "field" or socket.gives in ("field", "implicit") else []
            notes += [_choices(socket.items)] if socket.items else []
            row = (name, socket.type.removeprefix("NodeSocket"), _default(socket.default), ", ".join(notes))
            rows.setdefault((socket.identifier, socket.type), row)
    return list(rows.values())


def _table(out: SafeConsole, title: str, rows: Sequence[tuple[str, str, str, str]]) -> None:
    if rows:
        out.show(f"\n{title}", "bold")
        out.columns((((name, "bold"), kind, (default, "dim"), notes) for name, kind, default, notes in rows), indent=2)


def _kind(prop: Property) -> str:
    if prop.type == "DATABLOCK":
        return f"name of a {prop.kind}"
    return f"{prop.type.lower()}{f' x {prop.size}' if prop.size else ''}".replace("_", " ")


def _default(value: Any) -> str:
    if value in (None, ""):
        return ""
    return f"= {str(value).lower() if isinstance(value, bool) else value}"


def _choices(words: Iterable[str]) -> str:
    return " | ".join(words)


def _range(socket: SocketType) -> str:
    if socket.soft_min is None and socket.soft_max is None:
        return ""
    return f"{'' if socket.soft_min is None else f'{socket.soft_min:g}'}..{'' if socket.soft_max is None else f'{socket.soft_max:g}'}"


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
        versions = [each for each in all_names if each == name or each.rpartition(".")[0] == name]
        if not versions:
            cure = did_you_mean(name, all_names, otherwise="List them all: blendwright schemas")
            raise Refusal.of(Fault.SCHEMA_INVALID, f"there is no schema named '{name}'", cure)
        print_json(published.schema(max(versions, key=_version_of)))
        return Exit.DONE
    listed = [
        {"name": each, "version": _version_of(each), "id": published.schema(each)["$id"], "title": _title_of(each)}
        for each in all_names
    ]
    return present(
        json,
        lambda: {"schemas": listed},
        lambda out: out.columns(((str(entry["name"]), "bold"), str(entry["title"])) for entry in listed),
    )


def _version_of(name: str) -> int:
    return int(name.rpartition(".v")[2])


def _title_of(name: str) -> str:
    schema = published.schema(name)
    return str(schema.get("description") or schema.get("title") or "").partition("\n")[0]
