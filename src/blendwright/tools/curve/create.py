from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Scene
from blendwright.tool_api.arguments import Vector3, optional
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import differs
from blendwright.tools.object_creation import CreatesObject, SurfacePlacement
from blendwright.tools.settings import Setting, Settings

Points = Annotated[list[Vector3], Field(min_length=2, max_length=100_000)]


class CreateCurveArgs(SurfacePlacement):
    kind: Literal["POLY", "BEZIER"] = Field(description="Straight pieces, or smooth ones through the points.")
    dimensions: Literal["2D", "3D"] = Field(default="3D", description="2D lies in its XY plane and can be filled.")
    points: Points = Field(description="The points it goes through, in the object's own space, in metres.")
    handles: Literal["AUTO", "VECTOR"] | None = optional(
        "BEZIER: AUTO is smooth, VECTOR is straight; AUTO when left out and no handles are given."
    )
    handles_left: Points | None = optional("BEZIER: the handle before each point, one per point.")
    handles_right: Points | None = optional(
        "BEZIER: the handle after each point, one per point; together with handles_left.", validate_default=True
    )
    cyclic: bool = Field(default=False, description="Close it from the last point to the first.")
    resolution: int = Field(default=12, ge=1, le=1024, description="Pieces between two points of a BEZIER.")
    bevel_depth: float = Field(
        default=0.0, ge=0.0, le=1e6, description="Radius of the tube around it in metres; 0 for none."
    )
    bevel_resolution: int = Field(default=4, ge=0, le=32, description="Roundness of the tube.")
    extrude: float = Field(default=0.0, ge=0.0, le=1e6, description="Height to each side in metres.")
    fill: bool = Field(
        default=True, description="2D: fill a cyclic curve with faces. 3D: close the tube all around, not half."
    )
    fill_caps: bool = Field(default=False, description="Close the ends of the tube.")

    @field_validator("points", "handles_left", "handles_right")
    @classmethod
    def _flat(cls, value: list[Vector3] | None, info: ValidationInfo) -> list[Vector3] | None:
        if value is not None and info.data.get("dimensions") == "2D" and any(point[2] != 0.0 for point in value):
            raise PydanticCustomError("not_flat", "a 2D curve has no height: every Z must be 0")
        return value

    @field_validator("handles", "handles_left", "handles_right")
    @classmethod
    def _bezier_only(cls, value: Any, info: ValidationInfo) -> Any:
        if value is not None and info.data.get("kind") == "POLY":
            raise PydanticCustomError("no_handles", "a POLY curve has no handles")
        return value

    @field_validator("handles_left", "handles_right")
    @classmethod
    def _one_per_point(cls, value: list[Vector3] | None, info: ValidationInfo) -> list[Vector3] | None:
        points = info.data.get("points")
        if value is not None and points is not None and len(value) != len(points):
            context = {"points": len(points), "handles": len(value)}
            raise PydanticCustomError("handle_count", "there are {points} points and {handles} handles", context)
        return value

    @field_validator("handles_right")
    @classmethod
    def _both_sides(cls, value: list[Vector3] | None, info: ValidationInfo) -> list[Vector3] | None:
        if (value is None) != (info.data.get("handles_left") is None):
            raise PydanticCustomError("both_handles", "give handles_left and handles_right together")
        if value is not None and info.data.get("handles") is not None:
            raise PydanticCustomError("handles_twice", "give either handles, or handles_left and handles_right")
        return value


class CreateCurve(CreatesObject[CreateCurveArgs]):
    """Add a curve through points: a path, a wire, or with a bevel a tube or pipe."""

    name = "curve.create"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.CURVE, Kind.COLLECTION).needs(
        "object_write", "mesh_write"
    )
    examples = (
        Example({"name": "Path", "kind": "POLY", "points": [[0, 0, 0], [1, 0, 0], [1, 1, 0.5]]}),
        Example(
            {
                "name": "Pipe",
                "kind": "BEZIER",
                "points": [[0, 0, 0], [1, 0, 1], [2, 0, 0]],
                "bevel_depth": 0.1,
                "fill_caps": True,
            }
        ),
        Example(
            {
                "name": "Plate",
                "kind": "POLY",
                "dimensions": "2D",
                "points": [[0, 0, 0], [2, 0, 0], [1, 1, 0]],
                "cyclic": True,
                "extrude": 0.1,
            }
        ),
        Example(
            {
                "name": "Arc",
                "kind": "BEZIER",
                "points": [[-1, 0, 0], [1, 0, 0]],
                "handles_left": [[-1, -0.5, 0], [1, 1.3, 0]],
                "handles_right": [[-1, 1.3, 0], [1, -0.5, 0]],
            }
        ),
    )

    object_type = "CURVE"

    def new_data(self, scene: Scene, args: CreateCurveArgs) -> Block:
        return scene.create(Kind.CURVE, args.name, "CURVE")

    def settings(self, scene: Scene, args: CreateCurveArgs, target: Block) -> Settings:
        # The choice of fill modes depends on the dimensions, which therefore come first.
        yield Setting(target, "dimensions", args.dimensions, "/dimensions")
        full, less = ("BOTH", "NONE") if args.dimensions == "2D" else ("FULL", "HALF")
        yield Setting(target, "fill_mode", full if args.fill else less, "/fill")
        yield Setting(target, "resolution_u", args.resolution, "/resolution")
        yield Setting(target, "use_fill_caps", args.fill_caps, "/fill_caps")
        for name in ("bevel_depth", "bevel_resolution", "extrude"):
            yield Setting(target, name, getattr(args, name), f"/{name}")

    def build(self, scene: Scene, args: CreateCurveArgs, data: Block) -> None:
        spline = data.splines.new(args.kind)
        spline.use_cyclic_u = args.cyclic
        (_fill_bezier if args.kind == "BEZIER" else _fill_poly)(spline, args)

    def differences(self, scene: Scene, args: CreateCurveArgs, data: Block) -> Findings:
        kinds = [spline.type for spline in data.splines]
        yield from differs("the list of its splines", [args.kind], kinds, "/kind")
        if kinds == [args.kind]:
            yield from _spline_differs(args, data.splines[0])


def _fill_poly(spline: Block, args: CreateCurveArgs) -> None:
    spline.points.add(len(args.points) - 1)
    spline.points.foreach_set("co", array("f", (value for point in args.points for value in (*point, 1.0))))


def _fill_bezier(spline: Block, args: CreateCurveArgs) -> None:
    points = spline.bezier_points
    points.add(len(args.points) - 1)
    points.foreach_set("co", _flat(args.points))
    if args.handles_left is not None and args.handles_right is not None:
        points.foreach_set("handle_left", _flat(args.handles_left))
        points.foreach_set("handle_right", _flat(args.handles_right))
        return
    kind = args.handles or "AUTO"
    number = points[0].bl_rna.properties["handle_left_type"].enum_items[kind].value
    for side in ("handle_left_type", "handle_right_type"):
        points.foreach_set(side, array("i", [number]) * len(points))
    # Setting one point's type makes Blender place the handles of all; setting them in bulk does not.
    points[0].handle_left_type = kind


def _spline_differs(args: CreateCurveArgs, spline: Block) -> Findings:
    yield from differs("that it is closed", args.cyclic, spline.use_cyclic_u, "/cyclic")
    bezier = args.kind == "BEZIER"
    if bezier:
        points = spline.bezier_points
    else:
        points = spline.points
    if len(points) != len(args.points):
        yield from differs("its number of points", len(args.points), len(points), "/points")
        return
    expected: dict[str, tuple[Sequence[Vector3], str]] = {"co": (args.points, "/points")}
    if args.handles_left is not None and args.handles_right is not None:
        expected |= {
            "handle_left": (args.handles_left, "/handles_left"),
            "handle_right": (args.handles_right, "/handles_right"),
        }
    elif bezier:
        actual = {point.handle_left_type for point in points} | {point.handle_right_type for point in points}
        yield from differs("the list of its handle types", [args.handles or "AUTO"], sorted(actual), "/handles")
    for attribute, (values, at) in expected.items():
        if bezier:
            size = 3
        else:
            size = 4
        actual = array("f", bytes(4 * size * len(points)))
        points.foreach_get(attribute, actual)
        if not bezier:
            actual = array("f", (value for index, value in enumerate(actual) if index % 4 != 3))
        yield from differs("that its points are where they should be", True, actual == _flat(values), at)


def _flat(points: Sequence[Vector3]) -> array[float]:
    return array("f", (value for point in points for value in point))
