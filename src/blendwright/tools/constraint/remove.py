"""Tool constraint.remove"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from blendwright.tool_api.arguments import Args, InnerName, optional
from blendwright.tool_api.mentions import Mention, ObjectName, RemovedConstraintName
from blendwright.tool_api.promises import DESTRUCTIVE_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.checks import differs
from blendwright.tools.constraint import blender_settings
from blendwright.tools.constraint.blender_settings import ConstraintResult, constraint_result
from blendwright.tools.constraint.dependencies import chain_of
from blendwright.tools.constraint.owner import BONE, Owner, constraint_mentions, existing_owner, required_owner
from blendwright.tools.world_space import matrix_rows, nearly_equal_matrices
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
GOAL = ("object.create_empty", {"name": "Goal", "location": [0, 3, 2], "rotation_euler_deg": [0, 0, 40]})
FOLLOW = (
    "constraint.add",
    {"object": "Box", "name": "Follow", "settings": {"type": "COPY_LOCATION", "target": "Goal"}},
)
RIG = (
    "armature.create",
    {
        "name": "Rig",
        "bones": [
            {"name": "Upper", "head": [0, 0, 0], "tail": [0, -0.2, 1]},
            {"name": "Lower", "tail": [0, 0, 2], "parent": "Upper", "connected": True},
        ],
    },
)
REACH = (
    "constraint.add",
    {"object": "Rig", "bone": "Lower", "name": "IK", "settings": {"type": "IK", "target": "Goal", "chain_count": 2}},
)
CHANNELS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


class RemoveConstraintArgs(Args):
    object: ObjectName = Field(description="Name of the object.")
    bone: InnerName | None = optional(BONE, min_length=1)
    constraint: RemovedConstraintName = Field(description="Name of the constraint to remove.")
    keep_transform: bool = Field(
        default=False,
        description="True to keep the present transform (apply the constraint). False to return to the object's own "
        "channels.",
    )


class RemoveConstraint(Tool[RemoveConstraintArgs, ConstraintResult]):
    """Remove a constraint, or apply it with keep_transform."""

    name = "constraint.remove"
    # An action or object without other users is kept by its fake-user flag.
    promises = DESTRUCTIVE_WRITE.writes_to(Kind.OBJECT, Kind.ACTION).needs("object_write")
    examples = (
        Example({"object": "Box", "constraint": "Follow"}, CUBE, GOAL, FOLLOW),
        Example({"object": "Box", "constraint": "Follow", "keep_transform": True}, CUBE, GOAL, FOLLOW),
        Example({"object": "Rig", "bone": "Lower", "constraint": "IK", "keep_transform": True}, GOAL, RIG, REACH),
    )

    def mentions_for(self, args: RemoveConstraintArgs) -> Iterable[Mention]:
        return constraint_mentions(args)

    def check(self, scene: Scene, args: RemoveConstraintArgs) -> Findings:
        owner = yield from existing_owner(scene, args)
        if owner is None:
            return
        missing = blender_settings.missing_constraint(owner, args.constraint, "/constraint")
        yield from missing
        if args.keep_transform and not missing:
            for part in _controlled(owner, args.constraint):
                for channel in CHANNELS:
                    if owner.bone is None:
                        path = channel
                    else:
                        path = part.path_from_id(channel)
                    yield from channel_conflicts(scene, owner.object, path, "/keep_transform")

    def apply(self, scene: Scene, args: RemoveConstraintArgs) -> ConstraintResult:
        owner = required_owner(scene, args)
        before = owner.matrix()
        bone_names = [part.name for part in _controlled(owner, args.constraint)]
        poses = _poses(owner, bone_names)
        scene.edit(owner.object)
        owner.constraints.remove(owner.constraints[args.constraint])
        if args.keep_transform:
            if owner.bone is None:
                scene.set_world_matrix(owner.object, before)
            else:
                scene.set_bone_matrices(owner.object, poses)
            if not nearly_equal_matrices(matrix_rows(before), matrix_rows(owner.matrix())):
                message = f"{owner} does not stay in place: another constraint moves it, or its parent shears it"
                fix = "Remove the other constraint first, or set keep_transform to false."
                raise StepError.of(Fault.SCENE_CONFLICT, message, at="/keep_transform", cure=fix)
        return constraint_result(owner, args.constraint, changed=True)

    def verify(self, scene: Scene, args: RemoveConstraintArgs, result: ConstraintResult) -> Findings:
        present = args.constraint in required_owner(scene, args).constraints
        yield from differs("the presence of the constraint", False, present, "/constraint")


def _controlled(owner: Owner, name: str) -> list[Block]:
    """Return the parts whose transform a constraint controls: its owner, or the bones of its chain, parents first."""
    constraint = owner.constraints[name]
    if constraint.type not in ("IK", "SPLINE_IK"):
        return [owner.part]
    chain = chain_of(owner.part, constraint.chain_count, use_tail=getattr(constraint, "use_tail", True))
    parts = list(reversed(chain))
    if owner.part not in chain:
        parts.append(owner.part)
    return parts


def _poses(owner: Owner, names: list[str]) -> dict[str, Block]:
    """Return the posed matrices of bones, including constraints, in armature space; empty for an object."""
    if owner.bone is None:
        return {}
    bones = owner.scene.evaluated(owner.object).pose.bones
    return {name: bones[name].matrix.copy() for name in names}
