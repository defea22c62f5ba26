"""Both payloads as one list of edits, each with the place that it has in its payload. Nothing is judged here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from blendwright.nodes.payloads import gn_ops, node_tree
from blendwright.nodes.payloads.gn_ops import GnOpsPayload
from blendwright.nodes.payloads.node_tree import NodeTreePayload
from blendwright.nodes.payloads.parts import InterfaceSocket

Payload = NodeTreePayload | GnOpsPayload


@dataclass(frozen=True, slots=True)
class SocketRef:
    """A socket that a payload names, and where it does."""

    node: str
    socket: str
    node_at: str
    socket_at: str


@dataclass(frozen=True, slots=True)
class AddNode:
    """`again` says that a node of this id and type may be there already."""

    at: str
    id: str
    id_at: str
    bl_idname: str
    again: bool
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class RemoveNode:
    """`gone` says that the node may be gone already."""

    at: str
    id: str
    gone: bool


@dataclass(frozen=True, slots=True)
class SetProperty:
    at: str
    id: str
    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class SetInput:
    at: str
    socket: SocketRef
    value: Any


@dataclass(frozen=True, slots=True)
class Link:
    at: str
    source: SocketRef
    target: SocketRef


@dataclass(frozen=True, slots=True)
class Unlink:
    at: str
    source: SocketRef | None
    target: SocketRef | None


@dataclass(frozen=True, slots=True)
class SetInterface:
    at: str
    inputs: Sequence[InterfaceSocket] | None
    outputs: Sequence[InterfaceSocket] | None
    remove_inputs: Sequence[str]
    remove_outputs: Sequence[str]
    replace: bool


Edit = AddNode | RemoveNode | SetProperty | SetInput | Link | Unlink | SetInterface


def edits_of(payload: Payload) -> Iterator[Edit]:
    """The edits of a payload in order; what says nothing about single nodes is left out."""
    if isinstance(payload, NodeTreePayload):
        for number, operation in enumerate(payload.operations):
            yield _tree_edit(operation, f"/operations/{number}")
    else:
        for number, operation in enumerate(payload.ops):
            yield from _patch_edit(operation, f"/ops/{number}")


def _tree_edit(operation: node_tree.Operation, at: str) -> Edit:
    match operation:
        case node_tree.CreateNode():
            return AddNode(at, operation.node_id, at + "/node_id", operation.bl_idname, again=False)
        case node_tree.DeleteNode():
            return RemoveNode(at, operation.node_id, gone=False)
        case node_tree.SetInputDefault():
            socket = SocketRef(operation.node_id, operation.socket, at + "/node_id", at + "/socket")
            return SetInput(at, socket, operation.value)
        case node_tree.SetProperty():
            return SetProperty(at, operation.node_id, operation.property, operation.value)
        case node_tree.Link():
            return Link(at, _tree_socket(operation.source, at + "/from"), _tree_socket(operation.target, at + "/to"))
        case node_tree.Unlink():
            source = _tree_socket(operation.source, at + "/from") if operation.source else None
            return Unlink(at, source, _tree_socket(operation.target, at + "/to") if operation.target else None)
        case node_tree.SetGroupIO():
            removed = operation.remove_inputs, operation.remove_outputs
            return SetInterface(at, operation.inputs, operation.outputs, *removed, operation.replace)


def _patch_edit(operation: gn_ops.PatchOperation, at: str) -> Iterator[Edit]:
    match operation:
        case gn_ops.AddNode():
            yield AddNode(at, operation.id, at + "/id", operation.bl_idname, True, operation.properties)
        case gn_ops.RemoveNode():
            yield RemoveNode(at, operation.node_id, gone=True)
        case gn_ops.SetInput():
            socket = SocketRef(operation.node_id, operation.socket_name, at + "/node_id", at + "/socket_name")
            yield SetInput(at, socket, operation.value)
        case gn_ops.PatchLink():
            yield Link(at, _patch_socket(operation.source, at + "/from"), _patch_socket(operation.target, at + "/to"))
        case gn_ops.PatchUnlink():
            source = _patch_socket(operation.source, at + "/from") if operation.source else None
            yield Unlink(at, source, _patch_socket(operation.target, at + "/to") if operation.target else None)
        case gn_ops.EnsureTarget() | gn_ops.EnsureSingleGroupIO() | gn_ops.CleanupUnused():
            return


def _tree_socket(socket: node_tree.Socket, at: str) -> SocketRef:
    return SocketRef(socket.node_id, socket.socket, at + "/node_id", at + "/socket")


def _patch_socket(socket: gn_ops.NamedSocket, at: str) -> SocketRef:
    return SocketRef(socket.node_id, socket.socket_name, at + "/node_id", at + "/socket_name")
