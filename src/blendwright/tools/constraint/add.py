"""Tool constraint.add"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field

from blendwright.tool_api.arguments import Args, InnerName, UnitFloat, optional
from blendwright.tool_api.mentions import Mention, NewConstraintName, ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import conflict, differs, invalid
from blendwright.tools.constraint import blender_settings
from blendwright.tools.constraint.blender_settings import ConstraintResult, constraint_result
from blendwright.tools.constraint.owner import BONE, Owner, constraint_mentions, existing_owner, required_owner
from blendwright.tools.constraint.problems import problems
from blendwright.tools.constraint.settings import Settings, needed_on_new

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box", "location": [1, 0, 0]})
GOAL = (
    "object.create_empty",
    {"name": "Goal", "location": [0, 3, 2], "rotation_euler_deg": [0, 0, 40], "scale": [2, 2, 2]},
)
ELBOW = ("object.create_empty", {"name": "Elbow", "location": [0, -3, 1]})
WIRE = ("curve.create", {"name": "Wire", "kind": "POLY", "points": [[0, 0, 0], [4, 0, 0]]})


RIG = (
    "armature.create",
    {
        "name": "Rig",
        "bones": [
            {"name": "Upper", "head": [0, 0, 0], "tail": [0, -0.2, 1]},
            {"name": "Lower", "tail": [0, 0, 2], "parent": "Upper", "connected": True},
            {"name": "Hand", "head": [0, 0.5, 2], "tail": [0, 1, 2], "deform": False},
        ],
    },
)


def _on_bone(name: str, settings: Any, *setup: Any, **arguments: Any) -> Example:
    """Return an example with a constraint on the lower of two bones. `setup` are calls that run after creating the
    armature.
    """
    return Example({"object": "Rig", "bone": "Lower", "name": name, "settings": settings, **arguments}, RIG, *setup)


def _example(name: str, settings: Any, *setup: Any, **arguments: Any) -> Example:
    """Return an example with a constraint on a cube. `setup` are calls that run after creating the cube."""
    return Example({"object": "Box", "name": name, "settings": settings, **arguments}, CUBE, *setup)


class AddConstraintArgs(Args):
    object: ObjectName = Field(description="Name of the object.")
    bone: InnerName | None = optional(BONE, min_length=1)
    name: NewConstraintName = Field(description="Name of the new constraint; must be free on this object or bone.")
    settings: Settings = Field(description="Type and settings. Settings that are left out have Blender's defaults.")
    influence: UnitFloat = Field(default=1.0, description="Influence, from 0 (none) to 1 (full).")
    enabled: bool = Field(default=True, description="False to create it disabled.")
    index: Annotated[int, Field(ge=0, le=1000)] | None = optional(
        "Position in the stack; 0 is evaluated first. Default: the end."
    )

    def common(self) -> dict[str, Any]:
        return {"influence": self.influence, "enabled": self.enabled}


class AddConstraint(Tool[AddConstraintArgs, ConstraintResult]):
    """Add a constraint to an object or bone: track, copy, limit, distance, child of (without a jump), follow path,
    stretch, IK.
    """

    name = "constraint.add"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(*blender_settings.WRITTEN_KINDS).needs("object_write")
    examples = (
        _example("Aim", {"type": "TRACK_TO", "target": "Goal", "track_axis": "X", "up_axis": "Z"}, GOAL),
        _example("Aim", {"type": "DAMPED_TRACK", "target": "Goal", "track_axis": "-Y"}, GOAL, influence=0.5),
        _example("Follow", {"type": "COPY_LOCATION", "target": "Goal", "axes": ["X", "Y"], "use_offset": True}, GOAL),
        _example("Turn", {"type": "COPY_ROTATION", "target": "Goal", "invert_axes": ["Z"], "mix_mode": "ADD"}, GOAL),
        _example("Size", {"type": "COPY_SCALE", "target": "Goal", "power": 0.5}, GOAL),
        _example("Floor", {"type": "LIMIT_LOCATION", "minimum": [None, None, 1], "owner_space": "LOCAL"}),
        _example("Hinge", {"type": "LIMIT_ROTATION", "minimum_deg": [0, 0, -90], "maximum_deg": [0, 0, 45]}),
        _example("Sizes", {"type": "LIMIT_SCALE", "maximum": [2, 2, None]}),
        _example("Leash", {"type": "LIMIT_DISTANCE", "target": "Goal", "distance": 1.5, "mode": "ON_SURFACE"}, GOAL),
        _example("Held", {"type": "CHILD_OF", "target": "Goal"}, GOAL),
        _example(
            "Ride", {"type": "FOLLOW_PATH", "target": "Wire", "offset_factor": 0.25, "use_curve_follow": True}, WIRE
        ),
        _example("All", {"type": "COPY_TRANSFORMS", "target": "Goal", "mix_mode": "AFTER"}, GOAL),
        _example("Reach", {"type": "STRETCH_TO", "target": "Goal", "volume": "NONE"}, GOAL),
        _on_bone("IK", {"type": "IK", "target": "Goal", "chain_count": 2, "pole_target": "Elbow"}, GOAL, ELBOW),
        _on_bone("IK", {"type": "IK", "target": "Rig", "subtarget": "Hand", "use_rotation": True}, influence=0.5),
        _on_bone("Lie", {"type": "SPLINE_IK", "target": "Wire", "chain_count": 2}, WIRE),
        _on_bone("Reach", {"type": "STRETCH_TO", "target": "Rig", "subtarget": "Hand", "head_tail": 1}),
        _on_bone("Turn", {"type": "COPY_ROTATION", "target": "Goal", "owner_space": "LOCAL_WITH_PARENT"}, GOAL),
        _on_bone("Held", {"type": "CHILD_OF", "target": "Goal"}, GOAL),
        _on_bone("Hinge", {"type": "LIMIT_ROTATION", "minimum_deg": [0, 0, 0], "maximum_deg": [90, 0, 0]}, index=0),
    )

    def mentions_for(self, args: AddConstraintArgs) -> Iterable[Mention]:
        return constraint_mentions(args)

    def check(self, scene: Scene, args: AddConstraintArgs) -> Findings:
        settings = args.settings.for_new()
        for name in needed_on_new(settings):
            if getattr(settings, name) is None:
                message = f"a new {settings.type} constraint needs '{name}'"
                yield invalid(message, f"/settings/{name}", f"Add '{name}' to the settings.")
        owner = yield from existing_owner(scene, args)
        if owner is None:
            return
        findings = list(problems(owner, settings))
        yield from findings
        existing = owner.constraints.get(args.name)
        if existing is None:
            count = len(owner.constraints)
            if args.index is not None and args.index > count:
                yield invalid(f"{owner} has {count} constraints", "/index", f"Use 0 to {count}, or leave it out.")
        elif findings or any(self._differences(args, owner, existing)):
            message = f"{owner} already has a constraint named '{args.name}' ({existing.type})"
            yield conflict(message, "/name", "Choose another name, or use constraint.set.")

    def apply(self, scene: Scene, args: AddConstraintArgs) -> ConstraintResult:
        owner = required_owner(scene, args)
        if owner.constraints.get(args.name) is not None:
            return constraint_result(owner, args.name, changed=False)
        before = owner.matrix()
        settings = blender_settings.completed(owner, args.settings)
        scene.edit(owner.object)
        constraints = owner.constraints
        constraint = constraints.new(settings.type)
        constraint.name = args.name
        for name, value in args.common().items():
            setattr(constraint, name, value)
        keeps_position = settings.type == "CHILD_OF" and getattr(settings, "set_inverse", None) is not False
        blender_settings.write(scene, constraint, settings, set_inverse=keeps_position)
        if args.index is not None:
            constraints.move(len(constraints) - 1, args.index)
        if keeps_position:
            blender_settings.refuse_jump(owner, before)
        return constraint_result(owner, args.name, changed=True)

    def verify(self, scene: Scene, args: AddConstraintArgs, result: ConstraintResult) -> Findings:
        owner = required_owner(scene, args)
        constraint = owner.constraints.get(args.name)
        yield from differs("the presence of the constraint", True, constraint is not None, "/name")
        if constraint is not None:
            yield from self._differences(args, owner, constraint)

    def _differences(self, args: AddConstraintArgs, owner: Owner, constraint: Block) -> Findings:
        settings = args.settings.for_new()
        yield from blender_settings.differences(owner.scene, constraint, settings)
        yield from blender_settings.common_differences(owner, constraint, args.common(), args.index)
