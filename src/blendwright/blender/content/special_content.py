"""Content beyond the layout of a type: nodes and sockets, modifier inputs, shape keys, poses, texts, collection members.

Sockets are listed by name, and only if they are in use. Their identifiers, and sockets for other data types, differ between
versions of Blender.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from blendwright.blender.content.structs import FREE, BlockStructs, joined, labelled, layout_of, plain
from blendwright.blender.fingerprint.identity import layer_collections, layer_flags
from blendwright.blender.fingerprint.type_layouts import bases

# Types and properties that a comparison treats specially.
LINKS, IDENTIFIER = "links", "identifier"

Reader = Callable[[BlockStructs, str, Any], None]


def read_special(structs: BlockStructs, block: Any) -> None:
    """Add the content beyond the layouts, of a datablock and of its embedded node tree."""
    for name in bases(block.bl_rna):
        if name in READERS:
            READERS[name](structs, "", block)
    tree = getattr(block, "node_tree", None)
    if tree is not None and tree.is_embedded_data:
        _tree(structs, "node_tree", tree)


def _tree(structs: BlockStructs, path: str, tree: Any) -> None:
    """Add the nodes, sockets, links and interface of a node tree."""
    links: list[list[Any]] = []
    for link in tree.links:
        start, end = _end(link.from_node, link.from_socket), _end(link.to_node, link.to_socket)
        links.append([*start, *end, link.is_muted])
    structs.add(joined(path, "links"), LINKS, {"links": sorted(links)})
    for node in tree.nodes:
        node_path = joined(path, f"nodes[{node.name}]")
        structs.struct(node_path, node)
        for side in ("inputs", "outputs"):
            for label, socket in labelled(filter(_is_in_use, getattr(node, side))):
                structs.add(f"{node_path}.{side}[{label}]", _socket_type(socket), _socket_values(socket))
    structs.items(joined(path, "interface"), tree.interface.items_tree)


def _is_in_use(socket: Any) -> bool:
    return socket.enabled and not socket.is_unavailable


def _end(node: Any, socket: Any) -> tuple[str, str, str]:
    """Return the node and both names of a socket, because a version of Blender may have changed one of them."""
    return node.name, socket.name, socket.identifier


def _socket_type(socket: Any) -> str:
    # Subtypes such as NodeSocketFloatFactor only define how Blender shows a value.
    return f"NodeSocket {socket.type}"


def _socket_values(socket: Any) -> dict[str, Any]:
    values: dict[str, Any] = {"hide": socket.hide, IDENTIFIER: socket.identifier}
    value = getattr(socket, "default_value", None)
    if value is not None and not socket.is_output:
        values["default_value"] = _plain_or_name(value)
    return values


def _object(structs: BlockStructs, path: str, owner: Any) -> None:
    linked: list[str | None] = []
    for slot in owner.material_slots:
        if slot.link != "OBJECT":
            continue
        if slot.material:
            linked.append(slot.material.name)
        else:
            linked.append(None)
    structs.add(path, "Object", {"material_slots": linked})
    for modifier in owner.modifiers:
        if modifier.type == "NODES" and modifier.node_group is not None:
            inputs_path = joined(path, f"modifiers[{modifier.name}].inputs")
            structs.add(inputs_path, FREE, dict(_modifier_inputs(modifier)))
    if owner.pose is not None:
        structs.items("pose.bones", owner.pose.bones)


def _is_value_input(item: Any) -> bool:
    return item.item_type == "SOCKET" and item.in_out == "INPUT" and item.socket_type != "NodeSocketGeometry"


def _modifier_inputs(modifier: Any) -> Iterator[tuple[str, Any]]:
    """Yield the inputs of a node group modifier with their values."""
    inputs = filter(_is_value_input, modifier.node_group.interface.items_tree)
    # From Blender 5.2 on, inputs are RNA properties. Before, they are custom properties of the modifier.
    rna = getattr(getattr(modifier, "properties", None), "inputs", None)
    for label, item in labelled(inputs):
        value: Any
        if rna is not None:
            value = getattr(getattr(rna, item.identifier, None), "value", None)
        else:
            value = modifier.get(item.identifier)
            if item.socket_type == "NodeSocketMenu" and isinstance(value, int):
                entries = modifier.id_properties_ui(item.identifier).as_dict().get("items", ())
                names = {entry[-1]: entry[0] for entry in reversed(entries)}
                value = names.get(value, value)
        if item.socket_type == "NodeSocketBool" and value is not None:
            value = bool(value)
        yield label, _plain_or_name(value)


def _plain_or_name(value: Any) -> Any:
    """Return a datablock's name, or another value as JSON."""
    if hasattr(value, "name"):
        return value.name
    return plain(value)


def _mesh(structs: BlockStructs, path: str, mesh: Any) -> None:
    structs.attributes("attributes", mesh.attributes)
    starts = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_start", starts)
    structs.add("faces", FREE, {"starts": structs.arrays.add(starts)})
    groups: list[int] = []
    weights: list[float] = []
    for index, vertex in enumerate(mesh.vertices):
        for group, weight in sorted((item.group, item.weight) for item in vertex.groups):
            groups += (index, group)
            weights.append(weight)
    if groups:
        entry = {"places": structs.arrays.add(np.array(groups, np.int32), 2)}
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
                flags = layer_flags(node)
                if any(flags):
                    values = {"flags": [*map(plain, flags)]}
                    structs.add(f"view_layers[{layer.name}].collections[{'/'.join(names)}]", FREE, values)


def _text(structs: BlockStructs, path: str, text: Any) -> None:
    structs.add(path, "Text", {"content": plain(text.as_string())})


def _animation_curves(structs: BlockStructs, path: str, action: Any) -> None:
    """Add the F-curves of an action by the property that they animate."""
    if hasattr(action, "layers"):
        curves: list[Any] = []
        for layer in action.layers:
            for strip in layer.strips:
                for bag in strip.channelbags:
                    curves += bag.fcurves
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
