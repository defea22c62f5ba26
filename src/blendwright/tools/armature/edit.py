from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Result, Scene, Tool
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE, Idempotence
from blendwright.tools.armature.armature_bones import bone_differences, layout_of, uses_of_bones, write_bones
from blendwright.tools.armature.bones import MAX_BONES, BoneName, BoneSpec, Layout, planned
from blendwright.tools.checks import conflict, existing_object, invalid, required_object
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

RIG = (
    "armature.create",
    {
        "name": "Rig",
        "bones": [
            {"name": "Upper", "head": [0, 0, 0], "tail": [0, 0, 1]},
            {"name": "Lower", "tail": [0, 0, 2], "parent": "Upper", "connected": True, "collections": ["Arm"]},
        ],
    },
)


class EditArmatureArgs(Args):
    object: ObjectName = Field(
        description="Name of the armature object. Objects that share its armature data change too."
    )
    bones: Annotated[list[BoneSpec], Field(max_length=MAX_BONES)] = Field(
        default=[],
        description="Bones to change or add. An existing bone changes only in the given settings; a bone with a new "
        "name is added.",
    )
    remove: Annotated[list[BoneName], Field(max_length=MAX_BONES)] = Field(
        default=[], description="Bones to remove, with their pose. Their child bones lose their parent."
    )

    @model_validator(mode="after")
    def _asks_something(self) -> EditArmatureArgs:
        if not self.bones and not self.remove:
            raise PydanticCustomError("nothing_asked", "give bones, remove, or both")
        return self


class ArmatureEdited(Result):
    object: str = Field(description="Name of the armature object.")
    bones: list[str] = Field(description="Names of all its bones, parents first.")
    added: list[str] = Field(description="Names of the added bones.")
    removed: list[str] = Field(description="Names of the removed bones.")
    changed: bool = Field(description="False if everything was already as requested.")


class EditArmature(Tool[EditArmatureArgs, ArmatureEdited]):
    """Add, change or remove bones of an armature in its rest position."""

    name = "armature.edit"
    promises = SAFE_ONE_TIME_WRITE.writes_to(Kind.OBJECT, Kind.ARMATURE, Kind.ACTION).needs("object_write")
    destructive_with = ("remove",)
    examples = (
        Example(
            {
                "object": "Rig",
                "bones": [
                    {"name": "Lower", "tail": [0.5, 0, 1.5], "collections": ["Arm", "All"]},
                    {"name": "Hand", "tail": [0.8, 0, 1.5], "parent": "Lower", "connected": True},
                ],
            },
            RIG,
        ),
        Example({"object": "Rig", "bones": [{"name": "Upper", "tail": [0.2, 0, 0.9], "roll_deg": 90}]}, RIG),
        Example(
            {"object": "Rig", "remove": ["Upper"], "bones": [{"name": "Lower", "deform": False}]},
            RIG,
            ("pose.set", {"object": "Rig", "bones": [{"name": "Upper", "rotation_euler_deg": [30, 0, 0]}]}),
        ),
    )

    def idempotence_for(self, args: EditArmatureArgs) -> Idempotence:
        if args.remove:
            return self.idempotence
        return Idempotence.IDEMPOTENT

    def examine(self, args: EditArmatureArgs, blender: tuple[int, int, int] | None) -> Findings:
        changed_names = {spec.name for spec in args.bones}
        for number, name in enumerate(args.remove):
            if name in changed_names or name in args.remove[:number]:
                if name in changed_names:
                    message = f"'{name}' is also in 'bones'"
                else:
                    message = f"'{name}' is listed twice"
                yield invalid(message, f"/remove/{number}", "Name each bone once.")

    def check(self, scene: Scene, args: EditArmatureArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", "ARMATURE")
        if obj is None:
            return
        existing = layout_of(obj.data)
        missing = [(number, name) for number, name in enumerate(args.remove) if name not in existing]
        for number, name in missing:
            fix = did_you_mean(name, list(existing), otherwise="Leave it out.")
            yield Finding(
                Fault.TARGET_NOT_FOUND, f"'{args.object}' has no bone named '{name}'", f"/remove/{number}", fix
            )
        yield from planned(existing, args.bones, args.remove)[1]
        if not missing:
            for name, use in uses_of_bones(scene, obj.data, set(args.remove)):
                fix = "Set another parent or target first, or remove the constraint."
                yield conflict(f"bone '{name}' is in use: {use}", f"/remove/{args.remove.index(name)}", fix)

    def apply(self, scene: Scene, args: EditArmatureArgs) -> ArmatureEdited:
        armature = required_object(scene, args.object, "/object").data
        existing = layout_of(armature)
        wanted = planned(existing, args.bones, args.remove)[0]
        changed = any(bone_differences(scene, armature, wanted, args.bones))
        if changed:
            write_bones(scene, armature, wanted, args.bones, args.remove)
        return ArmatureEdited(
            object=args.object,
            bones=_names(armature),
            added=[name for name in wanted if name not in existing],
            removed=list(args.remove),
            changed=changed,
        )

    def verify(self, scene: Scene, args: EditArmatureArgs, result: ArmatureEdited) -> Findings:
        armature = required_object(scene, args.object, "/object").data
        existing: Layout = {name: bone for name, bone in layout_of(armature).items() if name not in result.added}
        yield from bone_differences(scene, armature, planned(existing, args.bones)[0], args.bones)
        for name in args.remove:
            if name in armature.bones:
                yield conflict(f"bone '{name}' still exists", "/remove", "Remove it again.")


def _names(armature: Block) -> list[str]:
    return [bone.name for bone in armature.bones]
