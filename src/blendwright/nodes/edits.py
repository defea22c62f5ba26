"""Edits of node trees: every kind of payload as one list, each edit with the JSON pointer of its operation.

The static checks simulate these edits and the tree editor applies them, so both read a payload in the same way. This
module checks nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from blendwright.nodes import payloads
from blendwright.nodes.catalogue.model import Side
from blendwright.nodes.payloads import GIVEN_IDS, GnOpsPayload, InterfaceSocket, NodeTreePayload
from blendwright.nodes.tree_payloads import ApplyTreePayload, PatchTreePayload
from blendwright.nodes.tree_sorts import OUTPUT

ModifierPayload = NodeTreePayload | GnOpsPayload
Payload = ModifierPayload | ApplyTreePayload | PatchTreePayload
NEVER_UNUSED = (*GIVEN_IDS, OUTPUT)


class SocketRef(NamedTuple):
    """A socket that a payload names, with the JSON pointers to the node's id and to the socket's key."""

    node: str
    socket: str
    node_at: str
    socket_at: str


# In all edits `at` is the JSON pointer of the operation.


class AddNode(NamedTuple):
    """Addition of a node. A coordinate of None keeps the node's position.

    With `exist_ok` the tree may already have a node of this id and type.
    """

    at: str
    id: str
    id_at: str
    bl_idname: str
    location: tuple[float | None, float | None]
    exist_ok: bool
    properties: Mapping[str, Any] = {}


class RemoveNode(NamedTuple):
    """Removal of a node. With `missing_ok` the tree may lack the node."""

    at: str
    id: str
    missing_ok: bool


class SetProperty(NamedTuple):
    at: str
    id: str
    name: str
    value: Any


class SetInput(NamedTuple):
    at: str
    socket: SocketRef
    value: Any


class Link(NamedTuple):
    at: str
    source: SocketRef
    target: SocketRef


class Unlink(NamedTuple):
    """Removal of links between a source and a target.

    Without a source, all links into the target go; without a target, all links from the source. With `missing_ok` the
    tree may lack the links or their nodes.
    """

    at: str
    source: SocketRef | None
    target: SocketRef | None
    missing_ok: bool


class SetInterface(NamedTuple):
    """Changes of the group's sockets: the sockets listed on each side (None: not listed), and the keys to remove."""

    at: str
    listed: Mapping[Side, Sequence[InterfaceSocket] | None]
    removed: Mapping[Side, Sequence[str]]
    replace: bool


class EnsureSingleGroupIO(NamedTuple):
    at: str


class RemoveUnused(NamedTuple):
    at: str


class RemoveAll(NamedTuple):
    """Removal of all links and of all nodes, except the nodes that every tree of the sort has."""

    at: str


Edit = (
    RemoveAll
    | AddNode
    | RemoveNode
    | SetProperty
    | SetInput
    | Link
    | Unlink
    | SetInterface
    | EnsureSingleGroupIO
    | RemoveUnused
)


def edits_of(payload: Payload) -> Iterator[Edit]:
    """Yield the edits of a payload in order, without the operations that only concern its target."""
    if isinstance(payload, ApplyTreePayload) and payload.clear:
        yield RemoveAll("/clear")

    if isinstance(payload, (NodeTreePayload, ApplyTreePayload)):
        pointer, operations = "/operations", payload.operations
    else:
        pointer, operations = "/ops", payload.ops

    for number, operation in enumerate(operations):
        if operation.op != "ensure_target":
            yield _edit(operation, f"{pointer}/{number}")


def _edit(operation: payloads.TreeOperation, at: str) -> Edit:
    """Return the edit of one operation.

    Operations of a NODE_TREE may refuse a repetition. Operations of a patch describe a result, so repeating them
    changes nothing.
    """
    match operation:
        case payloads.CreateNode(node_id=node_id, bl_idname=bl_idname, location=location):
            return AddNode(at, node_id, at + "/node_id", bl_idname, location, exist_ok=False)
        case payloads.AddNode(id=node_id, bl_idname=bl_idname, x=x, y=y):
            return AddNode(at, node_id, at + "/id", bl_idname, (x, y), True, operation.properties)
        case payloads.DeleteNode():
            return RemoveNode(at, operation.node_id, missing_ok=False)
        case payloads.RemoveNode():
            return RemoveNode(at, operation.node_id, missing_ok=True)
        case payloads.SetInputDefault() | payloads.SetInput():
            return SetInput(at, _socket(operation, at), operation.value)
        case payloads.SetProperty():
            return SetProperty(at, operation.node_id, operation.property, operation.value)
        case payloads.Link() | payloads.PatchLink():
            return Link(at, _socket(operation.source, at + "/from"), _socket(operation.target, at + "/to"))
        case payloads.Unlink() | payloads.PatchUnlink():
            source: SocketRef | None = None
            target: SocketRef | None = None
            if operation.source:
                source = _socket(operation.source, at + "/from")
            if operation.target:
                target = _socket(operation.target, at + "/to")
            return Unlink(at, source, target, missing_ok=isinstance(operation, payloads.PatchUnlink))
        case payloads.SetGroupIO():
            sockets: dict[Side, Sequence[InterfaceSocket] | None] = {
                "inputs": operation.inputs,
                "outputs": operation.outputs,
            }
            removed: dict[Side, Sequence[str]] = {
                "inputs": operation.remove_inputs,
                "outputs": operation.remove_outputs,
            }
            return SetInterface(at, sockets, removed, operation.replace)
        case payloads.EnsureSingleGroupIO():
            return EnsureSingleGroupIO(at)
        case payloads.CleanupUnused():
            return RemoveUnused(at)


def _socket(named: payloads.AnySocket, at: str) -> SocketRef:
    if isinstance(named, (payloads.Socket, payloads.SetInputDefault)):
        return SocketRef(named.node_id, named.socket, at + "/node_id", at + "/socket")
    return SocketRef(named.node_id, named.socket_name, at + "/node_id", at + "/socket_name")


def are_repeatable(edits: Sequence[Edit]) -> bool:
    """Return True if applying the edits a second time succeeds and changes nothing.

    A repetition fails if Blendwright refuses an edit the second time, or if an edit needs a node, or a type of node,
    that a later edit removes.
    """
    if edits and isinstance(edits[0], RemoveAll):
        # Removing all nodes resets everything except the sockets of a group.
        interface_edits = filter(lambda edit: isinstance(edit, SetInterface), edits)
        return not any(map(_is_refused_again, interface_edits))
    if any(map(_is_refused_again, edits)):
        return False

    last_cleanup = -1
    removals: dict[str, int] = {}
    for number, edit in enumerate(edits):
        if isinstance(edit, RemoveUnused):
            last_cleanup = number
        elif isinstance(edit, RemoveNode):
            removals[edit.id] = number

    added: dict[str, str] = {}
    for number, edit in enumerate(edits):
        if isinstance(edit, AddNode) and added.setdefault(edit.id, edit.bl_idname) != edit.bl_idname:
            return False
        for node_id in _needed_nodes(edit):
            last_removal = removals.get(node_id, -1)
            if node_id not in NEVER_UNUSED:
                last_removal = max(last_removal, last_cleanup)
            if node_id not in added and number < last_removal:
                return False
    return True


def _is_refused_again(edit: Edit) -> bool:
    match edit:
        case AddNode(exist_ok=repeatable) | RemoveNode(missing_ok=repeatable) | Unlink(missing_ok=repeatable):
            return not repeatable
        case SetInterface():
            return any(edit.removed.values())
        case _:
            return False


def _needed_nodes(edit: Edit) -> tuple[str, ...]:
    if isinstance(edit, Link):
        return edit.source.node, edit.target.node
    if isinstance(edit, SetInput):
        return (edit.socket.node,)
    return ()
