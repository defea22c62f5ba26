"""blendwright nodes: the node types that a geometry tree takes, or one type's page. No Blender is needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer
from rich.text import Text

from blendwright.cli.output import AsJson, Columns, Exit, console, print_json
from blendwright.nodes.catalogue.describe import describe_node_type
from blendwright.nodes.catalogue.load import NEWEST, VERSIONS, Catalogue, catalogue
from blendwright.nodes.catalogue.model import NodeType, Property, SocketType
from blendwright.nodes.catalogue.search import search, suggest_node_type
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

Version = Annotated[str, typer.Option("--blender", metavar="VERSION", help=f"Which Blender: {', '.join(VERSIONS)}.")]


def nodes(
    query: Annotated[
        list[str] | None, typer.Argument(metavar="WORDS", help="A node type, or words to look for.")
    ] = None,
    blender: Version = NEWEST,
    json: AsJson = False,
) -> int:
    """List the geometry nodes of a Blender, search them, or show one with its sockets and properties."""
    if blender not in VERSIONS:
        raise _refusal(f"there is no catalogue of Blender {blender}", f"One of: {', '.join(VERSIONS)}.")
    known, words = catalogue(blender), " ".join(query or ())
    page = known.find(words)
    if page is not None:
        print_json({"blender": blender, **describe_node_type(page)}) if json else _show(page, known)
        return Exit.DONE
    chosen = search(known, words)
    if not chosen:
        raise _refusal(f"no node of Blender {blender} has '{words}' in it", suggest_node_type(known, words))
    if json:
        listed = [
            {"bl_idname": node.bl_idname, "label": node.label, "description": node.description} for node in chosen
        ]
        print_json({"blender": blender, "nodes": listed})
        return Exit.DONE
    table = Columns()
    for node in chosen:
        table.row(Text(node.bl_idname, style="bold"), Text(node.label), Text(node.description, style="dim"))
    console().print(table)
    return Exit.DONE


def _refusal(message: str, cure: str) -> Refusal:
    return Refusal([Finding(Fault.TARGET_NOT_FOUND, message, "", cure)])


def _show(node: NodeType, known: Catalogue) -> None:
    out = console()
    out.print(Text(f"{node.bl_idname} ", style="bold").append(f"{node.label}, Blender {known.blender}", style="dim"))
    if node.description:
        out.print(Text(node.description))
    if node.zone_output:
        out.print(Text(f"Begins a zone that ends with {node.zone_output}: set paired_output to the id of one."))
    if node.zone_input:
        out.print(Text(f"Ends a zone that begins with {node.zone_input}."))
    own = [prop for name, prop in node.properties.items() if name not in known.common]
    rows = [(prop.name, _kind(prop), _default(prop.default), _choices(node.choices(prop.name, {}))) for prop in own]
    rows += [(name, "items", "", _choices(items.types)) for name, items in node.items.items()]
    _table("properties", rows)
    for side in ("inputs", "outputs"):
        _table(side, _sockets(node, side))
    if node.deciding:
        out.print(Text(f"\nWhich sockets are available depends on {', '.join(node.deciding)}.", style="dim"))
    out.print(Text(f"\nAll nodes have: {', '.join(known.common)}.", style="dim"))


def _sockets(node: NodeType, side: str) -> list[tuple[str, str, str, str]]:
    rows: dict[tuple[str, str], tuple[str, str, str, str]] = {}
    for layout in node.layouts_for(node.defaults()) + list(node.layouts):
        for socket in layout.inputs if side == "inputs" else layout.outputs:
            name = socket.identifier if socket.identifier == socket.name else f"{socket.identifier} ({socket.name})"
            notes = [*(["takes several links"] if socket.multi else []), *([_range(socket)] if _range(socket) else [])]
            notes += ["field"] if socket.takes == "field" or socket.gives in ("field", "implicit") else []
            notes += [_choices(socket.items)] if socket.items else []
            row = (name, socket.type.removeprefix("NodeSocket"), _default(socket.default), ", ".join(notes))
            rows.setdefault((socket.identifier, socket.type), row)
    return list(rows.values())


def _table(title: str, rows: Iterable[tuple[str, str, str, str]]) -> None:
    listed = list(rows)
    if not listed:
        return
    console().print(Text(f"\n{title}", style="bold"))
    table = Columns(indent=2)
    for name, kind, default, notes in listed:
        table.row(Text(name, style="bold"), Text(kind), Text(default, style="dim"), Text(notes))
    console().print(table)


def _kind(prop: Property) -> str:
    if prop.type == "DATABLOCK":
        return f"name of a {prop.kind}"
    return f"{prop.type.lower()}{f' x {prop.size}' if prop.size else ''}".replace("_", " ")


def _default(value: Any) -> str:
    return "" if value in (None, "") else f"= {str(value).lower() if isinstance(value, bool) else value}"


def _choices(words: Iterable[str]) -> str:
    return " | ".join(words)


def _range(socket: SocketType) -> str:
    if socket.soft_min is None and socket.soft_max is None:
        return ""
    return f"{'' if socket.soft_min is None else f'{socket.soft_min:g}'}..{'' if socket.soft_max is None else f'{socket.soft_max:g}'}"
