"""Which links Blender takes: between which types of socket, and where a field may go.

An input takes single values, fields, or only grids. An output is a field always, or when one of the inputs that it follows is.
All of it is found by linking and asking whether the link is valid.
"""

from __future__ import annotations

from typing import Any

import bpy

from node_survey.scratch import Scratch, silence

NUMBERS = ("VALUE", "INT", "BOOLEAN", "VECTOR", "RGBA")
# Kinds of value that no group can have, and the node that makes one: from Blender 5.2 on.
MAKERS = {"INT_VECTOR": "FunctionNodeInputIntVector"}
# Inputs that take one thing and no list.
TAKERS = {
    "OBJECT": ("GeometryNodeObjectInfo", "Object"),
    "COLLECTION": ("GeometryNodeCollectionInfo", "Collection"),
    "MATERIAL": ("GeometryNodeSetMaterial", "Material"),
    "IMAGE": ("GeometryNodeImageInfo", "Image"),
}
# Texts follow fields from Blender 5.1 on.
FIELDS = (*NUMBERS, "ROTATION", "MATRIX", *(["STRING"] if bpy.app.version >= (5, 1, 0) else []))


def conversions(scratch: Scratch) -> dict[str, list[str]]:
    """By type of output: the types of input that it can be linked to."""
    tree = scratch.group("conversions")
    for name in socket_types(scratch):
        for direction in ("INPUT", "OUTPUT"):
            tree.interface.new_socket(name, in_out=direction, socket_type=name)
    source, target = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    found: dict[str, list[str]] = {}
    for output in list(source.outputs)[:-1]:
        taken = [socket.type for socket in list(target.inputs)[:-1] if _valid(tree, output, socket)]
        found[output.type] = sorted(set(taken))
    for kind, maker in MAKERS.items():
        if hasattr(bpy.types, maker) and (maker_node := _new_node(tree, maker)) is not None:
            made = maker_node.outputs[0]
            found[kind] = sorted({socket.type for socket in list(target.inputs)[:-1] if _valid(tree, made, socket)})
    # A menu that nobody has given items fits nowhere: ask one that has some.
    menu = next((output for output in source.outputs if output.type == "MENU"), None)
    switch = _new_node(tree, "GeometryNodeMenuSwitch")
    if menu is not None and switch is not None and _valid(tree, menu, switch.inputs[0]):
        found["MENU"] = ["MENU"]
    return found


def _new_node(tree: Any, bl_idname: str) -> Any:
    """A node, or None where this kind of tree has none of the type."""
    with silence():
        try:
            return tree.nodes.new(bl_idname)
        except RuntimeError:
            return None


def socket_types(scratch: Scratch) -> dict[str, str]:
    """Every socket type that a group can have, by its name: what is its kind of value."""
    types: Any = bpy.types
    tree = scratch.group("types")
    found: dict[str, str] = {}
    for name in sorted(dir(types)):
        if not name.startswith("NodeSocket") or not hasattr(
            types, name.replace("NodeSocket", "NodeTreeInterfaceSocket")
        ):
            continue
        try:
            item = tree.interface.new_socket(name, in_out="INPUT", socket_type=name)
        except (TypeError, RuntimeError):
            continue
        if item is not None:
            found[name] = ""
    node = tree.nodes.new("NodeGroupInput")
    for socket in list(node.outputs)[:-1]:
        found[socket.name] = socket.type
    return {name: kind for name, kind in found.items() if kind}


def interface_types(scratch: Scratch) -> list[str]:
    """The types that a group's socket can be made of; the others are variants that a subtype gives."""
    tree = scratch.group("interface")
    found: list[str] = []
    for name in socket_types(scratch):
        item = tree.interface.new_socket(name, in_out="INPUT", socket_type=name)
        if item is not None and item.socket_type == name:
            found.append(name)
    return found


def _valid(tree: Any, source: Any, target: Any) -> bool:
    link = tree.links.new(target, source)
    valid = bool(link.is_valid)
    tree.links.remove(link)
    return valid


def _single_ends(scratch: Scratch) -> tuple[dict[str, Any], dict[str, Any]]:
    """Of the kinds that are never fields, but may be lists: an output that gives one of it, an input that takes one.

    Before Blender 5.1 there are no lists of them."""
    if bpy.app.version < (5, 1, 0):
        return {}, {}
    tree = scratch.tree
    for name in interface_types(scratch):
        tree.interface.new_socket(name, in_out="INPUT", socket_type=name).structure_type = "SINGLE"
    outputs = list(tree.nodes.new("NodeGroupInput").outputs)[:-1]
    # A menu fits only where its items are known.
    makers = {socket.type: socket for socket in outputs if socket.type not in (*FIELDS, "MENU")}
    takers = {kind: tree.nodes.new(name).inputs[key] for kind, (name, key) in TAKERS.items()}
    return makers, takers


class Fields:
    """Tries fields on the sockets of nodes in a scratch tree."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch
        new = scratch.tree.nodes.new
        index, value = new("GeometryNodeInputIndex").outputs[0], new("ShaderNodeValue").outputs[0]
        self._single: dict[str, Any] = dict.fromkeys(NUMBERS, value)
        self._field: dict[str, Any] = dict.fromkeys(NUMBERS, index)
        self._sink: dict[str, Any] = dict.fromkeys(NUMBERS, new("GeometryNodeMeshCube").inputs["Vertices X"])
        makers = {
            "ROTATION": "FunctionNodeEulerToRotation",
            "MATRIX": "FunctionNodeCombineTransform",
            "STRING": "FunctionNodeValueToString",
        }
        for kind, maker in makers.items():
            self._single[kind] = new(maker).outputs[0]
            varied = new(maker)
            scratch.link(index, varied.inputs[0])
            self._field[kind] = varied.outputs[0]
        # What is no number goes to the same sink by way of its parts.
        parts = {
            "ROTATION": "FunctionNodeRotationToEuler",
            "MATRIX": "FunctionNodeSeparateTransform",
            "STRING": "FunctionNodeStringLength",
        }
        self._through = {kind: new(name) for kind, name in parts.items()}
        self._one_of, self._one_into = _single_ends(scratch)
        # Takes fields and single values, but nothing else: what it refuses is a grid or the like.
        self._taker = new("GeometryNodeSetPosition").inputs["Offset"]

    def takes(self, socket: Any) -> str | None:
        """What an input takes: "single", "field" (and single), "other"; None where fields are no matter."""
        if socket.type not in FIELDS:
            maker = self._one_of.get(socket.type)
            return None if maker is None or self._scratch.valid(maker, socket) else "other"
        if not self._scratch.valid(self._single[socket.type], socket):
            return "other"
        return "field" if self._scratch.valid(self._field[socket.type], socket) else "single"

    def gives(self, socket: Any, inputs: list[Any]) -> Any:
        """What an output is: "single", "field", "implicit" (a field unless inputs are linked), "other", or the inputs that it
        follows, by identifier."""
        if socket.type not in FIELDS:
            taker = self._one_into.get(socket.type)
            return None if taker is None or self._scratch.valid(socket, taker) else "other"
        if not self._is_single(socket):
            return self._of_itself(socket, inputs)
        followed: list[str] = []
        for each in inputs:
            link = self._scratch.link(self._field[each.type], each)
            if not self._is_single(socket):
                followed.append(each.identifier)
            self._scratch.tree.links.remove(link)
        return followed or "single"

    def _of_itself(self, socket: Any, inputs: list[Any]) -> str:
        """An output that is no single value with nothing linked; perhaps since an input is the position or the like then."""
        if not self._is_field(socket):
            return "other"
        links = [self._scratch.link(self._single[each.type], each) for each in inputs]
        single = self._is_single(socket)
        for link in links:
            self._scratch.tree.links.remove(link)
        return "implicit" if single else "field"

    def _is_single(self, socket: Any) -> bool:
        return self._reaches(socket, self._sink["VALUE"])

    def _is_field(self, socket: Any) -> bool:
        return self._reaches(socket, self._taker)

    def _reaches(self, socket: Any, sink: Any) -> bool:
        through = self._through.get(socket.type)
        if through is None:
            return self._scratch.valid(socket, sink)
        link = self._scratch.link(socket, through.inputs[0])
        valid = self._scratch.valid(through.outputs[0], sink)
        self._scratch.tree.links.remove(link)
        return valid
