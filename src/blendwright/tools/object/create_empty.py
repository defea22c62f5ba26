from __future__ import annotations

from typing import Literal

from pydantic import Field

from blendwright.tool_api import Block, Example, Kind, Scene
from blendwright.tool_api.arguments import PositiveFloat
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.object_creation import CreatesObject, ObjectPlacement
from blendwright.tools.settings import Setting, Settings

Display = Literal["PLAIN_AXES", "ARROWS", "SINGLE_ARROW", "CIRCLE", "CUBE", "SPHERE", "CONE"]


class CreateEmptyArgs(ObjectPlacement):
    display: Display = Field(default="PLAIN_AXES", description="How Blender draws the empty.")
    display_size: PositiveFloat = Field(default=1.0, description="Size of the drawing in metres.")


class CreateEmpty(CreatesObject[CreateEmptyArgs]):
    """Add an empty object: a point to use as a parent, to aim at or to measure from."""

    name = "object.create_empty"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.COLLECTION).needs("object_write")
    examples = (
        Example({"name": "Pivot", "location": [0, 0, 1]}),
        Example({"name": "Target", "display": "SPHERE", "display_size": 0.25, "rotation_euler_deg": [0, 45, 0]}),
    )

    together = True
    object_type = "EMPTY"

    def settings(self, scene: Scene, args: CreateEmptyArgs, target: Block) -> Settings:
        yield Setting(target, "empty_display_type", args.display, "/display")
        yield Setting(target, "empty_display_size", args.display_size, "/display_size")
