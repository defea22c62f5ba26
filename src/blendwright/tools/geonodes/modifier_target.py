"""Target of a payload: an object, its geometry-nodes modifier and the node group, created if the payload allows it."""

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
# Types of objects that can have a geometry-nodes modifier.
SUPPORTED_TYPES = ("MESH", "CURVE", "SURFACE", "FONT", "CURVES", "POINTCLOUD", "VOLUME", "GREASEPENCIL")
AT = "/target"


class NodesModifierArgs(Args):
    object: ObjectName = renamed("object", "object_name", description="Object with the modifier that uses the tree.")
    modifier: Annotated[Name, in_stack(Role.USES, "object")] | None = renamed(
        "modifier",
        "modifier_name",
        default=None,
        description="Name of its geometry-nodes modifier; may be left out if there is only one.",
    )


@dataclass(frozen=True, slots=True)
class ModifierTarget:
    """The names in a payload's target, and permissions to create what is missing.

    Without a group name, the target is the modifier's present group, or a new one named after the modifier.
    """

    object: str
    modifier: str
    group: str | None
    create_object: bool
    create_modifier: bool

    def group_for(self, modifier: Block | None) -> str:
        """Return the name of the node group to use with this modifier, which is None if it does not exist."""
        if self.group is not None:
            return self.group
        if modifier is not None and modifier.node_group is not None:
            return modifier.node_group.name
        return self.modifier


def target_of(payload: ModifierPayload) -> ModifierTarget:
    """Return the target of a payload. A patch permits creation by `ensure_target` operations."""
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
    """Yield mentions of the object, modifier and node group: ensured if they may be created, else used.

    A group without a name in the payload may be one that the modifier already uses, so its mention is not certain.
    """
    object_role = modifier_role = Role.USES
    if target.create_object:
        object_role = Role.ENSURES
    if target.create_modifier:
        modifier_role = Role.ENSURES
    yield Mention(object_role, Kind.OBJECT.blocks, target.object, at=f"{AT}/object_name")
    yield Mention(modifier_role, MODIFIER, target.modifier, target.object, surely=False, at=f"{AT}/modifier_name")

    group, argument = target.group, "node_group_name"
    if group is None:
        group, argument = target.modifier, "modifier_name"
    yield Mention(modifier_role, Kind.NODE_GROUP.blocks, group, surely=False, at=f"{AT}/{argument}")


def target_problems(scene: Scene, target: ModifierTarget) -> Findings:
    """Yield findings if the target is missing, has the wrong type, or may not be created."""
    modifier: Block | None = None
    obj = scene.find(Kind.OBJECT, target.object)
    if obj is None:
        if not target.create_object:
            yield from scene.missing(Kind.OBJECT, target.object, f"{AT}/object_name")
            return
        yield from scene.name_conflicts(Kind.OBJECT, target.object, f"{AT}/object_name")
        yield from scene.name_conflicts(Kind.MESH, target.object, f"{AT}/object_name")
    elif obj.type not in SUPPORTED_TYPES:
        fix = f"Name an object of type {', '.join(SUPPORTED_TYPES)}."
        yield conflict(
            f"'{obj.name}' is of type {obj.type}, which does not support geometry nodes", f"{AT}/object_name", fix
        )
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
        message = f"the new object '{target.object}' has no modifier '{target.modifier}', and the payload does not allow to create it"
        fix = "Also set allow_create_modifier in ensure_target."
        yield Finding(Fault.TARGET_NOT_FOUND, message, f"{AT}/modifier_name", fix)
    yield from name_problems(target.modifier, f"{AT}/modifier_name")
    name = target.group_for(modifier)
    group = scene.find(Kind.NODE_GROUP, name)
    at = f"{AT}/modifier_name"
    if target.group is not None:
        at = f"{AT}/node_group_name"
    if group is None:
        yield from scene.name_conflicts(Kind.NODE_GROUP, name, at)
        if modifier is not None and not target.create_modifier:
            message = f"modifier '{target.modifier}' has no node group"
            yield Finding(
                Fault.TARGET_NOT_FOUND, message, at, "Begin with an ensure_target operation that allows to create it."
            )
    elif group.bl_idname != TREE:
        message = f"node group '{group.name}' is a {group.bl_idname}, not a {TREE}"
        yield conflict(message, at, "Name a geometry-nodes group, or a new one.")


def ensure_target(scene: Scene, target: ModifierTarget) -> tuple[Block, list[str]]:
    """Create the object, modifier and node group as needed. Return the group and the list of what was created.

    A new group is not yet assigned to the modifier; `attach_group` does that.
    """
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
    """Assign the node group to the modifier and return the group.

    Call this after all edits, because the modifier's inputs get the group's defaults at this moment.
    """
    modifier = scene.require(Kind.OBJECT, target.object).modifiers[target.modifier]
    group = scene.require(Kind.NODE_GROUP, name)
    if modifier.node_group != group:
        scene.set(modifier, "node_group", group)
    return group


def fill_new_tree(tree: Block) -> Block:
    """Add sockets and nodes to a new tree so that it passes its geometry through, and return the tree."""
    template = new_tree()
    for side, sockets in (("OUTPUT", template.interface.outputs), ("INPUT", template.interface.inputs)):
        for socket in sockets:
            tree.interface.new_socket(socket.name, in_out=side, socket_type=socket.socket_type)
    for planned in template.nodes:
        node = tree.nodes.new(planned.bl_idname)
        node.name = planned.id
        node.location = planned.location
        node.select = False
    tree.links.new(tree.nodes[GROUP_INPUT].outputs[0], tree.nodes[GROUP_OUTPUT].inputs[0])
    return tree


def tree_problems(scene: Scene, object_name: str, modifier_name: str | None) -> Findings:
    """Yield a finding if the object, the modifier or its node group is missing."""
    obj = yield from existing_object(scene, object_name, "/object")
    if obj is None:
        return
    nodes = [modifier for modifier in obj.modifiers if modifier.type == NODES]
    if modifier_name is None:
        if not nodes:
            message = f"'{object_name}' has no geometry-nodes modifiers"
            yield Finding(Fault.TARGET_NOT_FOUND, message, "/modifier", "Build a tree on it first.")
            return
        if len(nodes) > 1:
            message = f"'{object_name}' has {len(nodes)} geometry-nodes modifiers"
            fix = f"Name one: {', '.join(modifier.name for modifier in nodes)}."
            yield Finding(Fault.ARGS_INVALID, message, "/modifier", fix)
            return
    elif modifier_name not in [modifier.name for modifier in nodes]:
        existing = obj.modifiers.get(modifier_name)
        if existing is None:
            yield from missing_modifier(obj, modifier_name, "/modifier")
        else:
            message = f"modifier '{modifier_name}' is of type {existing.type}, not NODES"
            yield conflict(message, "/modifier", "Name a geometry-nodes modifier.")
        return
    group = nodes_modifier(scene, object_name, modifier_name).node_group
    if group is None or group.bl_idname != TREE:
        message = "the modifier has no node group"
        yield Finding(Fault.TARGET_NOT_FOUND, message, "/modifier", "Create one with geonodes.node_tree.")


def nodes_modifier(scene: Scene, object_name: str, name: str | None) -> Block:
    """Return the modifier of that name, or the first geometry-nodes modifier if `name` is None."""
    modifiers = scene.require(Kind.OBJECT, object_name, "/object").modifiers
    if name is not None:
        return modifiers[name]
    return next(modifier for modifier in modifiers if modifier.type == NODES)
