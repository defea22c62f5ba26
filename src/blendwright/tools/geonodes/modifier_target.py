"""What a payload works on: an object, its geometry-nodes modifier and the node group, created where that is allowed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from blendwright.nodes.edits import ModifierPayload
from blendwright.nodes.payloads import GROUP_INPUT, GROUP_OUTPUT, NodeTreePayload
from blendwright.nodes.tree import new_tree
from blendwright.tool_api.arguments import Args, Name, renamed
from blendwright.tool_api.mentions import MODIFIER, Mention, ObjectName, Role, in_stack
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Findings
from blendwright.tools.checks import conflict, existing_object
from blendwright.tools.modifier.blender_settings import missing_modifier, name_problems
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

TREE = "GeometryNodeTree"
NODES = "NODES"
# What can have a geometry-nodes modifier.
SUPPORTED_TYPES = ("MESH", "CURVE", "SURFACE", "FONT", "CURVES", "POINTCLOUD", "VOLUME", "GREASEPENCIL")
AT = "/target"


class NodesModifierArgs(Args):
    object: ObjectName = renamed("object", "object_name", description="Object whose modifier holds the tree.")
    modifier: Annotated[Name, in_stack(Role.USES, "object")] | None = renamed(
        "modifier",
        "modifier_name",
        default=None,
        description="Its geometry-nodes modifier; the only one when left out.",
    )


@dataclass(frozen=True, slots=True)
class ModifierTarget:
    """The names, and what may be created. Without a group's name it is the modifier's own, or one named after the modifier."""

    object: str
    modifier: str
    group: str | None
    create_object: bool
    create_modifier: bool

    def group_for(self, modifier: Block | None) -> str:
        if self.group is not None:
            return self.group
        if modifier is not None:
            current = modifier.node_group
        else:
            current = None
        if current is not None:
            return current.name
        return self.modifier


def target_of(payload: ModifierPayload) -> ModifierTarget:
    """The target of a payload; a patch says in its operations what may be created."""
    names = payload.target.object_name, payload.target.modifier_name, payload.target.node_group_name
    if isinstance(payload, NodeTreePayload):
        return ModifierTarget(*names, create_object=payload.target.allow_create_object, create_modifier=True)
    allowed = [operation for operation in payload.ops if operation.op == "ensure_target"]
    return ModifierTarget(
        *names,
        create_object=any(operation.allow_create_object for operation in allowed),
        create_modifier=any(operation.allow_create_modifier for operation in allowed),
    )


def target_mentions(target: ModifierTarget) -> Iterable[Mention]:
    """What is made where it is missing, and what must be there. A group that is not named may be one that the modifier has."""
    if target.create_modifier:
        made = Role.ENSURES
    else:
        made = Role.USES
    if target.create_object:
        whole = Role.ENSURES
    else:
        whole = Role.USES
    yield Mention(whole, Kind.OBJECT.blocks, target.object, at=f"{AT}/object_name")
    yield Mention(made, MODIFIER, target.modifier, target.object, surely=False, at=f"{AT}/modifier_name")
    group, at = (target.modifier, "modifier_name") if target.group is None else (target.group, "node_group_name")
    yield Mention(made, Kind.NODE_GROUP.blocks, group, surely=False, at=f"{AT}/{at}")


def target_problems(scene: Scene, target: ModifierTarget) -> Findings:
    """What speaks against working on this target."""
    modifier: Block | None = None
    obj = scene.find(Kind.OBJECT, target.object)
    if obj is None:
        if not target.create_object:
            yield from scene.missing(Kind.OBJECT, target.object, f"{AT}/object_name")
            return
        yield from scene.name_conflicts(Kind.OBJECT, target.object, f"{AT}/object_name")
        yield from scene.name_conflicts(Kind.MESH, target.object, f"{AT}/object_name")
    elif obj.type not in SUPPORTED_TYPES:
        cure = f"Name an object of type {', '.join(SUPPORTED_TYPES)}."
        yield conflict(f"'{obj.name}' is of type {obj.type}, which takes no geometry nodes", f"{AT}/object_name", cure)
        return
    else:
        modifier = obj.modifiers.get(target.modifier)
        if modifier is not None and modifier.type != NODES:
            message = f"modifier '{target.modifier}' of '{obj.name}' is of type {modifier.type}, not NODES"
            yield conflict(message, f"{AT}/modifier_name", "Choose another name.")
            return
    if modifier is None and not target.create_modifier:
        if obj is not None:
            yield from missing_modifier(obj, target.modifier, f"{AT}/modifier_name")
            return
        message = f"the new object '{target.object}' has no modifier '{target.modifier}', and none may be created"
        cure = "Set allow_create_modifier in ensure_target too."
        yield Finding(Fault.TARGET_NOT_FOUND, message, f"{AT}/modifier_name", cure)
    yield from name_problems(target.modifier, f"{AT}/modifier_name")
    name = target.group_for(modifier)
    group = scene.find(Kind.NODE_GROUP, name)
    if target.group is not None:
        at = f"{AT}/node_group_name"
    else:
        at = f"{AT}/modifier_name"
    if group is None:
        yield from scene.name_conflicts(Kind.NODE_GROUP, name, at)
        if modifier is not None and not target.create_modifier:
            message = f"modifier '{target.modifier}' has no node group"
            yield Finding(Fault.TARGET_NOT_FOUND, message, at, "Begin with ensure_target that allows to create it.")
    elif group.bl_idname != TREE:
        message = f"node group '{group.name}' is a {group.bl_idname}, not a {TREE}"
        yield conflict(message, at, "Name a geometry-nodes group, or a new one.")


def ensure_target(scene: Scene, target: ModifierTarget) -> tuple[Block, list[str]]:
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
        group = fill_new_tree(scene.create(Kind.NODE_GROUP, name, TREE))
        created.append("node_group")
    return group, created


def attach_group(scene: Scene, target: ModifierTarget, name: str) -> Block:
    """Let the modifier use the group. Last, because the inputs of the modifier start with the defaults of that moment."""
    modifier = scene.require(Kind.OBJECT, target.object).modifiers[target.modifier]
    group = scene.require(Kind.NODE_GROUP, name)
    if modifier.node_group != group:
        scene.set(modifier, "node_group", group)
    return group


def fill_new_tree(tree: Block) -> Block:
    """Fill a new tree so that it hands its geometry through."""
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


def tree_problems(scene: Scene, object_name: str, modifier_name: str | None) -> Findings:
    """Why there is no tree to read on that object: no such object, no such modifier, or no node group."""
    obj = yield from existing_object(scene, object_name, "/object")
    if obj is None:
        return
    nodes = [modifier for modifier in obj.modifiers if modifier.type == NODES]
    if modifier_name is None:
        if len(nodes) != 1:
            message = f"'{object_name}' has {len(nodes) or 'no'} geometry-nodes modifiers"
            if nodes:
                cure = f"Name one: {', '.join(one.name for one in nodes)}."
            else:
                cure = "Build a tree on it first."
            if nodes:
                fault = Fault.ARGS_INVALID
            else:
                fault = Fault.TARGET_NOT_FOUND
            yield Finding(fault, message, "/modifier", cure)
            return
    elif modifier_name not in [one.name for one in nodes]:
        other = obj.modifiers.get(modifier_name)
        if other is None:
            yield from missing_modifier(obj, modifier_name, "/modifier")
        else:
            message = f"modifier '{modifier_name}' is of type {other.type}, not NODES"
            yield conflict(message, "/modifier", "Name a geometry-nodes modifier.")
        return
    group = nodes_modifier(scene, object_name, modifier_name).node_group
    if group is None or group.bl_idname != TREE:
        message = "the modifier has no node group"
        yield Finding(Fault.TARGET_NOT_FOUND, message, "/modifier", "Give it one with geonodes.node_tree.")


def nodes_modifier(scene: Scene, object_name: str, name: str | None) -> Block:
    """The modifier of that name, or the only one with nodes."""
    modifiers = scene.require(Kind.OBJECT, object_name, "/object").modifiers
    if name is not None:
        return modifiers[name]
    return next(each for each in modifiers if each.type == NODES)
