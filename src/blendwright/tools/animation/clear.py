"""animation.clear"""

from __future__ import annotations

from pydantic import Field, model_validator

from blendwright.tool_api.arguments import Args, InnerName, Name, Result, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import DESTRUCTIVE_WRITE, Idempotence
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation.channels import (
    Channel,
    holder_findings,
    holder_of,
    path_of,
    refuse_stray_constraint,
    refuse_stray_property,
    write_values,
)
from blendwright.tools.animation_data import action_of, action_sharers, curve_list, curves
from blendwright.tools.checks import conflict, differs, existing_object, required_object

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
MOVED = ("animation.set_keyframe", {"object": "Box", "channel": "location", "frame": 1, "value": [0, 0, 1]})
SCALED = ("animation.set_keyframe", {"object": "Box", "channel": "scale", "frame": 1, "value": [1, 1, 2]})


class ClearArgs(Args):
    object: ObjectName = Field(description="Name of the object.")
    channel: Channel | None = optional(
        "Whose keys go; all of the object's own (not of its light or camera) when left out. property: see the argument property."
    )
    property: Name | None = optional("Key of the custom property, for channel property only.")

    constraint: InnerName | None = optional("Name of the constraint, for channels of a constraint only.", min_length=1)

    @model_validator(mode="after")
    def _names_what_it_should(self) -> ClearArgs:
        refuse_stray_property(self.channel, self.property)
        refuse_stray_constraint(self.channel, self.constraint)
        return self

    def path(self) -> str | None:
        return None if self.channel is None else path_of(self.channel, self.property, self.constraint)


class Cleared(Result):
    object: str = Field(description="Name of the object.")
    curves: int = Field(description="Number of animation curves that went.")
    keys: int = Field(description="Number of keys that went with them.")
    action_removed: str | None = Field(
        description="Name of the action that was deleted because nothing was left of it."
    )


class Clear(Tool[ClearArgs, Cleared]):
    """Remove the keyframes of an object, its light or its camera, of one channel or all. The object keeps the values of the current frame.

    An action that nobody uses any more is deleted; one that others use stays as it is, and the object lets go of it."""

    name = "animation.clear"
    promises = (
        DESTRUCTIVE_WRITE.but(idempotence=Idempotence.IDEMPOTENT)
        .writes_to(Kind.OBJECT, Kind.LIGHT, Kind.CAMERA, Kind.ACTION)
        .needs("animation_write")
    )
    examples = (
        Example({"object": "Box"}, BOX, MOVED, SCALED),
        Example({"object": "Box", "channel": "scale"}, BOX, MOVED, SCALED),
    )

    def check(self, scene: Scene, args: ClearArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object")
        problems = [] if obj is None else list(holder_findings(obj, args.channel))
        yield from problems
        if obj is None or problems:
            return
        obj = holder_of(obj, args.channel)
        if not curves(scene, obj, args.path()):
            return
        others = action_sharers(scene, obj)
        if others and len(curves(scene, obj, args.path())) < len(curves(scene, obj)):
            message = f"the animation of '{obj.name}' is shared with '{others[0]}', which would lose the keys as well"
            cure = "Leave channel out: then only this object lets go of the animation."
            yield conflict(message, "/channel", cure)

    def apply(self, scene: Scene, args: ClearArgs) -> Cleared:
        obj = holder_of(required_object(scene, args.object, "/object"), args.channel)
        selected = curves(scene, obj, args.path())
        count, keys = len(selected), sum(len(curve.keyframe_points) for curve in selected)
        everything = count == len(curves(scene, obj))
        action = action_of(obj)
        if action is None or not (selected or args.channel is None):
            return Cleared(object=args.object, curves=0, keys=0, action_removed=None)
        scene.edit(obj)
        _keep_values(scene, obj, selected)
        if everything:
            removed = _detach_action(scene, obj, action)
        else:
            removed = None
            scene.edit(action)
            all_curves: Block = curve_list(scene, obj)
            for curve in curves(scene, obj, args.path()):
                all_curves.remove(curve)
        return Cleared(object=args.object, curves=count, keys=keys, action_removed=removed)

    def verify(self, scene: Scene, args: ClearArgs, result: Cleared) -> Findings:
        obj = holder_of(required_object(scene, args.object, "/object"), args.channel)
        yield from differs("the number of its curves", 0, len(curves(scene, obj, args.path())), "/channel")
        if result.action_removed is not None:
            exists = scene.find(Kind.ACTION, result.action_removed) is not None
            yield from differs(f"the presence of '{result.action_removed}'", False, exists, "/object")


def _keep_values(scene: Scene, obj: Block, removed: list[Block]) -> None:
    """Write what the curves say at the current frame: what the channels hold may be from any evaluation before."""
    now = scene.active.frame_current_final
    values: dict[str, dict[int, float]] = {}
    for curve in removed:
        if not curve.mute:
            values.setdefault(curve.data_path, {})[curve.array_index] = curve.evaluate(now)
    for path, numbers in values.items():
        write_values(obj, path, numbers)


def _detach_action(scene: Scene, obj: Block, action: Block) -> str | None:
    """Take the action off an object; returns its name when that was its last user."""
    name: str = action.name
    obj.animation_data.action = None
    if not obj.animation_data.drivers and not obj.animation_data.nla_tracks:
        obj.animation_data_clear()
    if action.use_fake_user or scene.users(action):
        return None
    scene.remove(action)
    return name
