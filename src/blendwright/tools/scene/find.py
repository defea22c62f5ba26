"""Tool scene.find"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, Name, Result, optional
from blendwright.tool_api.mentions import MaterialName
from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.bounding_boxes import Reach, around
from blendwright.tools.checks import missing_target_collection, same
from blendwright.tools.scene.object_filter import Paged, matching, next_offset, page
from blendwright.tools.scene.plain_values import custom_keys, vector3
from blendwright.tools.scene.snapshot_model import Vector3 as Position
from blendwright.tools.world_space import evaluated_matrix

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
BALL = ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball", "location": [5, 0, 0]})


# Not limited to positions that objects can have, because a box may be larger than the scene.
Corner = Annotated[tuple[float, float, float], Field(strict=False)]


class PropertyFilter(Args):
    key: Name = Field(description="Name of the custom property that an object must have.")
    equals: bool | int | float | str | None = optional("Required value. Default: any value.")


class Box(Args):
    min: Corner = Field(description="Lowest corner in world space, in metres.")
    max: Corner = Field(description="Highest corner in world space, in metres.")
    test: Literal["origin", "overlaps", "inside"] = Field(
        default="overlaps",
        description="What must be in the box: the object's origin, a part of its bounding box with instances, or all of that.",
    )

    @model_validator(mode="after")
    def _check_corners(self) -> Box:
        if any(low > high for low, high in zip(self.min, self.max, strict=True)):
            message = "min is above max: no coordinate of min may exceed that of max"
            raise PydanticCustomError("box_inside_out", message)
        return self


class FindArgs(Paged):
    material: MaterialName | None = optional("Only objects that have this material in a slot.")
    property: PropertyFilter | None = optional("Only objects with this custom property.")
    box: Box | None = optional("Only objects in this box, without hidden objects.")


class Found(Result):
    name: str = Field(description="Name of the object.")
    type: str = Field(description="Its type.")
    position: Position | None = Field(
        description="World position of its origin; null if it is hidden or in no collection."
    )


class FoundObjects(Result):
    """A page of the objects that pass all filters."""

    total: int = Field(ge=0, description="Number of matching objects on all pages.")
    objects: list[Found] = Field(max_length=1000, description="Objects on this page, sorted by name.")
    next_offset: int | None = Field(description="Value of `offset` for the next page; null on the last one.")


class FindObjects(Tool[FindArgs, FoundObjects]):
    """Find objects by name pattern, type, collection, material, custom property or position; all filters must match."""

    name = "scene.find"
    promises = READ_ONLY.needs("scene_read")
    examples = (
        Example({"name": "B*", "type": "MESH"}, CUBE, BALL),
        Example({"box": {"min": [4, -1, -1], "max": [6, 1, 1], "test": "inside"}}, CUBE, BALL),
    )

    def check(self, scene: Scene, args: FindArgs) -> Findings:
        yield from missing_target_collection(scene, args.collection)
        if args.material:
            yield from scene.missing(Kind.MATERIAL, args.material, "/material")

    def apply(self, scene: Scene, args: FindArgs) -> FoundObjects:
        reach = Reach(scene)
        matches = [obj for obj in matching(scene, args) if _fits(scene, args, obj, reach)]
        return FoundObjects(
            total=len(matches),
            objects=[_summary(scene, obj) for obj in page(matches, args)],
            next_offset=next_offset(args, len(matches)),
        )

    def verify(self, scene: Scene, args: FindArgs, result: FoundObjects) -> Findings:
        for entry in result.objects:
            yield from scene.missing(Kind.OBJECT, entry.name, "")


def _fits(scene: Scene, args: FindArgs, obj: Block, reach: Reach) -> bool:
    if args.material and not any(slot.material and slot.material.name == args.material for slot in obj.material_slots):
        return False
    if args.property and not _has_property(obj, args.property):
        return False
    return args.box is None or _in_box(scene, obj, args.box, reach)


def _has_property(obj: Block, condition: PropertyFilter) -> bool:
    if condition.key not in custom_keys(obj):
        return False
    value = obj[condition.key]
    if isinstance(condition.equals, bool):
        return isinstance(value, int) and value == condition.equals  # Blender saves booleans as integers
    return condition.equals is None or same(condition.equals, value)


def _in_box(scene: Scene, obj: Block, box: Box, reach: Reach) -> bool:
    matrix = evaluated_matrix(scene, obj)
    if matrix is None:
        return False
    low = high = tuple(matrix.translation)
    if box.test != "origin":
        bounds = around(reach.corners(obj))
        if bounds is not None:
            low, high = bounds.low, bounds.high
    if box.test == "overlaps":
        return all(low[axis] <= box.max[axis] and high[axis] >= box.min[axis] for axis in range(3))
    return all(low[axis] >= box.min[axis] and high[axis] <= box.max[axis] for axis in range(3))


def _summary(scene: Scene, obj: Block) -> Found:
    position: Position | None = None
    matrix = evaluated_matrix(scene, obj)
    if matrix is not None:
        position = vector3(matrix.translation)
    return Found(name=obj.name, type=obj.type, position=position)
