from __future__ import annotations

from typing import Literal

from pydantic import Field

from blendwright.tool_api import Block, Example, Kind, Scene
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.object_creation import CreatesObject, SurfacePlacement
from blendwright.tools.settings import Setting, Settings

# Arguments that are Blender's properties of the text, under the same names.
PROPERTIES = ("body", "size", "extrude", "bevel_depth", "bevel_resolution", "align_x", "align_y")


class CreateTextArgs(SurfacePlacement):
    body: str = Field(
        min_length=1, max_length=10_000, description="The text, taken literally; newlines separate lines."
    )
    size: float = Field(default=1.0, gt=0.0, le=1e4, description="Height of a line in metres.")
    extrude: float = Field(default=0.0, ge=0.0, le=1e6, description="Thickness to each side in metres.")
    bevel_depth: float = Field(default=0.0, ge=0.0, le=1e6, description="Size of the rounded edges in metres.")
    bevel_resolution: int = Field(default=4, ge=0, le=32, description="Roundness of the edges.")
    align_x: Literal["LEFT", "CENTER", "RIGHT", "JUSTIFY", "FLUSH"] = Field(
        default="LEFT", description="Alignment along X."
    )
    align_y: Literal["TOP", "TOP_BASELINE", "CENTER", "BOTTOM_BASELINE", "BOTTOM"] = Field(
        default="TOP_BASELINE", description="Height of the text that is at the origin."
    )
    line_spacing: float = Field(default=1.0, ge=0.0, le=10.0, description="Distance between lines, in line heights.")


class CreateText(CreatesObject[CreateTextArgs]):
    """Add a text object in Blender's built-in font, lying in its XY plane and read along X."""

    name = "text.create"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.CURVE, Kind.COLLECTION, Kind.FONT).needs(
        "object_write", "mesh_write"
    )
    examples = (
        Example({"name": "Title", "body": "Hello"}),
        Example(
            {
                "name": "Sign",
                "body": "Open\nall day",
                "size": 0.4,
                "extrude": 0.02,
                "bevel_depth": 0.005,
                "align_x": "CENTER",
                "align_y": "CENTER",
                "rotation_euler_deg": [90, 0, 0],
            }
        ),
    )

    object_type = "FONT"

    def new_data(self, scene: Scene, args: CreateTextArgs) -> Block:
        fonts = set(scene.names(Kind.FONT))
        text = scene.create(Kind.CURVE, args.name, "FONT")
        # The first text of a file also adds the built-in font as a datablock.

        if text.font.name not in fonts:
            scene.adopt(Kind.FONT, text.font, text.font.name)
        return text

    def settings(self, scene: Scene, args: CreateTextArgs, target: Block) -> Settings:
        yield from (Setting(target, name, getattr(args, name), f"/{name}") for name in PROPERTIES)
        yield Setting(target, "space_line", args.line_spacing, "/line_spacing")
