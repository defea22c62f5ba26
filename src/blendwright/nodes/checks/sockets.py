"""Lookup of the socket that a payload names in the simulated tree: by identifier, by name, or by name and number."""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.nodes.catalogue.model import Side, SocketType
from blendwright.nodes.checks.simulated_tree import SimulatedTree, Sockets
from blendwright.nodes.checks.values import invalid
from blendwright.nodes.edits import SocketRef
from blendwright.nodes.payloads import positions_named
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean


def matching_sockets(key: str, sockets: Sequence[SocketType]) -> list[SocketType]:
    """Return the available sockets that a key may mean: none, one, or several of a name."""
    matches = [socket for socket in sockets if socket.identifier == key and not socket.by_name]
    return matches or [sockets[position] for position in positions_named([socket.name for socket in sockets], key)]


def socket_keys(sockets: Sequence[SocketType]) -> list[str]:
    """Return the unambiguous key of each socket."""
    keys: list[str] = []
    for socket in sockets:
        namesakes = [candidate for candidate in sockets if candidate.name == socket.name]
        if socket.by_name and len(namesakes) > 1:
            keys.append(f"{socket.name}#{namesakes.index(socket) + 1}")
        else:
            keys.append(socket.key)
    return keys


def find_socket(tree: SimulatedTree, at: SocketRef, side: Side, *, off: bool = False) -> SocketType | Finding | None:
    """Return the socket that the payload names, a finding if there is none, or None if that is unknown.

    With `off`, inputs that are not available with the node's settings count too.
    """
    if at.node not in tree.nodes:
        if tree.may_exist(at.node):
            return None
        return unknown_node(tree, at.node, at.node_at)

    sockets = tree.sockets(at.node, side)
    matches = matching_sockets(at.socket, sockets.known)
    if len(matches) == 1:
        return matches[0]
    if matches:
        types, keys = set[str](), set[str]()
        for socket in matches:
            types.add(socket.type)
            keys.add(socket.key)
        if len(types) > 1 and len(keys) == 1 and not sockets.complete:
            return None
        message = f"{len(matches)} {side} of '{at.node}' ({_type(tree, at.node)}) are called '{at.socket}'"
        return invalid(message, at.socket_at, f"Use one of: {', '.join(socket_keys(matches))}.")

    unavailable = [socket for socket in sockets.off if at.socket in (socket.identifier, socket.name)]
    if unavailable and off:
        for socket in unavailable:
            if socket.identifier == at.socket:
                return socket
        return unavailable[0]
    if not sockets.complete:
        return None
    return _missing_socket(tree, at, side, sockets, bool(unavailable))


def unknown_node(tree: SimulatedTree, node_id: str, at: str) -> Finding:
    cure = did_you_mean(node_id, tree.nodes, otherwise=f"Known: {', '.join(tree.nodes)}."[:300])
    return Finding(Fault.TARGET_NOT_FOUND, f"there is no node '{node_id}' at this point", at, cure)


def _missing_socket(tree: SimulatedTree, at: SocketRef, side: Side, sockets: Sockets, unavailable: bool) -> Finding:
    kind = _type(tree, at.node)
    available = f"It has: {', '.join(socket_keys(sockets.known)) or 'none'}."
    if unavailable:
        node = tree.nodes[at.node]
        deciding = ", ".join(f"{name} {node.values.get(name)}" for name in node.type.deciding)
        message = f"input '{at.socket}' of '{at.node}' ({kind}) is not available with {deciding}"
        return invalid(message, at.socket_at, "Set the property first. " + available)

    opposite: Side = "outputs"
    if side == "outputs":
        opposite = "inputs"
    message = f"'{at.node}' ({kind}) has no {side[:-1]} '{at.socket}'"
    if matching_sockets(at.socket, tree.sockets(at.node, opposite).known):
        message += f"; '{at.socket}' is an {opposite[:-1]}"
        cure = f"A link goes from an output to an input. {available}"
    else:
        cure = did_you_mean(at.socket, _names_and_keys(sockets.known), otherwise=available)
    return invalid(message, at.socket_at, cure)


def _names_and_keys(sockets: Sequence[SocketType]) -> list[str]:
    names: dict[str, None] = {}
    for socket in sockets:
        for name in (socket.name, socket.key):
            if name:
                names[name] = None
    return list(names)


def _type(tree: SimulatedTree, node_id: str) -> str:
    return tree.nodes[node_id].type.bl_idname
