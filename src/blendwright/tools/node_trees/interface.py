"""The sockets of a node group: what a payload asks of them, and how they are read back.

Sockets of one side may share a name; then the second one that is asked for is the second one there is. Panels are named by their
path and stand where their first socket stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from blendwright.nodes.payloads.node_tree import SetGroupIO
from blendwright.nodes.payloads.parts import InterfaceSocket
from blendwright.tool_api.scene import Block, Scene
from blendwright.tools.node_trees.sockets import NUMBERED
from blendwright.tools.node_trees.values import refused_by_blender, to_json, write_socket_value
from blendwright.tools.readback import same
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import did_you_mean

SIDES = {"INPUT": "inputs", "OUTPUT": "outputs"}
# Field of the payload -> Blender's name. In the order in which they must be written: the range before the value.
FIELDS = {
    "subtype": "subtype",
    "dimensions": "dimensions",
    "min": "min_value",
    "max": "max_value",
    "description": "description",
    "default_attribute_name": "default_attribute_name",
    "attribute_domain": "attribute_domain",
    "structure_type": "structure_type",
    "default_input": "default_input",
    "hide_value": "hide_value",
    "hide_in_modifier": "hide_in_modifier",
}
RANGE = frozenset({"min_value", "max_value"})


def interface_sockets(tree: Block, side: str) -> list[Block]:
    """The sockets of one side, in order."""
    return [item for item in tree.interface.items_tree if item.item_type == "SOCKET" and item.in_out == side]


class InterfaceEditor:
    """Brings the interface of a tree to what is asked; defaults of menus wait until the tree says which items there are."""

    def __init__(self, scene: Scene, tree: Block) -> None:
        self._scene = scene
        self._tree = tree
        self._menus: list[tuple[str, str, str]] = []

    def write(self, asked: SetGroupIO, at: str) -> None:
        for side, keys, place in (
            ("INPUT", asked.remove_inputs, f"{at}/remove_inputs"),
            ("OUTPUT", asked.remove_outputs, f"{at}/remove_outputs"),
        ):
            for number, key in enumerate(keys):
                self._tree.interface.remove(self._find(side, key, f"{place}/{number}"))
        # Outputs come first, as in Blender's own new trees.
        for side, wanted in (("OUTPUT", asked.outputs), ("INPUT", asked.inputs)):
            if wanted is not None:
                self._side(side, wanted, asked.replace, f"{at}/{SIDES[side]}")

    def finish(self) -> None:
        """Menus, once their items are known."""
        for identifier, value, at in self._menus:
            for socket in self._tree.interface.items_tree:
                if getattr(socket, "identifier", None) == identifier:
                    write_socket_value(self._scene, socket, "MENU", value, at)

    def _find(self, side: str, key: str, at: str) -> Block:
        there = interface_sockets(self._tree, side)
        found = [one for one in there if one.identifier == key] or [one for one in there if one.name == key]
        numbered = NUMBERED.match(key)
        if not found and numbered:
            same_name = [one for one in there if one.name == numbered[1]]
            found = same_name[int(numbered[2]) - 1 : int(numbered[2])]
        if len(found) == 1:
            return found[0]
        if found:
            known = ", ".join(one.identifier for one in found)
            message = f"{len(found)} {SIDES[side]} of the group are called '{key}'"
            raise StepError.of(Fault.ARGS_INVALID, message, at=at, cure=f"Use an identifier: {known}.")
        names = [one.name for one in there]
        cure = did_you_mean(key, names, otherwise=f"It has: {', '.join(names) or 'none'}.")
        raise StepError.of(Fault.TARGET_NOT_FOUND, f"the group has no {side.lower()} '{key}'", at=at, cure=cure)

    def _side(self, side: str, wanted: Sequence[InterfaceSocket], replace: bool, at: str) -> None:
        there = [(one.name, one.identifier) for one in interface_sockets(self._tree, side)]
        matched: list[str] = []
        for number, ask in enumerate(wanted):
            place = f"{at}/{number}"
            free = [identifier for name, identifier in there if name == ask.name and identifier not in matched]
            socket = self._by_identifier(free[0]) if free else self._add(side, ask, place)
            matched.append(socket.identifier)
            self._retype(socket, ask, place)
            self._fill(self._by_identifier(matched[-1]), ask, place)
        if replace:
            for _, identifier in there:
                if identifier not in matched:
                    self._tree.interface.remove(self._by_identifier(identifier))
        self._arrange(matched, wanted, replace)

    def _by_identifier(self, identifier: str) -> Block:
        return next(one for one in self._tree.interface.items_tree if getattr(one, "identifier", None) == identifier)

    def _add(self, side: str, ask: InterfaceSocket, at: str) -> Block:
        try:
            return self._tree.interface.new_socket(ask.name, in_out=side, socket_type=ask.socket_type)
        except TypeError as error:
            place = f"{at}/socket_type"
            raise refused_by_blender(f"a group has no sockets of type '{ask.socket_type}'", error, place) from error

    def _retype(self, socket: Block, ask: InterfaceSocket, at: str) -> None:
        if socket.socket_type == ask.socket_type:
            return
        try:
            socket.socket_type = ask.socket_type
        except TypeError as error:
            place = f"{at}/socket_type"
            raise refused_by_blender(f"a group has no sockets of type '{ask.socket_type}'", error, place) from error

    def _fill(self, socket: Block, ask: InterfaceSocket, at: str) -> None:
        for field, name in FIELDS.items():
            value = getattr(ask, field)
            if value is None:
                continue
            if not hasattr(socket, name):
                message = f"a socket of type {ask.socket_type} has no '{field}'"
                raise StepError.of(Fault.ARGS_INVALID, message, at=f"{at}/{field}", cure="Leave it out.")
            if to_json(getattr(socket, name)) == value:
                continue
            wanted = int(value) if name in RANGE and isinstance(getattr(socket, name), int) else value
            try:
                setattr(socket, name, wanted)
            except (TypeError, ValueError) as error:
                raise refused_by_blender(f"'{field}' does not take {value!r}", error, f"{at}/{field}") from error
            if not same(value, to_json(getattr(socket, name))):
                held = to_json(getattr(socket, name))
                message = f"'{field}' is {held!r} after {value!r} was given"
                raise StepError.of(Fault.ARGS_INVALID, message, at=f"{at}/{field}")
        if ask.default is not None:
            self._default(socket, ask, f"{at}/default")

    def _default(self, socket: Block, ask: InterfaceSocket, at: str) -> None:
        if not hasattr(socket, "default_value"):
            message = f"a socket of type {ask.socket_type} has no default"
            raise StepError.of(Fault.ARGS_INVALID, message, at=at, cure="Leave it out.")
        kind = ask.socket_type.removeprefix("NodeSocket").upper()
        if kind == "MENU":
            self._menus.append((socket.identifier, str(ask.default), at))
        else:
            write_socket_value(self._scene, socket, kind, ask.default, at)

    # ------------------------------------------------------------------ order and panels

    def _arrange(self, matched: Sequence[str], wanted: Sequence[InterfaceSocket], replace: bool) -> None:
        interface = self._tree.interface
        for identifier, ask in zip(matched, wanted, strict=True):
            if ask.panel is not None:
                socket = self._by_identifier(identifier)
                if panel_path(socket) != ask.panel:
                    interface.move_to_parent(socket, self._panel(ask.panel), len(interface.items_tree))
        if replace:
            self._order(matched)
        for panel in [item for item in interface.items_tree if item.item_type == "PANEL" and not item.interface_items]:
            interface.remove(panel)

    def _order(self, matched: Sequence[str]) -> None:
        """Move sockets so that they come in the order of the list, each within its panel."""
        interface = self._tree.interface
        held = [item.identifier for item in interface.items_tree if getattr(item, "identifier", None) in matched]
        if held == list(matched):
            return
        for identifier in matched:
            socket = self._by_identifier(identifier)
            interface.move_to_parent(socket, socket.parent, len(socket.parent.interface_items))

    def _panel(self, path: Sequence[str]) -> Block | None:
        """The panel of a path, made where it is missing; None for no panel."""
        interface = self._tree.interface
        parent: Block | None = None
        for depth in range(1, len(path) + 1):
            known = [
                item
                for item in interface.items_tree
                if item.item_type == "PANEL" and [*panel_path(item), item.name] == list(path[:depth])
            ]
            if known:
                parent = known[0]
                continue
            made = interface.new_panel(path[depth - 1])
            if parent is not None:
                interface.move_to_parent(made, parent, len(interface.items_tree))
            parent = made
        return parent


def panel_path(item: Block) -> list[str]:
    """The names of the panels around an item, the outermost first."""
    path: list[str] = []
    parent = item.parent
    while parent is not None and parent.index >= 0:
        path.insert(0, parent.name)
        parent = parent.parent
    return path


# ---------------------------------------------------------------------- reading


def read_interface(tree: Block, side: str, fresh: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The sockets of one side as a payload asks for them; `fresh` is what new sockets hold, by type."""
    return [_exported(socket, fresh.get(socket.socket_type, {})) for socket in interface_sockets(tree, side)]


def read_socket(socket: Block) -> dict[str, Any]:
    """All fields that a socket has."""
    found = {field: to_json(getattr(socket, name)) for field, name in FIELDS.items() if hasattr(socket, name)}
    if hasattr(socket, "default_value"):
        found["default"] = to_json(socket.default_value)
    return found


def _exported(socket: Block, fresh: dict[str, Any]) -> dict[str, Any]:
    found = {field: value for field, value in read_socket(socket).items() if fresh.get(field) != value}
    path = panel_path(socket)
    return {"name": socket.name, "socket_type": socket.socket_type, **found, **({"panel": path} if path else {})}
