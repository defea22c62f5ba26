"""Tool scene.expect"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, Name, Result, optional
from blendwright.tool_api.mentions import Mention, Role
from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Reads
from blendwright.tools.checks import conflict
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
NO_GOLD = {"kind": "material", "name": "Gold", "exists": False}
SOME_MESHES = {"kind": "object", "type": "MESH", "at_least": 1, "at_most": 10}


class Expectation(Args):
    """A condition on a named datablock, on the number of datablocks of a kind, or on the scene's camera."""

    kind: Literal[
        "object", "collection", "material", "mesh", "light", "camera", "world", "image", "action", "node_group",
        "active_camera",
    ] = Field(description="Kind of datablock; active_camera is the camera that the scene renders through.")  # fmt: skip
    name: Name | None = optional("Name of the datablock. Without it, all of the kind are counted.")
    exists: bool = Field(default=True, description="Whether the datablock must exist or must not.")
    type: Literal["MESH", "CURVE", "FONT", "EMPTY", "LIGHT", "CAMERA", "ARMATURE"] | None = optional(
        "Required type of the object; without a name, the type of the counted objects."
    )
    at_least: int | None = optional("Smallest allowed number; only without a name.", ge=0)
    at_most: int | None = optional("Largest allowed number; only without a name.", ge=0)

    @model_validator(mode="after")
    def _check_combination(self) -> Expectation:
        counted = self.at_least is not None or self.at_most is not None
        if self.kind == "active_camera" and (self.name is not None or self.type is not None or counted):
            raise PydanticCustomError("expect_camera", "active_camera accepts only exists")
        if self.name is not None and counted:
            raise PydanticCustomError("expect_count", "at_least and at_most count all of a kind: leave name out")
        if self.kind != "object" and self.type is not None:
            raise PydanticCustomError("expect_type", "type is only for objects")
        return self


class ExpectArgs(Args):
    expectations: list[Expectation] = Field(min_length=1, max_length=100, description="Conditions that must all hold.")
    moment: Literal["before", "after"] = Field(
        default="before",
        description="Error code for a failed condition. before: a missing or conflicting datablock. after: a failed verification.",
    )


class Expected(Result):
    held: int = Field(description="Number of checked conditions; all of them hold.")


class Expect(Reads[ExpectArgs, Expected]):
    """Fail unless the scene is as expected: datablocks that exist or do not, their types and numbers, and a camera to render
    through.
    """

    name = "scene.expect"
    promises = READ_ONLY.needs("scene_read")
    examples = (
        Example({"expectations": [{"kind": "object", "name": "Box", "type": "MESH"}]}, CUBE),
        Example({"expectations": [NO_GOLD, SOME_MESHES]}, CUBE),
    )

    def mentions_for(self, args: ExpectArgs) -> Iterable[Mention]:
        """Yield the datablocks that must exist. A datablock that must not exist is no use of it."""
        for index, expectation in enumerate(args.expectations):
            if expectation.name is not None and expectation.exists:
                blocks = Kind[expectation.kind.upper()].blocks
                yield Mention(Role.USES, blocks, expectation.name, at=f"/expectations/{index}/name")

    def check(self, scene: Scene, args: ExpectArgs) -> Findings:
        for index, expectation in enumerate(args.expectations):
            for finding in _unmet(scene, expectation, f"/expectations/{index}"):
                if args.moment == "before":
                    yield finding
                else:
                    yield Finding(Fault.VERIFICATION_FAILED, finding.message, finding.pointer, finding.cure)

    def apply(self, scene: Scene, args: ExpectArgs) -> Expected:
        return Expected(held=len(args.expectations))


def _unmet(scene: Scene, expectation: Expectation, at: str) -> Findings:
    if expectation.kind == "active_camera":
        if (scene.active.camera is not None) != expectation.exists:
            if expectation.exists:
                state = "has no camera"
            else:
                state = "already has a camera"
            cure = "See: blendwright tools camera.set_active"
            yield conflict(f"the scene {state}", at, cure)
        return
    kind = Kind[expectation.kind.upper()]
    if expectation.name is None:
        yield from _count_problems(scene, kind, expectation, at)
    elif not expectation.exists:
        yield from scene.name_conflicts(kind, expectation.name, f"{at}/name")
    else:
        yield from scene.missing(kind, expectation.name, f"{at}/name")
        block = scene.find(kind, expectation.name)
        if block is not None and expectation.type is not None and block.type != expectation.type:
            message = f"the object '{expectation.name}' is of type {block.type}, but {expectation.type} is expected"
            yield conflict(message, f"{at}/name", "Name another object.")


def _count_problems(scene: Scene, kind: Kind, expectation: Expectation, at: str) -> Findings:
    object_type = expectation.type
    count = sum(object_type is None or block.type == object_type for block in scene.blocks(kind))
    if object_type is None:
        what = kind.label
    else:
        what = f"{kind.label} of type {object_type}"
    smallest = expectation.at_least
    largest = expectation.at_most
    if not expectation.exists:
        largest = 0
    if smallest is None and expectation.at_most is None and expectation.exists:
        smallest = 1
    if smallest is not None and count < smallest:
        message = f"the scene has {count} of the kind: {what}, and at least {smallest} are expected"
        yield Finding(Fault.TARGET_NOT_FOUND, message, at, "Add the missing ones first.")
    if largest is not None and count > largest:
        message = f"the scene has {count} of the kind: {what}, and at most {largest} are expected"
        yield conflict(message, at, "Remove the surplus first.")
