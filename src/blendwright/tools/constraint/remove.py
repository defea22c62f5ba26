"""constraint.remove"""

from __future__ import annotations

from pydantic import Field

from blendwright.tool_api.arguments import Args
from blendwright.tool_api.mentions import ObjectName, RemovedConstraintName
from blendwright.tool_api.promises import DESTRUCTIVE_WRITE
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.checks import differs, existing_object, required_object
from blendwright.tools.constraint import blender_settings
from blendwright.tools.constraint.blender_settings import ConstraintResult, constraint_result
from blendwright.tools.world_space import matrix_rows, nearly_equal_matrices, world_matrix
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
GOAL = ("object.create_empty", {"name": "Goal", "location": [0, 3, 2], "rotation_euler_deg": [0, 0, 40]})
FOLLOW = (
    "constraint.add",
    {"object": "Box", "name": "Follow", "settings": {"type": "COPY_LOCATION", "target": "Goal"}},
)


class RemoveConstraintArgs(Args):
    object: ObjectName = Field(description="Name of the object.")
    constraint: RemovedConstraintName = Field(description="Name of the constraint to take away.")
    keep_transform: bool = Field(
        default=False,
        description="Stay where the constraint has put it (apply it). If false, its own channels count again.",
    )


class RemoveConstraint(Tool[RemoveConstraintArgs, ConstraintResult]):
    """Take a constraint away, or apply it (keep_transform)."""

    name = "constraint.remove"
    # An action or object that only the constraint used is kept by a fake user.
    promises = DESTRUCTIVE_WRITE.writes_to(Kind.OBJECT, Kind.ACTION).needs("object_write")
    examples = (
        Example({"object": "Box", "constraint": "Follow"}, CUBE, GOAL, FOLLOW),
        Example({"object": "Box", "constraint": "Follow", "keep_transform": True}, CUBE, GOAL, FOLLOW),
    )

    def check(self, scene: Scene, args: RemoveConstraintArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object")
        if obj is None:
            return
        yield from blender_settings.missing_constraint(obj, args.constraint, "/constraint")
        if args.keep_transform:
            for channel in ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"):
                yield from channel_conflicts(scene, obj, channel, "/keep_transform")

    def apply(self, scene: Scene, args: RemoveConstraintArgs) -> ConstraintResult:
        obj = required_object(scene, args.object, "/object")
        before = world_matrix(scene, obj)
        scene.edit(obj)
        obj.constraints.remove(obj.constraints[args.constraint])
        if args.keep_transform:
            scene.set_world_matrix(obj, before)
            if not nearly_equal_matrices(matrix_rows(before), matrix_rows(world_matrix(scene, obj))):
                message = (
                    f"'{args.object}' does not stay in place: another constraint moves it, or its parent shears it"
                )
                cure = "Remove the other constraint first, or set keep_transform to false."
                raise StepError.of(Fault.SCENE_CONFLICT, message, at="/keep_transform", cure=cure)
        return constraint_result(scene, obj, args.constraint, changed=True)

    def verify(self, scene: Scene, args: RemoveConstraintArgs, result: ConstraintResult) -> Findings:
        obj = required_object(scene, args.object, "/object")
        yield from differs("the presence of the constraint", False, args.constraint in obj.constraints, "/constraint")
