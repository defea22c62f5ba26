"""The sockets of a node as data: identifier, name, type, value, range, and which links they bear."""

from __future__ import annotations

from typing import Any

from node_survey.scratch import choices, plain

EXTEND = "NodeSocketVirtual"
RANGED = {"VALUE": "NodeSocketFloat", "INT": "NodeSocketInt", "VECTOR": "NodeSocketVector"}
WIDEST = 2**31 - 1


def describe_socket(socket: Any) -> dict[str, Any]:
    """What there is to know of a socket by looking at it."""
    found: dict[str, Any] = {"identifier": socket.identifier, "name": socket.name, "type": socket.bl_idname}
    if socket.is_multi_input:
        found["multi"] = True
    if socket.is_output or not hasattr(socket, "default_value"):
        return found
    if socket.type == "MENU":
        found["items"] = choices(socket, "default_value")
    found["default"] = plain(socket.default_value)
    if socket.type in RANGED:
        found |= _range(socket)
    return found


def _range(socket: Any) -> dict[str, Any]:
    """The least and the greatest value that the editor offers. A socket does not tell them; a group's that is made after it does."""
    tree = socket.id_data
    item = tree.interface.new_socket("range", in_out="INPUT", socket_type=RANGED[socket.type])
    item.from_socket(socket.node, socket)
    found: dict[str, Any] = {}
    if item.min_value > -WIDEST:
        found["soft_min"] = plain(item.min_value)
    if item.max_value < WIDEST:
        found["soft_max"] = plain(item.max_value)
    tree.interface.remove(item)
    return found


def real_sockets(sockets: Any) -> list[Any]:
    """All but the empty one that new links can be drawn to."""
    return [socket for socket in sockets if socket.bl_idname != EXTEND]
