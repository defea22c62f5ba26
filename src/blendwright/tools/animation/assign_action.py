"""Tool animation.assign_action"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from blendwright.tool_api.arguments import Name, Result, optional
from blendwright.tool_api.mentions import Names, Role, makes
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE, Revert, Version
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation.actions import slot_for, target_part
from blendwright.tools.animation.animated_channel import WRITTEN, AnimatedBlock
from blendwright.tools.animation.curve_writing import keep_values
from blendwright.tools.animation_data import LAYERED, action_of, curves, is_driven
from blendwright.tools.checks import conflict, differs, existing
from blendwright.values.errors import StepError

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
BALL = ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball"})
MOVED = ("animation.set_keyframe", {"object": "Box", "channel": "location", "frame": 1, "value": [0, 0, 1]})
# surely=False: keyframe calls of the same plan create actions without naming them.
ActionName = Annotated[Name, Names(Role.USES, Kind.ACTION.value, surely=False)]


class AssignActionArgs(AnimatedBlock):
    action: ActionName = Field(description="Name of the action.")
    copy_as: Annotated[Name, makes(Kind.ACTION)] | None = optional(
        "Assign a copy of the action with this new name. Without it, the datablock shares the action's keys."
    )
    slot: Name | None = optional("Slot of the action (Blender 4.4 and later). Default: a matching slot.")


class ActionAssigned(Result):
    object: str = Field(description="Name of the object, or of the material, world, node group or scene.")
    part: str = Field(
        description="Name of the animated part: the datablock itself, its data, its nodes or its shape keys."
    )
    action: str = Field(description="Name of the assigned action.")
    curves: int = Field(description="Number of animation curves that the part now has.")
    changed: bool = Field(description="False if exactly this action was already assigned.")


class AssignAction(Tool[AssignActionArgs, ActionAssigned]):
    """Animate a datablock with an existing action, shared or as a copy.

    An action for data, nodes or shape keys is assigned to those of the object or material. The previously assigned
    action is unassigned but not deleted.
    """

    name = "animation.assign_action"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(*WRITTEN).needs("animation_write")
    examples = (
        Example({"object": "Ball", "action": "BoxAction"}, BOX, BALL, MOVED),
        Example({"object": "Ball", "action": "BoxAction", "copy_as": "BallAction"}, BOX, BALL, MOVED),
    )

    def revert_for(self, args: AssignActionArgs, blender: Version) -> Revert:
        if args.scene:
            return Revert.MEMFILE
        return self.revert

    def check(self, scene: Scene, args: AssignActionArgs) -> Findings:
        action = yield from existing(scene, Kind.ACTION, args.action, "/action")
        if action is None:
            return
        try:
            block = args.find(scene)
            _, part = target_part(scene, block, action, args.slot)
        except StepError as error:
            yield error.finding
            return
        if args.copy_as is not None and not _has_action(scene, part, args):
            yield from scene.name_conflicts(Kind.ACTION, args.copy_as, "/copy_as")
        for curve in _action_curves(scene, part, action, args.slot):
            if is_driven(part, curve.data_path):
                message = f"{curve.data_path} of '{block.name}' has a driver, which overrides keyframes"
                yield conflict(message, args.at, "Remove the driver first with driver.remove.")

    def apply(self, scene: Scene, args: AssignActionArgs) -> ActionAssigned:
        action = scene.require(Kind.ACTION, args.action, "/action")
        owner, part = target_part(scene, args.find(scene), action, args.slot)
        changed = not _has_action(scene, part, args)
        if changed:
            if not args.scene:
                scene.edit(owner)
            keep_values(scene, part, curves(scene, part))
            if args.copy_as is not None:
                action = scene.adopt(Kind.ACTION, action.copy(), args.copy_as)
            assign(scene, part, action, args.slot)
            keep_values(scene, part, curves(scene, part))
        return ActionAssigned(
            object=args.find(scene).name,
            part=part.name,
            action=part.animation_data.action.name,
            curves=len(curves(scene, part)),
            changed=changed,
        )

    def verify(self, scene: Scene, args: AssignActionArgs, result: ActionAssigned) -> Findings:
        action = scene.require(Kind.ACTION, args.action, "/action")
        _, part = target_part(scene, args.find(scene), action, args.slot)
        yield from differs("that it has the action", True, _has_action(scene, part, args), "/action")


def assign(scene: Scene, part: Block, action: Block, slot: str | None) -> None:
    """Assign an action to a part of a datablock, with the matching slot. The caller has opened the datablock for
    writing.
    """
    data = part.animation_data or part.animation_data_create()
    data.action = action
    if scene.version >= LAYERED:
        data.action_slot = slot_for(scene, action, part, slot)


def _has_action(scene: Scene, part: Block, args: AssignActionArgs) -> bool:
    action = action_of(part)
    if action is None or action.name != (args.copy_as or args.action):
        return False
    return scene.version < LAYERED or part.animation_data.action_slot == slot_for(scene, action, part, args.slot)


def _action_curves(scene: Scene, part: Block, action: Block, slot: str | None) -> list[Block]:
    if scene.version < LAYERED:
        return list(action.fcurves)
    chosen = slot_for(scene, action, part, slot)
    channelbags = [strip.channelbag(chosen) for layer in action.layers for strip in layer.strips]
    return [curve for channelbag in channelbags if channelbag is not None for curve in channelbag.fcurves]
