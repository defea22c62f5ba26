"""Content that the layout of a type does not lead to: nodes and their sockets, inputs of modifiers, shapes, poses, texts, members.

Sockets go by their names and only where they are in use: their identifiers, and sockets for other data types, differ between Blenders.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from blendwright.blender.content.structs import FREE, BlockStructs, joined, labelled, layout_of, plain
from blendwright.blender.fingerprint.identity import layer_collections, layer_flags
from blendwright.blender.fingerprint.type_layouts import bases

# Types and properties that whoever compares treats in a way of their own.
LINKS, IDENTIFIER = "links", "identifier"

Reader = Callable[[BlockStructs, str, Any], None]


def read_special(structs: BlockStructs, block: Any) -> None:
    """What there is besides the layouts, of a datablock and of the node tree in it."""
    for name in bases(block.bl_rna):
        if name in READERS:
            READERS[name](structs, "", block)
    tree = getattr(block, "node_tree", None)
    if tree is not None and tree.is_embedded_data:
        _tree(structs, "node_tree", tree)


def _tree(structs: BlockStructs, path: str, tree: Any) -> None:
    links = [
        [*_end(link.from_node, link.from_socket), *_end(link.to_node, link.to_socket), link.is_muted]
        for link in tree.links
    ]
    structs.add(joined(path, "links"), LINKS, {"links": sorted(links)})
    for node in tree.nodes:
        place = joined(path, f"nodes[{node.name}]")
        structs.struct(place, node)
        for side in ("inputs", "outputs"):
            in_use = [socket for socket in getattr(node, side) if socket.enabled and not socket.is_unavailable]
            for label, socket in labelled(in_use):
                structs.add(f"{place}.{side}[{label}]", _socket_type(socket), _socket_values(socket))
    structs.items(joined(path, "interface"), tree.interface.items_tree)


def _end(node: Any, socket: Any) -> tuple[str, str, str]:
    """Both names of a socket: a Blender may have changed one of them."""
    return node.name, socket.name, socket.identifier


def _socket_type(socket: Any) -> str:
    # Subtypes (NodeSocketFloatFactor …) say how a value is shown.
    return f"NodeSocket {socket.type}"


def _socket_values(socket: Any) -> dict[str, Any]:
    values: dict[str, Any] = {"hide": socket.hide, IDENTIFIER: socket.identifier}
    value = getattr(socket, "default_value", None)
    if value is not None and not socket.is_output:
        values["default_value"] = _plain_or_name(value)
    return values


def _object(structs: BlockStructs, path: str, owner: Any) -> None:
    slots = owner.material_slots
    linked = [slot.material.name if slot.material else None for slot in slots if slot.link == "OBJECT"]
    structs.add(path, "Object", {"material_slots": linked})
    for modifier in owner.modifiers:
        if modifier.type == "NODES" and modifier.node_group is not None:
            place = joined(path, f"modifiers[{modifier.name}].inputs")
            structs.add(place, FREE, dict(_modifier_inputs(modifier)))
    if owner.pose is not None:
        structs.items("pose.bones", owner.pose.bones)


def _modifier_inputs(modifier: Any) -> Iterator[tuple[str, Any]]:
    items = [item for item in modifier.node_group.interface.items_tree if item.item_type == "SOCKET"]
    inputs = [item for item in items if item.in_out == "INPUT" and item.socket_type != "NodeSocketGeometry"]
    # From Blender 5.2 on they are RNA; before, custom properties of the modifier.
    rna = getattr(getattr(modifier, "properties", None), "inputs", None)
    for label, item in labelled(inputs):
        value: Any
        if rna is not None:
            value = getattr(getattr(rna, item.identifier, None), "value", None)
        else:
            value = modifier.get(item.identifier)
            if item.socket_type == "NodeSocketMenu" and isinstance(value, int):
                shown = modifier.id_properties_ui(item.identifier).as_dict().get("items", ())
                value = next((entry[0] for entry in shown if entry[-1] == value), value)
        if item.socket_type == "NodeSocketBool" and value is not None:
            value = bool(value)
        yield label, _plain_or_name(value)


def _plain_or_name(value: Any) -> Any:
    if hasattr(value, "name"):
        return value.name
    return plain(value)


def _mesh(structs: BlockStructs, path: str, mesh: Any) -> None:
    structs.attributes("attributes", mesh.attributes)
    starts = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_start", starts)
    structs.add("faces", FREE, {"starts": structs.arrays.add(starts)})
    places: list[int] = []
    weights: list[float] = []
    for index, vertex in enumerate(mesh.vertices):
        for group, weight in sorted((item.group, item.weight) for item in vertex.groups):
            places += (index, group)
            weights.append(weight)
    if places:
        entry = {"places": structs.arrays.add(np.array(places, np.int32), 2)}
        structs.add("weights", FREE, entry | {"weights": structs.arrays.add(np.array(weights, np.float32))})


def _shape_keys(structs: BlockStructs, path: str, keys: Any) -> None:
    for label, key in labelled(keys.key_blocks):
        points = key.data
        if len(points) and points[0].bl_rna.identifier == "ShapeKeyPoint":
            array = np.empty(len(points) * 3, np.float32)
            points.foreach_get("co", array)
            structs.add(f"key_blocks[{label}].points", FREE, {"co": structs.arrays.add(array, 3)})


def _collection(structs: BlockStructs, path: str, collection: Any) -> None:
    structs.add(path, layout_of(collection).name, {"objects": sorted(member.name for member in collection.objects)})


def _scene(structs: BlockStructs, path: str, scene: Any) -> None:
    structs.add(path, "Scene", {"objects": sorted(member.name for member in scene.collection.objects)})
    for layer in scene.view_layers:
        if layer.layer_collection is not None:
            for names, node in layer_collections(layer):
                if any(flags := layer_flags(node)):
                    values = {"flags": [plain(flag) for flag in flags]}
                    structs.add(f"view_layers[{layer.name}].collections[{'/'.join(names)}]", FREE, values)


def _text(structs: BlockStructs, path: str, text: Any) -> None:
    structs.add(path, "Text", {"content": plain(text.as_string())})


def _animation_curves(structs: BlockStructs, path: str, action: Any) -> None:
    """Keyframes by the property that they animate."""
    if hasattr(action, "layers"):
        bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
        curves = [curve for bag in bags for curve in bag.fcurves]
    else:
        curves = list(action.fcurves)
    for curve in curves:
        structs.struct(f"fcurves[{curve.data_path}][{curve.array_index}]", curve)


READERS: dict[str, Reader] = {
    "Action": _animation_curves,
    "Collection": _collection,
    "Key": _shape_keys,
    "Mesh": _mesh,
    "NodeTree": _tree,
    "Object": _object,
    "Scene": _scene,
    "Text": _text,
}
