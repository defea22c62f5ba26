"""Tool place.align"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import BoundedFloat, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Findings
from blendwright.tools.bounding_boxes import BoundingBox, world_bounds
from blendwright.tools.checks import conflict, evaluated_object
from blendwright.tools.place.movement import AXES, MoveArgs, MovesObjects, Offset, along, ancestors, movement_problems

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
BALL = ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball", "radius": 0.5, "location": [3, 1, 2]})
STAGE = (BOX, BALL)

Edge = Literal["min", "center", "max"]


class AlignArgs(MoveArgs):
    axis: Literal["X", "Y", "Z"] = Field(description="World axis along which the objects move.")
    edge: Edge = Field(default="center", description="End of each object's bounding box that is aligned.")
    reference: ObjectName | None = optional("Object to align to; it stays in place.")
    reference_edge: Edge | None = optional(
        "End of the reference's bounding box to align to. Default: the same as `edge`."
    )
    value: BoundedFloat | None = optional("Coordinate in metres to align to, instead of an object.")

    @model_validator(mode="after")
    def one_of_two(self) -> AlignArgs:
        if (self.reference is None) == (self.value is None):
            raise PydanticCustomError("one_of", "give either 'reference' or 'value'")
        if self.reference is None and self.reference_edge is not None:
            raise PydanticCustomError("needs", "'reference_edge' needs 'reference'")
        return self


class Align(MovesObjects[AlignArgs]):
    """Align objects along a world axis by their bounding boxes: to an object, or to a coordinate."""

    name = "place.align"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("object_write")
    examples = (
        Example({"objects": ["Ball"], "axis": "X", "reference": "Box"}, *STAGE),
        Example({"objects": ["Ball"], "axis": "Z", "edge": "min", "reference": "Box", "reference_edge": "max"}, *STAGE),
        Example({"objects": ["Box", "Ball"], "axis": "Z", "edge": "min", "value": 0}, *STAGE),
    )
    in_place = "aligned"

    def check(self, scene: Scene, args: AlignArgs) -> Findings:
        yield from movement_problems(scene, args.objects, "/objects")
        if args.reference is None:
            return
        reference = yield from evaluated_object(scene, args.reference, "/reference")
        for parent in ancestors(reference):
            if parent.name in args.objects:
                message = f"the reference '{args.reference}' moves together with its parent '{parent.name}'"
                at = f"/objects/{args.objects.index(parent.name)}"
                yield conflict(message, at, "Choose another reference, or leave the parent out.")

    def references(self, args: AlignArgs) -> Iterator[str]:
        if args.reference is not None:
            yield args.reference

    def offsets(self, scene: Scene, args: AlignArgs) -> list[Offset]:
        axis = AXES[args.axis]
        target = args.value
        if target is None:
            reference = scene.require(Kind.OBJECT, args.reference or "", "/reference")
            [box] = world_bounds(scene, [reference])
            target = _side(box, axis, args.reference_edge or args.edge)
        bounds = world_bounds(scene, [scene.require(Kind.OBJECT, name) for name in args.objects])
        offsets: list[Offset] = []
        for name, box in zip(args.objects, bounds, strict=True):
            offsets.append((name, along(axis, target - _side(box, axis, args.edge))))
        return offsets


def _side(bounds: BoundingBox, axis: int, edge: Edge) -> float:
    return {"min": bounds.low, "center": bounds.center, "max": bounds.high}[edge][axis]
