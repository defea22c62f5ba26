"""Conversion between sockets and the keys that payloads use for them.

A key is an identifier or a name; `Name#2` is the second available socket of that name. Identifiers come first. Sockets of
a group's interface or of a node's own items have identifiers with a counter, so their key is their name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from blendwright.nodes.payloads import positions_named
from blendwright.tool_api.scene import Block
from blendwright.tools.node_trees.values import invalid
from blendwright.values.errors import StepError
from blendwright.values.findings import did_you_mean

# Socket_2, Item_0, Generation_1; Blender's own sockets count with leading zeros (Value_001).
COUNTED = re.compile(r"_(0|[1-9][0-9]*)$")
# Identifiers of items that come from the single sockets of older Blender versions.
LEGACY_IDENTIFIERS = {
    "GeometryNodeCaptureAttribute": frozenset({"Value", "Attribute"}),
    "GeometryNodeViewer": frozenset({"Value", "Geometry"}),
}
# The empty socket at the end of a list; the editor adds an item when a link is drawn to it.
VIRTUAL = "NodeSocketVirtual"


def available_sockets(sockets: Sequence[Block]) -> list[Block]:
    """Return the sockets that a node has with its present properties."""
    return [socket for socket in sockets if socket.enabled and socket.bl_idname != VIRTUAL]


def find_socket(node: Block, sockets: Sequence[Block], key: str, at: str, *, off: bool = False) -> Block:
    """Return the socket that a key selects. Raise StepError if none or more than one matches.

    With `off`, an identifier also selects a socket that is not available.
    """
    for socket in sockets:
        if socket.identifier == key and socket.enabled and socket.bl_idname != VIRTUAL and not goes_by_name(socket):
            return socket
    usable = available_sockets(sockets)
    matches = [usable[position] for position in positions_named([socket.name for socket in usable], key)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        identifiers = ", ".join(f"'{socket.identifier}'" for socket in matches)
        cure = f"Use an identifier: {identifiers}; or '{key}#1' to '{key}#{len(matches)}'."
        raise invalid(f"{len(matches)} sockets of node '{node.name}' are called '{key}'", at, cure)
    candidates = usable
    if off:
        candidates = sockets
    for socket in candidates:
        if socket.identifier == key:
            return socket
    raise _missing(node, sockets, usable, key, at)


def _missing(node: Block, sockets: Sequence[Block], usable: list[Block], key: str, at: str) -> StepError:
    if sockets and sockets[0].is_output:
        side = "output"
    else:
        side = "input"
    message = f"node '{node.name}' ({node.bl_idname}) has no {side} '{key}'"
    hidden = [socket for socket in sockets if key in (socket.identifier, socket.name) and socket not in usable]
    if hidden:
        message += " with its present properties"
    names = [socket_key(socket, usable) for socket in usable]
    known_keys = ", ".join(names) or "none"
    cure = did_you_mean(key, names, otherwise=f"It has: {known_keys}.")
    return invalid(message, at, cure)


def goes_by_name(socket: Block) -> bool:
    """Return True if the identifier of a socket only counts creations, so that its name is the key."""
    if not socket.name:
        return False
    identifier: str = socket.identifier
    return bool(COUNTED.search(identifier)) or identifier in LEGACY_IDENTIFIERS.get(socket.node.bl_idname, ())


def socket_key(socket: Block, usable: Sequence[Block]) -> str:
    """Return the key of a socket. `usable` contains the available sockets of the same side of its node."""
    identifier: str = socket.identifier
    name: str = socket.name
    if not socket.enabled or not goes_by_name(socket):
        return identifier
    same_name = [candidate.identifier for candidate in usable if candidate.name == name]
    clashes = any(candidate.identifier == name and not goes_by_name(candidate) for candidate in usable)
    if len(same_name) == 1 and not clashes:
        return name
    return f"{name}#{same_name.index(identifier) + 1}"
