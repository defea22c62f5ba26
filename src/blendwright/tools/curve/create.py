from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
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


# Dimensions and the argument `fill` -> Blender's fill mode.
FILL_MODES = {("2D", True): "BOTH", ("2D", False): "NONE", ("3D", True): "FULL", ("3D", False): "HALF"}


class CreateCurveArgs(SurfacePlacement):
    kind: Literal["POLY", "BEZIER"] = Field(
        description="POLY: straight segments. BEZIER: smooth segments through the points."
    )
    dimensions: Literal["2D", "3D"] = Field(
        default="3D", description="A 2D curve is in its local XY plane and can be filled."
    )
    points: Points = Field(description="Points on the curve, in local space, in metres.")
    handles: Literal["AUTO", "VECTOR"] | None = optional(
        "For BEZIER: AUTO is smooth, VECTOR is straight. Default without handles_left and handles_right: AUTO."
    )
    handles_left: Points | None = optional("For BEZIER: the handle before each point, one per point.")
    handles_right: Points | None = optional(
        "For BEZIER: the handle after each point, one per point. Requires handles_left.", validate_default=True
    )
    cyclic: bool = Field(default=False, description="Close the curve from the last point to the first.")
    resolution: int = Field(
        default=12, ge=1, le=1024, description="Number of segments between two points of a BEZIER curve."
    )
    bevel_depth: float = Field(
        default=0.0, ge=0.0, le=1e6, description="Radius of the tube around the curve in metres; 0 for no tube."
    )
    bevel_resolution: int = Field(default=4, ge=0, le=32, description="Roundness of the tube.")
    extrude: float = Field(default=0.0, ge=0.0, le=1e6, description="Extrusion to each side in metres.")
    fill: bool = Field(
        default=True, description="2D: fill a cyclic curve with faces. 3D: a full tube; false gives half a tube."
    )
    fill_caps: bool = Field(default=False, description="Close the ends of the tube.")

    @field_validator("points", "handles_left", "handles_right")
    @classmethod
    def _flat(cls, value: list[Vector3] | None, info: ValidationInfo) -> list[Vector3] | None:
        if value is not None and info.data.get("dimensions") == "2D" and any(point[2] != 0.0 for point in value):
            raise PydanticCustomError("not_flat", "points of a 2D curve must have a Z of 0")
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
            raise PydanticCustomError(
                "handle_count",
                "the number of handles must equal the number of points: {points} points, {handles} handles",
                context,
            )
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
    """Create a curve through points: a path, a wire, or with bevel_depth a tube or pipe."""

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
        # The available fill modes depend on the dimensions, so the dimensions are written first.
        yield Setting(target, "dimensions", args.dimensions, "/dimensions")
        yield Setting(target, "fill_mode", FILL_MODES[args.dimensions, args.fill], "/fill")
        yield Setting(target, "resolution_u", args.resolution, "/resolution")
        yield Setting(target, "use_fill_caps", args.fill_caps, "/fill_caps")
        for name in ("bevel_depth", "bevel_resolution", "extrude"):
            yield Setting(target, name, getattr(args, name), f"/{name}")

    def build(self, scene: Scene, args: CreateCurveArgs, data: Block) -> None:
        spline = data.splines.new(args.kind)
        spline.use_cyclic_u = args.cyclic
        if args.kind == "BEZIER":
            _fill_bezier(spline, args)
        else:
            _fill_poly(spline, args)

    def differences(self, scene: Scene, args: CreateCurveArgs, data: Block) -> Findings:
        kinds = [spline.type for spline in data.splines]
        yield from differs("the list of its splines", [args.kind], kinds, "/kind")
        if kinds == [args.kind]:
            yield from _spline_differs(args, data.splines[0])


def _fill_poly(spline: Block, args: CreateCurveArgs) -> None:
    spline.points.add(len(args.points) - 1)
    spline.points.foreach_set("co", _flat([(*point, 1.0) for point in args.points]))


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
    # Blender computes all handles only when the type of a single point is set, not after setting types in bulk.
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
            actual = array("f", bytes(12 * len(points)))
            wanted = _flat(values)
        else:
            actual = array("f", bytes(16 * len(points)))
            wanted = _flat([(*point, 1.0) for point in values])
        points.foreach_get(attribute, actual)
        yield from differs("that its points have the expected positions", True, actual == wanted, at)


def _flat(points: Iterable[Sequence[float]]) -> array[float]:
    return array("f", chain.from_iterable(points))
