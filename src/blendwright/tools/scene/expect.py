"""scene.expect"""

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
    """One thing that must hold: of a named datablock, of their number, or of the scene's camera."""

    kind: Literal[
        "object", "collection", "material", "mesh", "light", "camera", "world", "image", "action", "node_group",
        "active_camera",
    ] = Field(description="What it is about; active_camera is the camera that the scene renders through.")  # fmt: skip
    name: Name | None = optional("The datablock; left out, all of the kind are counted.")
    exists: bool = Field(default=True, description="Whether there must be one (of that name), or must not.")
    type: Literal["MESH", "CURVE", "FONT", "EMPTY", "LIGHT", "CAMERA", "ARMATURE"] | None = optional(
        "The type that the object must have; without a name, which objects are counted."
    )
    at_least: int | None = optional("Without a name: so many at least.", ge=0)
    at_most: int | None = optional("Without a name: so many at most.", ge=0)

    @model_validator(mode="after")
    def _one_question(self) -> Expectation:
        counted = self.at_least is not None or self.at_most is not None
        if self.kind == "active_camera" and (self.name is not None or self.type is not None or counted):
            raise PydanticCustomError("expect_camera", "active_camera takes only exists")
        if self.name is not None and counted:
            raise PydanticCustomError("expect_count", "at_least and at_most count all of a kind: leave name out")
        if self.kind != "object" and self.type is not None:
            raise PydanticCustomError("expect_type", "only objects have a type")
        return self


class ExpectArgs(Args):
    expectations: list[Expectation] = Field(min_length=1, max_length=100, description="What must hold, all of it.")
    moment: Literal["before", "after"] = Field(
        default="before",
        description="before: what is not as expected is missing or in the way. after: a promise was not kept.",
    )


class Expected(Result):
    held: int = Field(description="How many expectations were looked at; all of them held.")


class Expect(Reads[ExpectArgs, Expected]):
    """Fail unless things are as expected: datablocks that are there, or are not, of a type, in number; a camera to render through."""

    name = "scene.expect"
    promises = READ_ONLY.needs("scene_read")
    examples = (
        Example({"expectations": [{"kind": "object", "name": "Box", "type": "MESH"}]}, CUBE),
        Example({"expectations": [NO_GOLD, SOME_MESHES]}, CUBE),
    )

    def mentions_for(self, args: ExpectArgs) -> Iterable[Mention]:
        """What must not be there is no use of it."""
        for index, one in enumerate(args.expectations):
            if one.name is not None and one.exists:
                yield Mention(Role.USES, Kind[one.kind.upper()].blocks, one.name, at=f"/expectations/{index}/name")

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
            if not expectation.exists:
                state = "has a camera already"
            else:
                state = "has no camera"
            cure = "See: blendwright tools camera.set_active"
            yield conflict(f"the scene {state}", at, cure)
        return
    kind = Kind[expectation.kind.upper()]
    if expectation.name is None:
        yield from _miscounted(scene, kind, expectation, at)
    elif not expectation.exists:
        yield from scene.name_conflicts(kind, expectation.name, f"{at}/name")
    else:
        yield from scene.missing(kind, expectation.name, f"{at}/name")
        block = scene.find(kind, expectation.name)
        if block is not None and expectation.type is not None and block.type != expectation.type:
            message = f"the object '{expectation.name}' is of type {block.type}, and {expectation.type} is expected"
            yield conflict(message, f"{at}/name", "Name another object.")


def _miscounted(scene: Scene, kind: Kind, expectation: Expectation, at: str) -> Findings:
    object_type = expectation.type
    count = sum(object_type is None or block.type == object_type for block in scene.blocks(kind))
    if object_type is None:
        what = kind.label
    else:
        what = f"{kind.label} of type {object_type}"
    least = expectation.at_least
    if expectation.exists:
        most = expectation.at_most
    else:
        most = 0
    if least is None and expectation.at_most is None and expectation.exists:
        least = 1
    if least is not None and count < least:
        message = f"there are {count} of the kind: {what}, and at least {least} are expected"
        yield Finding(Fault.TARGET_NOT_FOUND, message, at, "Add what is missing first.")
    if most is not None and count > most:
        message = f"there are {count} of the kind: {what}, and at most {most} are expected"
        yield conflict(message, at, "Take away what is too much first.")
