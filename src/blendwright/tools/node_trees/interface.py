"""Writes and reads the interface of a node group: its input and output sockets and their panels.

Sockets of one side may share a name; then the second one of that name in an edit is the second one in the group. A panel is named
by its path and stands where its first socket stands.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from blendwright.nodes.catalogue.model import Side
from blendwright.nodes.edits import SetInterface
from blendwright.nodes.payloads import InterfaceSocket, positions_named
from blendwright.tool_api.scene import Block, Scene
from blendwright.tools.node_trees import values
from blendwright.tools.node_trees.values import invalid, to_json
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import did_you_mean

SIDES: dict[str, Side] = {"INPUT": "inputs", "OUTPUT": "outputs"}
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
    """Writes the interface of a tree. Defaults of menus wait for `finish`, when the tree says which items there are."""

    def __init__(self, scene: Scene, tree: Block) -> None:
        self._scene = scene
        self._tree = tree
        self._menus: list[tuple[str, str, str]] = []

    def write(self, edit: SetInterface) -> None:
        for side, name in SIDES.items():
            for number, key in enumerate(edit.removed[name]):
                self._tree.interface.remove(self._find(side, key, f"{edit.at}/remove_{name}/{number}"))
        # Outputs come first, as in Blender's own new trees.
        for side, name in reversed(SIDES.items()):
            if (requested := edit.listed[name]) is not None:
                self._write_side(side, requested, edit.replace, f"{edit.at}/{name}")

    def finish(self) -> None:
        """Menus, once their items are known."""
        for identifier, value, at in self._menus:
            for socket in self._tree.interface.items_tree:
                if getattr(socket, "identifier", None) == identifier:
                    values.write_socket_value(self._scene, socket, "MENU", value, at)

    def _find(self, side: str, key: str, at: str) -> Block:
        existing = interface_sockets(self._tree, side)
        names = [one.name for one in existing]
        matches = [one for one in existing if one.identifier == key]
        matches = matches or [existing[position] for position in positions_named(names, key)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            identifiers = ", ".join(one.identifier for one in matches)
            message = f"{len(matches)} {SIDES[side]} of the group are called '{key}'"
            raise invalid(message, at, f"Use an identifier: {identifiers}.")
        cure = did_you_mean(key, names, otherwise=f"It has: {', '.join(names) or 'none'}.")
        raise StepError.of(Fault.TARGET_NOT_FOUND, f"the group has no {side.lower()} '{key}'", at=at, cure=cure)

    def _write_side(self, side: str, requested: Sequence[InterfaceSocket], replace: bool, at: str) -> None:
        interface = self._tree.interface
        existing = [(one.name, one.identifier) for one in interface_sockets(self._tree, side)]
        matched: list[str] = []
        for number, request in enumerate(requested):
            socket_at = f"{at}/{number}"
            free = [identifier for name, identifier in existing if name == request.name and identifier not in matched]
            with _known_type(request, socket_at):
                if free:
                    socket = self._by_identifier(free[0])
                else:
                    socket = interface.new_socket(request.name, in_out=side, socket_type=request.socket_type)
                matched.append(socket.identifier)
                if socket.socket_type != request.socket_type:
                    socket.socket_type = request.socket_type
            self._fill(self._by_identifier(matched[-1]), request, socket_at)
        if replace:
            for _, identifier in existing:
                if identifier not in matched:
                    interface.remove(self._by_identifier(identifier))
        self._arrange(matched, requested, replace)

    def _by_identifier(self, identifier: str) -> Block:
        return next(one for one in self._tree.interface.items_tree if getattr(one, "identifier", None) == identifier)

    def _fill(self, socket: Block, request: InterfaceSocket, at: str) -> None:
        for field, name in FIELDS.items():
            value = getattr(request, field)
            if value is None:
                continue
            if not hasattr(socket, name):
                message = f"a socket of type {request.socket_type} has no '{field}'"
                raise invalid(message, f"{at}/{field}", "Leave it out.")
            if to_json(getattr(socket, name)) == value:
                continue
            if name in RANGE and isinstance(getattr(socket, name), int):
                rounded = int(value)
            else:
                rounded = value
            values.write_attribute(socket, name, value, rounded, f"'{field}'", f"{at}/{field}")
        if request.default is None:
            return
        if not hasattr(socket, "default_value"):
            raise invalid(f"a socket of type {request.socket_type} has no default", f"{at}/default", "Leave it out.")
        kind = request.socket_type.removeprefix("NodeSocket").upper()
        if kind == "MENU":
            self._menus.append((socket.identifier, str(request.default), f"{at}/default"))
        else:
            values.write_socket_value(self._scene, socket, kind, request.default, f"{at}/default")

    # ------------------------------------------------------------------ order and panels

    def _arrange(self, matched: Sequence[str], requested: Sequence[InterfaceSocket], replace: bool) -> None:
        interface = self._tree.interface
        for identifier, request in zip(matched, requested, strict=True):
            if request.panel is not None:
                socket = self._by_identifier(identifier)
                if panel_path(socket) != request.panel:
                    interface.move_to_parent(socket, self._panel(request.panel), len(interface.items_tree))
        if replace:
            self._order(matched)
        for panel in [item for item in interface.items_tree if item.item_type == "PANEL" and not item.interface_items]:
            interface.remove(panel)

    def _order(self, matched: Sequence[str]) -> None:
        """Move sockets so that they come in the order of the list, each within its panel."""
        interface = self._tree.interface
        current = [item.identifier for item in interface.items_tree if getattr(item, "identifier", None) in matched]
        if current == list(matched):
            return
        for identifier in matched:
            socket = self._by_identifier(identifier)
            interface.move_to_parent(socket, socket.parent, len(socket.parent.interface_items))

    def _panel(self, path: Sequence[str]) -> Block | None:
        """The panel of a path, made where it is missing; None for no panel."""
        interface = self._tree.interface
        if not path:
            return None
        for item in interface.items_tree:
            if item.item_type == "PANEL" and [*panel_path(item), item.name] == list(path):
                return item
        parent = self._panel(path[:-1])
        panel = interface.new_panel(path[-1])
        if parent is not None:
            interface.move_to_parent(panel, parent, len(interface.items_tree))
        return panel


@contextmanager
def _known_type(request: InterfaceSocket, at: str) -> Generator[None, None, None]:
    try:
        yield
    except TypeError as error:
        message = f"a group has no sockets of type '{request.socket_type}'"
        raise values.refused_by_blender(message, error, f"{at}/socket_type") from error


def panel_path(item: Block) -> list[str]:
    """The names of the panels around an item, the outermost first."""
    path: list[str] = []
    parent = item.parent
    while parent is not None and parent.index >= 0:
        path.insert(0, parent.name)
        parent = parent.parent
    return path


# ---------------------------------------------------------------------- reading


def read_interface(tree: Block, side: str, defaults: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The sockets of one side as a payload describes them; `defaults` is what new sockets hold, by type."""
    return [_changed_fields(socket, defaults.get(socket.socket_type, {})) for socket in interface_sockets(tree, side)]


def read_socket(socket: Block) -> dict[str, Any]:
    """All fields that a socket has."""
    fields = {field: to_json(getattr(socket, name)) for field, name in FIELDS.items() if hasattr(socket, name)}
    if hasattr(socket, "default_value"):
        fields["default"] = to_json(socket.default_value)
    return fields


def _changed_fields(socket: Block, defaults: dict[str, Any]) -> dict[str, Any]:
    fields = {field: value for field, value in read_socket(socket).items() if defaults.get(field) != value}
    path = panel_path(socket)
    return {"name": socket.name, "socket_type": socket.socket_type, **fields, **({"panel": path} if path else {})}
