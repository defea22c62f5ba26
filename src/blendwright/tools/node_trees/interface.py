"""Writing and reading of a node group's interface: its input and output sockets and their panels.

Sockets of one side may share a name; then the second one of that name in an edit is the second one in the group. A panel
is identified by its path, and its position is the position of its first socket.
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
# Field of the payload -> Blender's name, in the order of writing: the range before the value.
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
    """Return the interface sockets of one side, INPUT or OUTPUT, in order."""
    return [item for item in tree.interface.items_tree if item.item_type == "SOCKET" and item.in_out == side]


class InterfaceEditor:
    """A writer for the interface of a tree. It delays defaults of menus until `finish`, when the tree has their items."""

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
            requested = edit.listed[name]
            if requested is not None:
                self._write_side(side, requested, edit.replace, f"{edit.at}/{name}")

    def finish(self) -> None:
        """Write the delayed defaults of menus."""
        for identifier, value, at in self._menus:
            for socket in self._tree.interface.items_tree:
                if getattr(socket, "identifier", None) == identifier:
                    values.write_socket_value(self._scene, socket, "MENU", value, at)

    def _find(self, side: str, key: str, at: str) -> Block:
        existing = interface_sockets(self._tree, side)
        names = [socket.name for socket in existing]
        matches = [socket for socket in existing if socket.identifier == key]
        if not matches:
            matches = [existing[position] for position in positions_named(names, key)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            identifiers = ", ".join(socket.identifier for socket in matches)
            message = f"{len(matches)} {SIDES[side]} of the group are called '{key}'"
            raise invalid(message, at, f"Use an identifier: {identifiers}.")
        known_names = ", ".join(names) or "none"
        cure = did_you_mean(key, names, otherwise=f"It has: {known_names}.")
        raise StepError.of(Fault.TARGET_NOT_FOUND, f"the group has no {side.lower()} '{key}'", at=at, cure=cure)

    def _write_side(self, side: str, requested: Sequence[InterfaceSocket], replace: bool, at: str) -> None:
        interface = self._tree.interface
        existing = [(socket.name, socket.identifier) for socket in interface_sockets(self._tree, side)]
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
        items = self._tree.interface.items_tree
        return next(item for item in items if getattr(item, "identifier", None) == identifier)

    def _fill(self, socket: Block, request: InterfaceSocket, at: str) -> None:
        for field, name in FIELDS.items():
            value = getattr(request, field)
            if value is None:
                continue
            if not hasattr(socket, name):
                message = f"a socket of type {request.socket_type} has no '{field}'"
                raise invalid(message, f"{at}/{field}", f"Leave '{field}' out.")
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
            raise invalid(
                f"a socket of type {request.socket_type} has no default", f"{at}/default", "Leave default out."
            )
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
        empty_panels = [item for item in interface.items_tree if item.item_type == "PANEL" and not item.interface_items]
        for panel in empty_panels:
            interface.remove(panel)

    def _order(self, matched: Sequence[str]) -> None:
        """Move sockets into the order of `matched`, each within its panel."""
        interface = self._tree.interface
        current = [item.identifier for item in interface.items_tree if getattr(item, "identifier", None) in matched]
        if current == list(matched):
            return
        for identifier in matched:
            socket = self._by_identifier(identifier)
            interface.move_to_parent(socket, socket.parent, len(socket.parent.interface_items))

    def _panel(self, path: Sequence[str]) -> Block | None:
        """Return the panel at a path and create it if it is missing. Return None for an empty path."""
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
    """Return the names of the panels around an item, the outermost first."""
    path: list[str] = []
    parent = item.parent
    while parent is not None and parent.index >= 0:
        path.insert(0, parent.name)
        parent = parent.parent
    return path


# ---------------------------------------------------------------------- reading


def read_interface(tree: Block, side: str, defaults: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the sockets of one side as payload entries, without values that equal `defaults`, given by socket type."""
    return [_changed_fields(socket, defaults.get(socket.socket_type, {})) for socket in interface_sockets(tree, side)]


def read_socket(socket: Block) -> dict[str, Any]:
    """Return the values of all fields that a socket has."""
    fields = {field: to_json(getattr(socket, name)) for field, name in FIELDS.items() if hasattr(socket, name)}
    if hasattr(socket, "default_value"):
        fields["default"] = to_json(socket.default_value)
    return fields


def _changed_fields(socket: Block, defaults: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": socket.name, "socket_type": socket.socket_type}
    for field, value in read_socket(socket).items():
        if defaults.get(field) != value:
            fields[field] = value
    path = panel_path(socket)
    if path:
        fields["panel"] = path
    return fields
