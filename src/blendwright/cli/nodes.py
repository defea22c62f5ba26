"""blendwright nodes: the node types that a geometry tree takes, or one type's page. No Blender is needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer

from blendwright.cli.options import AsJson
from blendwright.cli.output import present
from blendwright.cli.safe_console import SafeConsole
from blendwright.nodes.catalogue.load import NEWEST, VERSIONS, Catalogue, catalogue
from blendwright.nodes.catalogue.model import NodeType, Property, SocketType
from blendwright.nodes.catalogue.search import describe_node_type, search, suggest_node_type
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

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
        cure = f"One of: {', '.join(VERSIONS)}."
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"there is no catalogue of Blender {blender}", cure)
    known, words = catalogue(blender), " ".join(query or ())
    page = known.find(words)
    if page is not None:
        return present(
            json, lambda: {"blender": blender, **describe_node_type(page)}, lambda out: _show(out, page, known)
        )
    chosen = search(known, words)
    if not chosen:
        message = f"no node of Blender {blender} has '{words}' in it"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, message, suggest_node_type(known, words))
    listed = [{"bl_idname": node.bl_idname, "label": node.label, "description": node.description} for node in chosen]
    return present(
        json,
        lambda: {"blender": blender, "nodes": listed},
        lambda out: out.columns(((node.bl_idname, "bold"), node.label, (node.description, "dim")) for node in chosen),
    )


def _show(out: SafeConsole, node: NodeType, known: Catalogue) -> None:
    out.labelled(node.bl_idname, f"{node.label}, Blender {known.blender}", "bold", text_style="dim")
    if node.description:
        out.show(node.description)
    if node.zone_output:
        out.show(f"Begins a zone that ends with {node.zone_output}: set paired_output to the id of one.")
    if node.zone_input:
        out.show(f"Ends a zone that begins with {node.zone_input}.")
    own = [prop for name, prop in node.properties.items() if name not in known.common]
    rows = [(prop.name, _kind(prop), _default(prop.default), _choices(node.choices(prop.name, {}))) for prop in own]
    rows += [(name, "items", "", _choices(items.types)) for name, items in node.items.items()]
    _table(out, "properties", rows)
    for side in ("inputs", "outputs"):
        _table(out, side, _sockets(node, side))
    if node.deciding:
        out.show(f"\nWhich sockets are available depends on {', '.join(node.deciding)}.", "dim")
    out.show(f"\nAll nodes have: {', '.join(known.common)}.", "dim")


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


def _table(out: SafeConsole, title: str, rows: Sequence[tuple[str, str, str, str]]) -> None:
    if rows:
        out.show(f"\n{title}", "bold")
        out.columns((((name, "bold"), kind, (default, "dim"), notes) for name, kind, default, notes in rows), indent=2)


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
