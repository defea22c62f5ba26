"""constraint.add"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from blendwright.tool_api.arguments import Args, UnitFloat, optional
from blendwright.tool_api.mentions import NewConstraintName, ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import conflict, differs, existing_object, invalid, required_object
from blendwright.tools.constraint import blender_settings
from blendwright.tools.constraint.blender_settings import ConstraintResult, constraint_result
from blendwright.tools.constraint.settings import Settings, needed_on_new
from blendwright.tools.world_space import world_matrix

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box", "location": [1, 0, 0]})
GOAL = (
    "object.create_empty",
    {"name": "Goal", "location": [0, 3, 2], "rotation_euler_deg": [0, 0, 40], "scale": [2, 2, 2]},
)
WIRE = ("curve.create", {"name": "Wire", "kind": "POLY", "points": [[0, 0, 0], [4, 0, 0]]})


def _example(name: str, settings: Any, *given: Any, **more: Any) -> Example:
    """A constraint on a cube; `given` is what else is there."""
    return Example({"object": "Box", "name": name, "settings": settings, **more}, CUBE, *given)


class AddConstraintArgs(Args):
    object: ObjectName = Field(description="Name of the object.")
    name: NewConstraintName = Field(description="Name of the new constraint; must be free on the object.")
    settings: Settings = Field(description="Its type and settings; what is left out is Blender's default.")
    influence: UnitFloat = Field(default=1.0, description="How much it counts, from 0 to 1.")
    enabled: bool = Field(default=True, description="Whether it works.")
    index: Annotated[int, Field(ge=0, le=1000)] | None = optional(
        "Place in the stack, 0 works first; at the end when left out."
    )

    def common(self) -> dict[str, Any]:
        return {"influence": self.influence, "enabled": self.enabled}


class AddConstraint(Tool[AddConstraintArgs, ConstraintResult]):
    """Add a constraint: track a target, copy, limit, keep a distance, child of (nothing jumps) or follow a path."""

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
    )

    def check(self, scene: Scene, args: AddConstraintArgs) -> Findings:
        settings = args.settings.for_new()
        for name in needed_on_new(settings):
            if getattr(settings, name) is None:
                message = f"a new {settings.type} constraint needs '{name}'"
                yield invalid(message, f"/settings/{name}", f"Add '{name}' to the settings.")
        obj = yield from existing_object(scene, args.object, "/object")
        if obj is None:
            return
        problems = list(blender_settings.problems(scene, obj, settings))
        yield from problems
        existing = obj.constraints.get(args.name)
        if existing is None:
            if args.index is not None and args.index > len(obj.constraints):
                message = f"object '{obj.name}' has {len(obj.constraints)} constraints"
                yield invalid(message, "/index", f"Use 0 to {len(obj.constraints)}, or leave it out.")
        elif problems or any(self._differences(scene, args, obj, existing)):
            message = f"object '{args.object}' already has a constraint named '{args.name}' ({existing.type})"
            yield conflict(message, "/name", "Choose another name, or use constraint.set.")

    def apply(self, scene: Scene, args: AddConstraintArgs) -> ConstraintResult:
        obj = required_object(scene, args.object, "/object")
        if obj.constraints.get(args.name) is not None:
            return constraint_result(scene, obj, args.name, changed=False)
        before = world_matrix(scene, obj)
        settings = args.settings.for_new()
        scene.edit(obj)
        constraint = obj.constraints.new(settings.type)
        constraint.name = args.name
        for name, value in args.common().items():
            setattr(constraint, name, value)
        stays = settings.type == "CHILD_OF" and getattr(settings, "set_inverse", None) is not False
        blender_settings.write(scene, constraint, settings, set_inverse=stays)
        if args.index is not None:
            obj.constraints.move(len(obj.constraints) - 1, args.index)
        if stays:
            blender_settings.refuse_jump(scene, obj, before)
        return constraint_result(scene, obj, args.name, changed=True)

    def verify(self, scene: Scene, args: AddConstraintArgs, result: ConstraintResult) -> Findings:
        obj = required_object(scene, args.object, "/object")
        constraint = obj.constraints.get(args.name)
        yield from differs("the presence of the constraint", True, constraint is not None, "/name")
        if constraint is not None:
            yield from self._differences(scene, args, obj, constraint)

    def _differences(self, scene: Scene, args: AddConstraintArgs, obj: Block, constraint: Block) -> Findings:
        yield from blender_settings.differences(scene, constraint, args.settings.for_new())
        yield from blender_settings.common_differences(obj, constraint, args.common(), args.index)
