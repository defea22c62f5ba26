from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from blendwright.tool_api import Block, Example, Findings, Kind, Scene
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.armature.armature_bones import bone_differences, write_bones
from blendwright.tools.armature.bones import MAX_BONES, BoneSpec, planned
from blendwright.tools.checks import differs
from blendwright.tools.object_creation import CreatesObject, ObjectPlacement
from blendwright.tools.settings import Setting, Settings


class CreateArmatureArgs(ObjectPlacement):
    bones: Annotated[list[BoneSpec], Field(min_length=1, max_length=MAX_BONES)] = Field(
        description="Bones of the armature in rest position, in any order."
    )
    display: Literal["OCTAHEDRAL", "STICK", "BBONE", "ENVELOPE", "WIRE"] = Field(
        default="OCTAHEDRAL", description="How viewports draw the bones; renders do not show them."
    )
    in_front: bool = Field(default=False, description="True to draw it in front of all other objects in viewports.")


class CreateArmature(CreatesObject[CreateArmatureArgs]):
    """Create an armature (skeleton, rig) with bones from a list: head, tail, roll, parent, bone collections.

    Bind meshes to it with armature.bind, pose it with pose.set, and add IK and other bone constraints with
    constraint.add.
    """

    name = "armature.create"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.ARMATURE, Kind.COLLECTION).needs("object_write")
    examples = (
        Example(
            {
                "name": "Rig",
                "bones": [
                    {"name": "Upper", "head": [0, 0, 0], "tail": [0.1, 0, 1], "z_axis": [0, -1, 0]},
                    {"name": "Lower", "tail": [0, 0, 2], "parent": "Upper", "connected": True, "roll_deg": 30},
                    {"name": "Goal", "head": [0, 0, 2], "tail": [0, -0.3, 2], "deform": False},
                ],
            }
        ),
        Example(
            {
                "name": "Rig",
                "location": [1, 2, 0],
                "display": "STICK",
                "in_front": True,
                "bones": [
                    {"name": "Tip", "tail": [0, 0, 3], "parent": "Root", "collections": ["Controls", "All"]},
                    {
                        "name": "Root",
                        "head": [0, 0, 0],
                        "tail": [0, 0.5, 0],
                        "envelope_distance": 0.4,
                        "head_radius": 0.2,
                        "inherit_scale": "NONE",
                        "collections": ["All"],
                    },
                ],
            }
        ),
    )

    object_type = "ARMATURE"

    def examine(self, args: CreateArmatureArgs, blender: tuple[int, int, int] | None) -> Findings:
        yield from planned({}, args.bones)[1]

    def settings(self, scene: Scene, args: CreateArmatureArgs, target: Block) -> Settings:
        yield Setting(target, "display_type", args.display, "/display")

    def build(self, scene: Scene, args: CreateArmatureArgs, data: Block) -> None:
        write_bones(scene, data, planned({}, args.bones)[0], args.bones)

    def differences(self, scene: Scene, args: CreateArmatureArgs, data: Block) -> Findings:
        yield from bone_differences(scene, data, planned({}, args.bones)[0], args.bones)

    def finish(self, scene: Scene, args: CreateArmatureArgs, obj: Block) -> None:
        obj.show_in_front = args.in_front

    def object_differences(self, scene: Scene, args: CreateArmatureArgs, obj: Block) -> Findings:
        yield from differs("that it is drawn in front", args.in_front, obj.show_in_front, "/in_front")
