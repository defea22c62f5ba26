"""All payloads as one list of edits, each with the JSON pointer of its operation.

The static checks simulate these edits and the tree editor applies them, so that a payload means the same to both. Nothing is
checked here.
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
    """A socket that a payload names, and where it does."""

    node: str
    socket: str
    node_at: str
    socket_at: str


# In all edits `at` points to the operation that asks for it.


class AddNode(NamedTuple):
    """`exist_ok`: a node of this id and type may be there already. A coordinate that is None stays as it is."""

    at: str
    id: str
    id_at: str
    bl_idname: str
    location: tuple[float | None, float | None]
    exist_ok: bool
    properties: Mapping[str, Any] = {}


class RemoveNode(NamedTuple):
    """`missing_ok`: the node may be gone already."""

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
    """Without a source or a target: all links of the other. `missing_ok`: there may be no such link, or no such node."""

    at: str
    source: SocketRef | None
    target: SocketRef | None
    missing_ok: bool


class SetInterface(NamedTuple):
    """What is listed on each side, if anything, and what is removed from it."""

    at: str
    listed: Mapping[Side, Sequence[InterfaceSocket] | None]
    removed: Mapping[Side, Sequence[str]]
    replace: bool


class EnsureSingleGroupIO(NamedTuple):
    at: str


class RemoveUnused(NamedTuple):
    at: str


class RemoveAll(NamedTuple):
    """All nodes but those that every tree of the sort has, which stay without links."""

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
    """The edits of a payload in order; what only concerns its target is left out."""
    if isinstance(payload, ApplyTreePayload) and payload.clear:
        yield RemoveAll("/clear")
    whole = isinstance(payload, (NodeTreePayload, ApplyTreePayload))
    name, operations = ("operations", payload.operations) if whole else ("ops", payload.ops)
    for number, operation in enumerate(operations):
        if operation.op != "ensure_target":
            yield _edit(operation, f"/{name}/{number}")


def _edit(operation: payloads.TreeOperation, at: str) -> Edit:
    """An operation of a NODE_TREE may be refused when it is done again; one of a patch says how something should be."""
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
            if operation.source:
                source = _socket(operation.source, at + "/from")
            else:
                source = None
            if operation.target:
                target = _socket(operation.target, at + "/to")
            else:
                target = None
            return Unlink(at, source, target, missing_ok=isinstance(operation, payloads.PatchUnlink))
        case payloads.SetGroupIO():
            listed: dict[Side, Sequence[InterfaceSocket] | None] = {
                "inputs": operation.inputs,
                "outputs": operation.outputs,
            }
            removed: dict[Side, Sequence[str]] = {
                "inputs": operation.remove_inputs,
                "outputs": operation.remove_outputs,
            }
            return SetInterface(at, listed, removed, operation.replace)
        case payloads.EnsureSingleGroupIO():
            return EnsureSingleGroupIO(at)
        case payloads.CleanupUnused():
            return RemoveUnused(at)


def _socket(named: payloads.AnySocket, at: str) -> SocketRef:
    if isinstance(named, (payloads.Socket, payloads.SetInputDefault)):
        return SocketRef(named.node_id, named.socket, at + "/node_id", at + "/socket")
    return SocketRef(named.node_id, named.socket_name, at + "/node_id", at + "/socket_name")


def are_repeatable(edits: Sequence[Edit]) -> bool:
    """Whether the edits can be applied a second time and change nothing then.

    They cannot when one of them is refused the second time, or needs a node, or a type of node, that a later one removes."""
    if edits and isinstance(edits[0], RemoveAll):
        # Everything begins anew, but for the sockets of a group.
        return not any(isinstance(edit, SetInterface) and _is_refused_again(edit) for edit in edits)
    if any(_is_refused_again(edit) for edit in edits):
        return False
    cleaned = max((number for number, edit in enumerate(edits) if isinstance(edit, RemoveUnused)), default=-1)
    removed = {edit.id: number for number, edit in enumerate(edits) if isinstance(edit, RemoveNode)}
    added: dict[str, str] = {}
    for number, edit in enumerate(edits):
        if isinstance(edit, AddNode) and added.setdefault(edit.id, edit.bl_idname) != edit.bl_idname:
            return False
        for node_id in _needed_nodes(edit):
            if node_id not in NEVER_UNUSED:
                cleaned_at = cleaned
            else:
                cleaned_at = -1
            if node_id not in added and number < max(cleaned_at, removed.get(node_id, -1)):
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
