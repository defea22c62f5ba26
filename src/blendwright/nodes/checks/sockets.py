"""Which socket a payload means: by identifier, by name, or by name and number."""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.nodes.catalogue.model import Side, SocketType
from blendwright.nodes.checks.simulated_tree import SimulatedTree, Sockets
from blendwright.nodes.edits import SocketRef
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

WORDS = {"inputs": "input", "outputs": "output"}


def matching_sockets(key: str, sockets: Sequence[SocketType]) -> list[SocketType]:
    """The sockets that a key can mean among those that are available: one, none, or several of a name."""
    found = [socket for socket in sockets if socket.identifier == key and not socket.by_name]
    found = found or [socket for socket in sockets if socket.name == key]
    if not found and "#" in key:
        name, _, number = key.rpartition("#")
        alike = [socket for socket in sockets if socket.name == name]
        if number.isdecimal() and 1 <= int(number) <= len(alike):
            found = [alike[int(number) - 1]]
    return found


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


def find_socket(state: SimulatedTree, at: SocketRef, side: Side, *, off: bool = False) -> SocketType | Finding | None:
    """The socket that is meant, what is wrong, or None when that cannot be known. `off`: inputs that are not available count."""
    if at.node not in state.nodes:
        return None if state.may_exist(at.node) else unknown_node(state, at.node, at.node_at)
    sockets = state.sockets(at.node, side)
    found = matching_sockets(at.socket, sockets.known)
    if len(found) == 1:
        return found[0]
    if found:
        if len({socket.type for socket in found}) > 1 and not sockets.complete and len({s.key for s in found}) == 1:
            return None
        listed = ", ".join(socket_keys(found))
        message = f"{len(found)} {side} of '{at.node}' ({_type(state, at.node)}) are called '{at.socket}'"
        return Finding(Fault.ARGS_INVALID, message, at.socket_at, f"Use one of: {listed}.")
    hidden = [socket for socket in sockets.off if at.socket in (socket.identifier, socket.name)]
    if hidden and off:
        return next((socket for socket in hidden if socket.identifier == at.socket), hidden[0])
    if not sockets.complete:
        return None
    return _not_there(state, at, side, sockets, bool(hidden))


def unknown_node(state: SimulatedTree, node_id: str, at: str) -> Finding:
    cure = did_you_mean(node_id, state.nodes, otherwise=f"Known: {', '.join(state.nodes)}."[:300])
    return Finding(Fault.TARGET_NOT_FOUND, f"there is no node '{node_id}' at this point", at, cure)


def _not_there(state: SimulatedTree, at: SocketRef, side: Side, sockets: Sockets, hidden: bool) -> Finding:
    kind = _type(state, at.node)
    other: Side = "outputs" if side == "inputs" else "inputs"
    known = list(dict.fromkeys(name for socket in sockets.known for name in (socket.name, socket.key) if name))
    listed = f"It has: {', '.join(socket_keys(sockets.known)) or 'none'}."
    if hidden:
        decided = ", ".join(
            f"{name} {state.nodes[at.node].values.get(name)}" for name in state.nodes[at.node].type.deciding
        )
        message = f"input '{at.socket}' of '{at.node}' ({kind}) is not available with {decided}"
        return Finding(Fault.ARGS_INVALID, message, at.socket_at, "Set the property first. " + listed)
    message = f"'{at.node}' ({kind}) has no {WORDS[side]} '{at.socket}'"
    cure = did_you_mean(at.socket, known, otherwise=listed)
    if matching_sockets(at.socket, state.sockets(at.node, other).known):
        message += f"; '{at.socket}' is an {WORDS[other]}"
        cure = f"A link goes from an output to an input. {listed}"
    return Finding(Fault.ARGS_INVALID, message, at.socket_at, cure)


def _type(state: SimulatedTree, node_id: str) -> str:
    return state.nodes[node_id].type.bl_idname
