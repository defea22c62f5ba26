"""place.align"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, BoundedFloat, Name
from blendwright.tool_api.effects import Determinism, Idempotence, Kind, Revert, SafetyLevel, SafetyMode
from blendwright.tool_api.scene import Scene
from blendwright.tool_api.tool import Example, Requires, Tool
from blendwright.tools.extents import world_bounds
from blendwright.tools.geometry import Point
from blendwright.tools.place.bounds import AXES, Edge, side
from blendwright.tools.place.movement import (
    along,
    ancestors,
    further_rounds,
    is_still,
    shift,
    unmovable,
    unplaced,
    unsettled,
)
from blendwright.tools.place.results import Moved
from blendwright.tools.readback import differs
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
BALL = ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball", "radius": 0.5, "location": [3, 1, 2]})


class AlignArgs(Args):
    objects: Annotated[list[Name], Field(min_length=1, max_length=1000)] = Field(
        description="Names of the objects to move."
    )
    axis: Literal["X", "Y", "Z"] = Field(description="World axis along which they move.")
    edge: Edge = Field(default="center", description="Which end of each object's bounds is put in place.")
    reference: Name | None = Field(default=None, description="Object to align to; stays where it is.")
    reference_edge: Edge | None = Field(
        default=None, description="Which end of the reference's bounds to align to; the same as `edge` when left out."
    )
    value: BoundedFloat | None = Field(
        default=None, description="Coordinate in metres to align to, instead of an object."
    )

    @model_validator(mode="after")
    def one_of_two(self) -> AlignArgs:
        if (self.reference is None) == (self.value is None):
            raise PydanticCustomError("one_of", "give either 'reference' or 'value'")
        if self.reference is None and self.reference_edge is not None:
            raise PydanticCustomError("needs", "'reference_edge' needs 'reference'")
        return self


class Align(Tool[AlignArgs, Moved]):
    """Align objects along a world axis by their bounds: to an object, or to a coordinate."""

    name = "place.align"
    version = 1
    safety_level = SafetyLevel.SAFE_WRITE
    safety_mode = SafetyMode.HEADLESS_SAFE
    determinism = Determinism.DETERMINISTIC
    idempotence = Idempotence.IDEMPOTENT
    writes = (Kind.OBJECT,)
    revert = Revert.INVERSE
    replayable = True
    requires = Requires(blender_min=(4, 2, 0), capabilities=("object_write",))
    examples = (
        Example({"objects": ["Ball"], "axis": "X", "reference": "Box"}, (BOX, BALL)),
        Example(
            {"objects": ["Ball"], "axis": "Z", "edge": "min", "reference": "Box", "reference_edge": "max"}, (BOX, BALL)
        ),
        Example({"objects": ["Box", "Ball"], "axis": "Z", "edge": "min", "value": 0}, (BOX, BALL)),
    )

    def check(self, scene: Scene, args: AlignArgs) -> Iterator[Finding]:
        yield from unmovable(scene, args.objects, "/objects")
        if args.reference is None:
            return
        yield from unplaced(scene, args.reference, "/reference")
        for parent in ancestors(scene.find(Kind.OBJECT, args.reference)):
            if parent.name in args.objects:
                message = f"the reference '{args.reference}' moves along with its parent '{parent.name}'"
                at = f"/objects/{args.objects.index(parent.name)}"
                yield Finding(Fault.SCENE_CONFLICT, message, at, "Take another reference, or leave the parent out.")

    def apply(self, scene: Scene, args: AlignArgs) -> Moved:
        moved = _shifted(scene, self._ways(scene, args))
        named = [*args.objects, *filter(None, [args.reference])]
        left = further_rounds(*(scene.require(Kind.OBJECT, name) for name in named))
        while left and (ways := [way for way in self._ways(scene, args) if not _is_aligned(scene, *way)]):
            left -= 1
            if not left:
                raise unsettled(ways[0][0], f"/objects/{args.objects.index(ways[0][0])}")
            moved |= _shifted(scene, ways)
        return Moved(objects=args.objects, moved=[name for name in args.objects if name in moved])

    def verify(self, scene: Scene, args: AlignArgs, result: Moved) -> Iterator[Finding]:
        for number, (name, way) in enumerate(self._ways(scene, args)):
            aligned = _is_aligned(scene, name, way)
            yield from differs(f"that '{name}' is aligned", True, aligned, f"/objects/{number}")

    def _ways(self, scene: Scene, args: AlignArgs) -> list[tuple[str, Point]]:
        axis = AXES[args.axis]
        target = args.value
        if target is None:
            reference = scene.require(Kind.OBJECT, args.reference or "", "/reference")
            [held] = world_bounds(scene, [reference])
            target = side(held, axis, args.reference_edge or args.edge)
        bounds = world_bounds(scene, [scene.require(Kind.OBJECT, name) for name in args.objects])
        return [
            (name, along(axis, target - side(box, axis, args.edge)))
            for name, box in zip(args.objects, bounds, strict=True)
        ]


def _shifted(scene: Scene, ways: Sequence[tuple[str, Point]]) -> set[str]:
    return {name for name, way in ways if shift(scene, scene.require(Kind.OBJECT, name), way)}


def _is_aligned(scene: Scene, name: str, way: Point) -> bool:
    place = scene.evaluated(scene.require(Kind.OBJECT, name)).matrix_world.translation
    # A little more than one step of noise: moving is itself rounded.
    return is_still([part / 4 for part in way], place)
