"""object.create_empty"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from blendwright.tool_api.arguments import PositiveFloat
from blendwright.tool_api.effects import Kind
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Requires, Tool
from blendwright.tools.placement import (
    ObjectPlacement,
    create_object,
    missing_collection,
    name_conflicts,
    placement_differs,
)
from blendwright.tools.readback import differs
from blendwright.tools.results import ObjectMade
from blendwright.values.findings import Finding

Display = Literal["PLAIN_AXES", "ARROWS", "SINGLE_ARROW", "CIRCLE", "CUBE", "SPHERE", "CONE"]


class CreateEmptyArgs(ObjectPlacement):
    display: Display = Field(default="PLAIN_AXES", description="How it is drawn.")
    display_size: PositiveFloat = Field(default=1.0, description="Size of the drawing in metres.")


class CreateEmpty(Tool[CreateEmptyArgs, ObjectMade]):
    """Add an empty object: a point to parent to, aim at or measure from."""

    name = "object.create_empty"
    version = 1
    promises = SAFE_IDEMPOTENT_WRITE
    writes = (Kind.OBJECT, Kind.COLLECTION)
    requires = Requires(blender_min=(4, 2, 0), capabilities=("object_write",))
    examples = (
        Example({"name": "Pivot", "location": [0, 0, 1]}),
        Example({"name": "Target", "display": "SPHERE", "display_size": 0.25, "rotation_euler_deg": [0, 45, 0]}),
    )

    def check(self, scene: Scene, args: CreateEmptyArgs) -> Iterator[Finding]:
        yield from missing_collection(scene, args)
        yield from name_conflicts(scene, args, None, lambda obj: self._differences(scene, args, obj))

    def apply(self, scene: Scene, args: CreateEmptyArgs) -> ObjectMade:
        if scene.find(Kind.OBJECT, args.name) is not None:
            return ObjectMade(object=args.name, created=False)
        empty = create_object(scene, args, None)
        empty.empty_display_type = args.display
        empty.empty_display_size = args.display_size
        return ObjectMade(object=args.name, created=True)

    def verify(self, scene: Scene, args: CreateEmptyArgs, result: ObjectMade) -> Iterator[Finding]:
        yield from self._differences(scene, args, scene.require(Kind.OBJECT, args.name, "/name"))

    def _differences(self, scene: Scene, args: CreateEmptyArgs, empty: Block) -> Iterator[Finding]:
        yield from differs("its type", "EMPTY", empty.type, "/name")
        yield from differs("its display", args.display, empty.empty_display_type, "/display")
        yield from differs("its display size", args.display_size, empty.empty_display_size, "/display_size")
        yield from placement_differs(scene, args, empty)
