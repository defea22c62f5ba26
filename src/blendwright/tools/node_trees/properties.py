"""Properties of nodes: their names, writing them from JSON, and reading them as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from blendwright.nodes.node_kinds import ZONES
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tools.node_trees import items
from blendwright.tools.node_trees.values import invalid, to_json, write_attribute
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import did_you_mean

# Properties that every node has. Those that only concern the look in the editor can be written, but are not exported.
SHARED = ("label", "mute", "parent", "location", "warning_propagation", "hide", "width", "use_custom_color", "color")
SHARED_READ = ("label", "mute", "parent", "warning_propagation")
# State of the editor, second views of the same data, and values that Blender computes.
NOT_CONTENT = frozenset(
    {"rna_type", "inspection_index", "enum_definition", "is_active_output", "input_whitepoint", "output_whitepoint"}
)
REFERENCES = {
    "NodeTree": Kind.NODE_GROUP,
    "GeometryNodeTree": Kind.NODE_GROUP,
    "ShaderNodeTree": Kind.NODE_GROUP,
    "CompositorNodeTree": Kind.NODE_GROUP,
    "Scene": Kind.SCENE,
    "MovieClip": Kind.MOVIE_CLIP,
    "Mask": Kind.MASK,
    "Texture": Kind.TEXTURE,
    "Object": Kind.OBJECT,
    "Collection": Kind.COLLECTION,
    "Material": Kind.MATERIAL,
    "Image": Kind.IMAGE,
    "VectorFont": Kind.FONT,
    "Sound": Kind.SOUND,
    "Text": Kind.TEXT,
}
# Subtypes of strings that name a file or directory. Blender would read or write there, so these are not content.
PATHS = ("FILE_PATH", "DIR_PATH")
# Blender 4.5 also shows the inputs of compositor nodes as settings, whose description contains this text.
DEPRECATED = "(Deprecated"
PAIRED, PARENT, GROUP = "paired_output", "parent", "node_tree"
_names_by_type: dict[str, tuple[str, ...]] = {}


def own_properties(node: Block) -> tuple[str, ...]:
    """Return the names of the content properties that belong to a node's own type, in Blender's order."""
    kind: str = node.bl_idname
    names = _names_by_type.get(kind)
    if names is None:
        shared = node.bl_rna.base
        while shared.identifier != "Node":
            shared = shared.base
        names = _names_by_type[kind] = tuple(
            prop.identifier
            for prop in node.bl_rna.properties
            if prop.identifier not in shared.properties
            and prop.identifier not in NOT_CONTENT
            and not prop.identifier.startswith("active_")
            and _is_content(prop, kind)
        )
    return names


def _is_content(prop: Block, kind: str) -> bool:
    if prop.identifier == "socket_idname":
        return kind != "NodeImplicitConversion"  # its data_type has the same information
    if prop.type == "COLLECTION":
        if prop.srna:
            return "new" in prop.srna.functions
        return False
    if prop.identifier == PAIRED:
        return kind in ZONES  # Blender 4.5 crashes when code reads this property of an experimental zone
    if prop.type == "POINTER":
        return prop.is_readonly or prop.fixed_type.identifier in REFERENCES
    if DEPRECATED in prop.description:
        return False
    return not prop.is_readonly and not (prop.type == "STRING" and prop.subtype in PATHS)


def read_properties(node: Block, ids: dict[str, str]) -> dict[str, Any]:
    """Return all values of a node except its inputs. `ids` contains the ids of nodes by name."""
    names = [name for name in SHARED_READ if hasattr(node, name)] + list(own_properties(node))
    return {name: _read(node, name, ids) for name in names}


def _read(node: Block, name: str, ids: dict[str, str]) -> Any:
    prop = node.bl_rna.properties[name]
    if prop.type == "COLLECTION":
        return items.read_items(node, name)
    value = getattr(node, name)
    if prop.type != "POINTER" or value is None:
        return to_json(value)
    if prop.fixed_type.identifier == "Node":
        return ids[value.name]
    if prop.fixed_type.identifier in REFERENCES:
        return to_json(value)
    return items.read_struct(value)


def write_property(scene: Scene, node: Block, name: str, value: Any, at: str, *, group: Block) -> None:
    """Write one property that does not refer to a node of the tree.

    `group` is the node group that contains the node, or that the edited copy will replace. Raise StepError if the
    property or the value is unknown.
    """
    prop = node.bl_rna.properties.get(name)
    if prop is None or name not in (*SHARED, *own_properties(node)):
        names = [*own_properties(node), *SHARED]
        cure = did_you_mean(name, names, otherwise=f"Known properties: {', '.join(names)}.")
        raise invalid(f"node '{node.name}' ({node.bl_idname}) has no property '{name}'", at, cure)
    if prop.type == "COLLECTION":
        items.write_items(node, name, value, at)
    elif prop.type == "POINTER" and prop.fixed_type.identifier not in REFERENCES:
        items.write_struct(getattr(node, name), value, at)
    else:
        _write(scene, node, prop, value, at, group)


def _write(scene: Scene, node: Block, prop: Block, value: Any, at: str, group: Block) -> None:
    name: str = prop.identifier
    blender_value = value
    if prop.type == "POINTER" and value is not None:
        blender_value = scene.require(REFERENCES[prop.fixed_type.identifier], str(value), at)
        if name == GROUP:
            refuse_nesting(group, blender_value, at)
    elif prop.type == "ENUM" and prop.is_enum_flag and isinstance(value, list):
        value = sorted(cast("list[str]", value))
        blender_value = set(value)
    if to_json(getattr(node, name)) == value:
        return
    cure = "Use a value that the property can have."
    write_attribute(node, name, value, blender_value, f"'{name}' of node '{node.name}'", at, cure)


def refuse_nesting(group: Block, inner: Block, at: str) -> None:
    """Raise StepError if `inner` is of another type or contains `group`. Blender ignores such nesting without an error."""
    if inner.bl_idname != group.bl_idname:
        message = f"node group '{inner.name}' is a {inner.bl_idname}, not a {group.bl_idname}"
        raise StepError.of(Fault.SCENE_CONFLICT, message, at=at, cure=f"Name a {group.bl_idname}.")
    if group in nested_trees(inner):
        message = f"'{group.name}' would contain itself through '{inner.name}'"
        raise StepError.of(Fault.SCENE_CONFLICT, message, at=at, cure="Use another group.")


def nested_trees(tree: Block) -> Iterator[Block]:
    """Yield a group and all groups inside it, each one time."""
    waiting, seen = [tree], {tree}
    while waiting:
        current = waiting.pop()
        yield current
        for node in current.nodes:
            inner = getattr(node, GROUP, None)
            if inner is not None and inner not in seen:
                seen.add(inner)
                waiting.append(inner)
