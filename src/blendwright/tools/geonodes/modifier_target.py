"""What a payload works on: an object, its geometry-nodes modifier, and the node group; found, or created where that is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import Field

from blendwright.nodes.payloads.node_tree import TreeTarget
from blendwright.nodes.payloads.parts import GROUP_INPUT, GROUP_OUTPUT
from blendwright.nodes.tree import new_tree
from blendwright.tool_api.arguments import Result
from blendwright.tool_api.effects import Kind
from blendwright.tool_api.scene import Block, Scene
from blendwright.tools.modifier.blender_settings import missing_modifier
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

TREE = "GeometryNodeTree"
NODES = "NODES"
# What can have a geometry-nodes modifier.
FIT = ("MESH", "CURVE", "SURFACE", "FONT", "CURVES", "POINTCLOUD", "VOLUME", "GREASEPENCIL")
# Unlike datablocks, modifiers keep 63 bytes of their names in every version.
NAME_BYTES = 63
AT = "/target"


@dataclass(frozen=True, slots=True)
class Target:
    """The names, and what may be created. Without a group's name it is the modifier's own, or one named after the modifier."""

    object: str
    modifier: str
    group: str | None
    create_object: bool
    create_modifier: bool

    @classmethod
    def of_tree(cls, target: TreeTarget) -> Target:
        named = target.object_name, target.modifier_name, target.node_group_name
        return cls(*named, create_object=target.allow_create_object, create_modifier=True)

    def group_for(self, modifier: Block | None) -> str:
        if self.group is not None:
            return self.group
        held = modifier.node_group if modifier is not None else None
        return held.name if held is not None else self.modifier


class TreeChanged(Result):
    """A tree that a tool built or changed."""

    object: str = Field(description="Name of the object.")
    modifier: str = Field(description="Name of its modifier.")
    node_group: str = Field(description="Name of the node group.")
    created: list[str] = Field(description="What had to be created: of object, modifier and node_group.")
    nodes: int = Field(description="Nodes in the tree now.")
    links: int = Field(description="Links in the tree now.")


def problems(scene: Scene, target: Target) -> Iterator[Finding]:
    """What speaks against working on this target."""
    modifier: Block | None = None
    obj = scene.find(Kind.OBJECT, target.object)
    if obj is None:
        if not target.create_object:
            yield from scene.missing(Kind.OBJECT, target.object, f"{AT}/object_name")
            return
        yield from scene.taken(Kind.OBJECT, target.object, f"{AT}/object_name")
        yield from scene.taken(Kind.MESH, target.object, f"{AT}/object_name")
    elif obj.type not in FIT:
        message = f"'{obj.name}' is of type {obj.type}, which takes no geometry nodes"
        yield Finding(Fault.SCENE_CONFLICT, message, f"{AT}/object_name", f"Name an object of type {', '.join(FIT)}.")
        return
    else:
        modifier = obj.modifiers.get(target.modifier)
        if modifier is not None and modifier.type != NODES:
            message = f"modifier '{target.modifier}' of '{obj.name}' is of type {modifier.type}, not NODES"
            yield Finding(Fault.SCENE_CONFLICT, message, f"{AT}/modifier_name", "Choose another name.")
            return
    if modifier is None and not target.create_modifier:
        if obj is not None:
            yield from missing_modifier(obj, target.modifier, f"{AT}/modifier_name")
            return
        message = f"the new object '{target.object}' has no modifier '{target.modifier}', and none may be created"
        cure = "Set allow_create_modifier in ensure_target too."
        yield Finding(Fault.TARGET_NOT_FOUND, message, f"{AT}/modifier_name", cure)
    yield from _unfit_names(scene, target, modifier)


def _unfit_names(scene: Scene, target: Target, modifier: Block | None) -> Iterator[Finding]:
    if len(target.modifier.encode()) > NAME_BYTES:
        message = f"the name has {len(target.modifier.encode())} bytes; modifiers keep at most {NAME_BYTES}"
        yield Finding(Fault.ARGS_INVALID, message, f"{AT}/modifier_name", "Shorten the name.")
    name = target.group_for(modifier)
    group = scene.find(Kind.NODE_GROUP, name)
    at = f"{AT}/node_group_name" if target.group is not None else f"{AT}/modifier_name"
    if group is None:
        yield from scene.taken(Kind.NODE_GROUP, name, at)
        if modifier is not None and not target.create_modifier:
            message = f"modifier '{target.modifier}' has no node group"
            yield Finding(Fault.TARGET_NOT_FOUND, message, at, "Begin with ensure_target that allows to create it.")
    elif group.bl_idname != TREE:
        message = f"node group '{group.name}' is a {group.bl_idname}, not a {TREE}"
        yield Finding(Fault.SCENE_CONFLICT, message, at, "Name a geometry-nodes group, or a new one.")


def ensure(scene: Scene, target: Target) -> tuple[Block, list[str]]:
    """The node group, with an object and a modifier that can hold it; and what of these had to be created."""
    created: list[str] = []
    obj = scene.find(Kind.OBJECT, target.object)
    if obj is None:
        obj = scene.create(Kind.OBJECT, target.object, scene.create(Kind.MESH, target.object))
        scene.link(scene.active.collection, obj)
        created.append("object")
    modifier = obj.modifiers.get(target.modifier)
    name = target.group_for(modifier)
    if modifier is None:
        scene.edit(obj)
        modifier = obj.modifiers.new(target.modifier, NODES)
        created.append("modifier")
    group = scene.find(Kind.NODE_GROUP, name)
    if group is None:
        group = pass_through(scene.create(Kind.NODE_GROUP, name, TREE))
        created.append("node_group")
    return group, created


def attach(scene: Scene, target: Target, name: str) -> Block:
    """Let the modifier use the group. Last, because the inputs of the modifier start with the defaults of that moment."""
    modifier = scene.require(Kind.OBJECT, target.object).modifiers[target.modifier]
    group = scene.require(Kind.NODE_GROUP, name)
    if modifier.node_group != group:
        scene.set(modifier, "node_group", group)
    return group


def pass_through(tree: Block) -> Block:
    """Fill a new tree: what comes in goes out."""
    start = new_tree()
    for side, sockets in (("OUTPUT", start.interface.outputs), ("INPUT", start.interface.inputs)):
        for socket in sockets:
            tree.interface.new_socket(socket.name, in_out=side, socket_type=socket.socket_type)
    for planned in start.nodes:
        node = tree.nodes.new(planned.bl_idname)
        node.name = planned.id
        node.location = planned.location
        node.select = False
    tree.links.new(tree.nodes[GROUP_INPUT].outputs[0], tree.nodes[GROUP_OUTPUT].inputs[0])
    return tree


def found(scene: Scene, target: Target) -> tuple[Block, Block, Block]:
    """Object, modifier and node group of a target that is there."""
    obj = scene.require(Kind.OBJECT, target.object, f"{AT}/object_name")
    modifier = obj.modifiers[target.modifier]
    return obj, modifier, modifier.node_group


def changed(target: Target, tree: Block, created: list[str]) -> TreeChanged:
    return TreeChanged(
        object=target.object,
        modifier=target.modifier,
        node_group=tree.name,
        created=created,
        nodes=len(tree.nodes),
        links=len(tree.links),
    )


def not_there(scene: Scene, target: Target, result: TreeChanged) -> Iterator[Finding]:
    """Whether the modifier of the object uses the group now."""
    obj = scene.find(Kind.OBJECT, target.object)
    modifier = obj.modifiers.get(target.modifier) if obj is not None else None
    group = modifier.node_group if modifier is not None else None
    if group is None or group.name != result.node_group:
        message = f"modifier '{target.modifier}' of '{target.object}' does not use '{result.node_group}'"
        yield Finding(Fault.SCENE_CONFLICT, message, AT)
