"""Tool place.distribute"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import LengthFloat, Vector3, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Kind, Point, Scene
from blendwright.tool_api.tool import Example, Findings
from blendwright.tools.bounding_boxes import BoundingBox, world_bounds
from blendwright.tools.checks import conflict
from blendwright.tools.place.movement import AXES, MoveArgs, MovesObjects, Offset, along, movement_problems

ROW = tuple(
    (
        "mesh.create_primitive",
        {"kind": "cube", "name": f"Box{number}", "size": 0.5 + number / 2, "location": [left_edge, 0, 0]},
    )
    for number, left_edge in enumerate((0, 1.5, 9))
)
# The name of an object, and its bounding box in the world.
Placed = tuple[str, BoundingBox]


class DistributeArgs(MoveArgs):
    objects: Annotated[list[ObjectName], Field(min_length=2, max_length=1000)] = Field(
        description="Names of the objects to move."
    )
    axis: Literal["X", "Y", "Z"] | None = optional(
        "World axis along which the objects move, between the first and the last, which stay."
    )
    start: Vector3 | None = optional("World position for the first centre, instead of an axis; needs `end`.")
    end: Vector3 | None = optional("World position for the last centre; needs `start`.")
    spacing: Literal["centers", "gaps"] = Field(
        default="centers",
        description="Equal distances between centres, or equal gaps between bounding boxes (with an axis).",
    )
    gap: LengthFloat | None = optional(
        "A fixed gap in metres (with `gaps`): only the first object stays, the others follow it."
    )
    order: Literal["position", "given"] = Field(
        default="position", description="Order along the axis or line: by present position, or as given in `objects`."
    )

    @model_validator(mode="after")
    def one_way(self) -> DistributeArgs:
        if (self.start is None) != (self.end is None):
            raise PydanticCustomError("needs", "'start' and 'end' go together")
        if (self.axis is None) == (self.start is None):
            raise PydanticCustomError("one_of", "give either 'axis', or 'start' and 'end'")
        if self.spacing == "gaps" and self.axis is None:
            raise PydanticCustomError("needs", "spacing 'gaps' needs 'axis'")
        if self.gap is not None and self.spacing != "gaps":
            raise PydanticCustomError("needs", "'gap' needs spacing 'gaps'")
        return self


class Distribute(MovesObjects[DistributeArgs]):
    """Distribute objects evenly along a world axis or between two points, by their centres or by the gaps between them."""

    name = "place.distribute"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("object_write")
    examples = (
        Example({"objects": ["Box0", "Box1", "Box2"], "axis": "X"}, *ROW),
        Example({"objects": ["Box0", "Box1", "Box2"], "axis": "X", "spacing": "gaps", "gap": 0.2}, *ROW),
        Example({"objects": ["Box2", "Box1", "Box0"], "start": [0, 0, 0], "end": [3, 3, 3], "order": "given"}, *ROW),
    )

    def check(self, scene: Scene, args: DistributeArgs) -> Findings:
        problems = list(movement_problems(scene, args.objects, "/objects"))
        yield from problems
        if problems or args.spacing != "gaps" or args.gap is not None or args.axis is None:
            return
        placed = _ordered(scene, args)
        if _free_gap(placed, AXES[args.axis]) < 0.0:
            message = "the objects together are longer than the distance between the first and the last"
            cure = "Move the last one further away, give a fixed 'gap', or use spacing 'centers'."
            yield conflict(message, "/spacing", cure)

    def offsets(self, scene: Scene, args: DistributeArgs) -> list[Offset]:
        placed = _ordered(scene, args)
        if args.start is not None and args.end is not None:
            return _between(placed, args.start, args.end)
        axis = AXES[args.axis or "X"]
        if args.spacing == "gaps":
            return _by_gaps(placed, axis, args.gap)
        return _by_centers(placed, axis)


def _ordered(scene: Scene, args: DistributeArgs) -> list[Placed]:
    """Return the objects with their bounding boxes, in the order in which they are placed."""
    bounds = world_bounds(scene, [scene.require(Kind.OBJECT, name) for name in args.objects])
    placed = list(zip(args.objects, bounds, strict=True))
    if args.order == "given":
        return placed
    if args.start is not None and args.end is not None:
        direction = [end - start for start, end in zip(args.start, args.end, strict=True)]
    else:
        direction = along(AXES[args.axis or "X"], 1.0)

    def progress(entry: Placed) -> float:
        center = entry[1].center
        return sum(part * component for part, component in zip(center, direction, strict=True))

    return sorted(placed, key=progress)


def _between(placed: list[Placed], start: Point, end: Point) -> list[Offset]:
    offsets: list[Offset] = []
    for number, (name, bounds) in enumerate(placed):
        share = number / (len(placed) - 1)
        x, y, z = (a + (b - a) * share - c for a, b, c in zip(start, end, bounds.center, strict=True))
        offsets.append((name, (x, y, z)))
    return offsets


def _by_centers(placed: list[Placed], axis: int) -> list[Offset]:
    first, last = placed[0][1].center[axis], placed[-1][1].center[axis]
    step = (last - first) / (len(placed) - 1)
    offsets: list[Offset] = []
    for number, (name, bounds) in enumerate(placed):
        offsets.append((name, along(axis, first + step * number - bounds.center[axis])))
    return offsets


def _by_gaps(placed: list[Placed], axis: int, gap: float | None) -> list[Offset]:
    if gap is None:
        width = _free_gap(placed, axis)
    else:
        width = gap
    offsets: list[Offset] = []
    at = placed[0][1].low[axis]
    for name, bounds in placed:
        offsets.append((name, along(axis, at - bounds.low[axis])))
        at += bounds.size(axis) + width
    return offsets


def _free_gap(placed: list[Placed], axis: int) -> float:
    """Return the gap in metres if the first and the last object stay in place. It is negative if they do not fit."""
    span = placed[-1][1].high[axis] - placed[0][1].low[axis]
    return (span - sum(bounds.size(axis) for _, bounds in placed)) / (len(placed) - 1)
