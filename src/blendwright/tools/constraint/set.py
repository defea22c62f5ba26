"""Tool constraint.set"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, InnerName, UnitFloat, optional
from blendwright.tool_api.mentions import ConstraintName, Mention, ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import conflict, invalid
from blendwright.tools.constraint import blender_settings
from blendwright.tools.constraint.blender_settings import ConstraintResult, constraint_result
from blendwright.tools.constraint.owner import BONE, Owner, constraint_mentions, existing_owner, required_owner
from blendwright.tools.constraint.problems import problems
from blendwright.tools.constraint.settings import Settings

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
GOAL = ("object.create_empty", {"name": "Goal", "location": [0, 3, 2]})
AIM = ("constraint.add", {"object": "Box", "name": "Aim", "settings": {"type": "DAMPED_TRACK", "target": "Goal"}})
HELD = ("constraint.add", {"object": "Box", "name": "Held", "settings": {"type": "CHILD_OF", "target": "Goal"}})
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
AWAY = ("object.transform", {"object": "Goal", "location": [5, 5, 5]})


class SetConstraintArgs(Args):
    object: ObjectName = Field(description="Name of the object.")
    bone: InnerName | None = optional(BONE, min_length=1)
    constraint: ConstraintName = Field(description="Name of the constraint.")
    settings: Settings | None = optional(
        "The constraint's type, and the settings to change. Settings that are left out stay unchanged."
    )
    influence: UnitFloat | None = optional("Influence, from 0 (none) to 1 (full).")
    enabled: bool | None = optional("False to disable it.")
    index: Annotated[int, Field(ge=0, le=1000)] | None = optional("New position in the stack; 0 is evaluated first.")

    @model_validator(mode="after")
    def _asks_something(self) -> SetConstraintArgs:
        if self.settings is None and self.index is None and not self.common():
            raise PydanticCustomError("nothing_asked", "give at least one of settings, influence, enabled and index")
        return self

    def common(self) -> dict[str, Any]:
        common = {"influence": self.influence, "enabled": self.enabled}
        return {name: value for name, value in common.items() if value is not None}


class SetConstraint(Tool[SetConstraintArgs, ConstraintResult]):
    """Change settings, influence or stack position of a constraint.

    Arguments that are left out change nothing.
    """

    name = "constraint.set"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(*blender_settings.WRITTEN_KINDS).needs("object_write")
    examples = (
        Example(
            {"object": "Box", "constraint": "Aim", "settings": {"type": "DAMPED_TRACK", "track_axis": "X"}},
            CUBE,
            GOAL,
            AIM,
        ),
        Example({"object": "Box", "constraint": "Held", "influence": 0.5, "index": 0}, CUBE, GOAL, AIM, HELD),
        Example(
            {"object": "Box", "constraint": "Held", "settings": {"type": "CHILD_OF", "set_inverse": True}},
            CUBE,
            GOAL,
            HELD,
            AWAY,
        ),
        Example(
            {
                "object": "Rig",
                "bone": "Lower",
                "constraint": "IK",
                "settings": {"type": "IK", "chain_count": 1, "use_stretch": False},
                "influence": 0.5,
            },
            GOAL,
            RIG,
            REACH,
        ),
    )

    def mentions_for(self, args: SetConstraintArgs) -> Iterable[Mention]:
        return constraint_mentions(args)

    def check(self, scene: Scene, args: SetConstraintArgs) -> Findings:
        owner = yield from existing_owner(scene, args)
        if owner is None:
            return
        constraint = owner.constraints.get(args.constraint)
        if constraint is None:
            yield from blender_settings.missing_constraint(owner, args.constraint, "/constraint")
            return
        count = len(owner.constraints)
        if args.index is not None and args.index >= count:
            yield invalid(f"{owner} has {count} constraints", "/index", f"Use 0 to {count - 1}.")
        if args.settings is not None and args.settings.type != constraint.type:
            message = f"constraint '{constraint.name}' is of type {constraint.type}, not {args.settings.type}"
            yield conflict(message, "/settings/type", f"Use type {constraint.type}, or name another constraint.")
            return
        yield from blender_settings.animated_settings(scene, constraint, args.settings, args.common())
        if args.settings is not None:
            yield from problems(owner, args.settings, constraint)

    def apply(self, scene: Scene, args: SetConstraintArgs) -> ConstraintResult:
        owner = required_owner(scene, args)
        changed = any(self._differences(owner, args))
        if changed:
            scene.edit(owner.object)
            constraint = owner.constraints[args.constraint]
            for name, value in args.common().items():
                setattr(constraint, name, value)
            if args.settings is not None:
                blender_settings.write(scene, constraint, args.settings, set_inverse=_set_inverse(args))
            if args.index is not None:
                owner.constraints.move(owner.constraints.find(args.constraint), args.index)
        return constraint_result(owner, args.constraint, changed=changed)

    def verify(self, scene: Scene, args: SetConstraintArgs, result: ConstraintResult) -> Findings:
        yield from self._differences(required_owner(scene, args), args)

    def _differences(self, owner: Owner, args: SetConstraintArgs) -> Findings:
        constraint = owner.constraints[args.constraint]
        if args.settings is not None:
            inverse = _set_inverse(args)
            yield from blender_settings.differences(owner.scene, constraint, args.settings, set_inverse=inverse)
        yield from blender_settings.common_differences(owner, constraint, args.common(), args.index)


def _set_inverse(args: SetConstraintArgs) -> bool | None:
    return getattr(args.settings, "set_inverse", None)
