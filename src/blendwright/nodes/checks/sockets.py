"""Finds the socket that a payload names in the simulated tree: by identifier, by name, or by name and number."""

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
    """The sockets that a key can mean among those that are available: one, none, or several of a name."""
    matches = [socket for socket in sockets if socket.identifier == key and not socket.by_name]
    return matches or [sockets[position] for position in positions_named([socket.name for socket in sockets], key)]


def socket_keys(sockets: Sequence[SocketType]) -> list[str]:
    """For each socket the key that means just it."""
    listed: list[str] = []
    for socket in sockets:
        alike = [each for each in sockets if each.name == socket.name]
        if socket.by_name and len(alike) > 1:
            listed.append(f"{socket.name}#{alike.index(socket) + 1}")
        else:
            listed.append(socket.key)
    return listed


def find_socket(tree: SimulatedTree, at: SocketRef, side: Side, *, off: bool = False) -> SocketType | Finding | None:
    """The socket that is meant, what is wrong, or None when that cannot be known. `off`: inputs that are not available count."""
    if at.node not in tree.nodes:
        if tree.may_exist(at.node):
            return None
        return unknown_node(tree, at.node, at.node_at)
    sockets = tree.sockets(at.node, side)
    matches = matching_sockets(at.socket, sockets.known)
    if len(matches) == 1:
        return matches[0]
    if matches:
        if len({socket.type for socket in matches}) > 1 and not sockets.complete and len({s.key for s in matches}) == 1:
            return None
        listed = ", ".join(socket_keys(matches))
        message = f"{len(matches)} {side} of '{at.node}' ({_type(tree, at.node)}) are called '{at.socket}'"
        return invalid(message, at.socket_at, f"Use one of: {listed}.")
    unavailable = [socket for socket in sockets.off if at.socket in (socket.identifier, socket.name)]
    if unavailable and off:
        return next((socket for socket in unavailable if socket.identifier == at.socket), unavailable[0])
    if not sockets.complete:
        return None
    return _missing_socket(tree, at, side, sockets, bool(unavailable))


def unknown_node(tree: SimulatedTree, node_id: str, at: str) -> Finding:
    cure = did_you_mean(node_id, tree.nodes, otherwise=f"Known: {', '.join(tree.nodes)}."[:300])
    return Finding(Fault.TARGET_NOT_FOUND, f"there is no node '{node_id}' at this point", at, cure)


def _missing_socket(tree: SimulatedTree, at: SocketRef, side: Side, sockets: Sockets, unavailable: bool) -> Finding:
    kind = _type(tree, at.node)
    other: Side
    if side == "inputs":
        other = "outputs"
    else:
        other = "inputs"
    names = list(dict.fromkeys(name for socket in sockets.known for name in (socket.name, socket.key) if name))
    listed = f"It has: {', '.join(socket_keys(sockets.known)) or 'none'}."
    if unavailable:
        node = tree.nodes[at.node]
        deciding = ", ".join(f"{name} {node.values.get(name)}" for name in node.type.deciding)
        message = f"input '{at.socket}' of '{at.node}' ({kind}) is not available with {deciding}"
        return invalid(message, at.socket_at, "Set the property first. " + listed)
    message = f"'{at.node}' ({kind}) has no {side[:-1]} '{at.socket}'"
    cure = did_you_mean(at.socket, names, otherwise=listed)
    if matching_sockets(at.socket, tree.sockets(at.node, other).known):
        message += f"; '{at.socket}' is an {other[:-1]}"
        cure = f"A link goes from an output to an input. {listed}"
    return invalid(message, at.socket_at, cure)


def _type(tree: SimulatedTree, node_id: str) -> str:
    return tree.nodes[node_id].type.bl_idname
