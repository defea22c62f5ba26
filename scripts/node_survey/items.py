"""The lists of items that some nodes have, and the sockets that an item brings, found by adding one of each type."""

from __future__ import annotations

from typing import Any

from node_survey.properties import describe
from node_survey.scratch import Scratch, choices
from node_survey.sockets import real_sockets

TYPE_KEYS = ("socket_type", "data_type")
TRIAL = "Trial item"
# Colours of the editor, and what follows from the rest.
EDITOR = ("color", "active", "rna_type")


def item_lists(scratch: Scratch, bl_idname: str, partner: str | None) -> dict[str, Any]:
    """The lists of a node type by name. `partner` is the input node of the zone that the node ends, where it does."""
    with scratch.node(bl_idname) as node:
        names = [prop.identifier for prop in node.bl_rna.properties if prop.type == "COLLECTION"
                 and hasattr(getattr(node, prop.identifier), "new") and prop.identifier not in ("inputs", "outputs")]  # fmt: skip
        return {name: _described(scratch, bl_idname, partner, name) for name in names}


def _described(scratch: Scratch, bl_idname: str, partner: str | None, name: str) -> dict[str, Any]:
    with scratch.node(bl_idname) as node:
        at_first = [_as_data(item) for item in getattr(node, name)]
        _clear(getattr(node, name))
        item = _new(getattr(node, name))
        properties = {
            prop.identifier: describe(item, prop)
            for prop in item.bl_rna.properties
            if prop.identifier not in EDITOR and not prop.is_readonly and prop.type != "POINTER"
        }
        properties.pop("name", None)
        named = hasattr(item, "name") and not item.bl_rna.properties["name"].is_readonly
        key = next((key for key in TYPE_KEYS if key in properties), None)
        types = choices(item, key) if key else []
    found: dict[str, Any] = {"properties": properties, "named": named, "sockets": [], "default": at_first}
    if key:
        found |= {"type_key": key, "types": {}}
        properties.pop(key)
    for kind in types or [None]:
        added = _sockets_of(scratch, bl_idname, partner, name, key, kind)
        if added is None:
            continue
        if key:
            # The first socket that follows the item's type says what that type is.
            found["types"][kind] = added[0]["type"]
        if not found["sockets"]:
            found["sockets"] = added
        elif key:
            for socket, other in zip(found["sockets"], added, strict=False):
                if socket["type"] != other["type"]:
                    socket["type"] = "item"
    if not key:
        _follow_node_type(scratch, bl_idname, name, found)
    return found


def _sockets_of(
    scratch: Scratch, bl_idname: str, partner: str | None, name: str, key: str | None, kind: str | None
) -> list[dict[str, Any]] | None:
    with scratch.node(bl_idname) as node:
        other = scratch.tree.nodes.new(partner) if partner else None
        try:
            if other is not None:
                other.pair_with_output(node)
            _clear(getattr(node, name))
            before = _present(node, other)
            item = _new(getattr(node, name))
            if key:
                try:
                    setattr(item, key, kind)
                except TypeError:
                    return None
            after = _present(node, other)
        finally:
            if other is not None:
                scratch.tree.nodes.remove(other)
    return [{"on": place[0], "side": place[1], "type": kind} for place, kind in after.items() if place not in before]


def _follow_node_type(scratch: Scratch, bl_idname: str, name: str, found: dict[str, Any]) -> None:
    """Where items have no type of their own: does that of their sockets follow the node's data_type?"""
    with scratch.node(bl_idname) as node:
        if not hasattr(node, "data_type"):
            return
        other = next(option for option in choices(node, "data_type") if option != node.data_type)
        node.data_type = other
        _clear(getattr(node, name))
        before = _present(node, None)
        _new(getattr(node, name))
        after = [kind for place, kind in _present(node, None).items() if place not in before]
        for socket, kind in zip(found["sockets"], after, strict=True):
            if socket["type"] != kind:
                socket["type"] = "data_type"


def _present(node: Any, partner: Any) -> dict[tuple[str, str, str], str]:
    found: dict[tuple[str, str, str], str] = {}
    for role, each in (("self", node), ("partner", partner)):
        for side in ("inputs", "outputs") if each is not None else ():
            for socket in real_sockets(getattr(each, side)):
                found[role, side, socket.identifier] = socket.bl_idname
    return found


def _clear(items: Any) -> None:
    while len(items):
        items.remove(items[0])


def _new(items: Any) -> Any:
    """Another item; the lists differ in what they ask for."""
    wanted = [each.identifier for each in items.bl_rna.functions["new"].parameters if not each.is_output]
    for kind in ("FLOAT", "GEOMETRY"):
        given = {"socket_type": kind, "name": TRIAL}
        try:
            return items.new(**{name: given[name] for name in wanted if name in given})
        except (TypeError, RuntimeError):
            continue
    raise AssertionError(f"no item can be added to {items}")


def _as_data(item: Any) -> dict[str, Any]:
    keys = [key for key in ("name", *TYPE_KEYS) if key in item.bl_rna.properties]
    return {key: getattr(item, key) for key in keys if not item.bl_rna.properties[key].is_readonly}
