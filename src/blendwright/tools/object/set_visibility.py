from __future__ import annotations

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Kind, Scene
from blendwright.tool_api.arguments import Args, optional, renamed
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.settings import ObjectChanged, SetsObjectSettings, Setting, Settings

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
RAYS = {
    **{kind: f"visible_{kind}" for kind in ("camera", "diffuse", "glossy", "transmission", "shadow")},
    "volume": "visible_volume_scatter",
    "shadow_catcher": "is_shadow_catcher",
    "holdout": "is_holdout",
}


class SetVisibilityArgs(Args):
    object: ObjectName = renamed("object", "name", description="Name of the object to show or hide.")
    viewport: bool | None = optional("Show it in viewports. Default: unchanged.")
    render: bool | None = optional("Show it in renders. Default: unchanged.")
    camera: bool | None = optional("Whether the camera sees it.")
    diffuse: bool | None = optional("Whether it lights matt surfaces.")
    glossy: bool | None = optional("Whether reflections show it.")
    transmission: bool | None = optional("Whether it is visible through glass.")
    volume: bool | None = optional("Whether it lights volumes.")
    shadow: bool | None = optional("Whether it casts shadows.")
    shadow_catcher: bool | None = optional("Show only the shadows on it, for pictures with a transparent background.")
    holdout: bool | None = optional("Make a transparent hole in the picture in its place.")

    @model_validator(mode="after")
    def _require_a_setting(self) -> SetVisibilityArgs:
        if not self.model_dump(exclude={"object"}, exclude_none=True):
            raise PydanticCustomError("nothing_asked", "give viewport, render or a kind of ray")
        return self


class SetVisibility(SetsObjectSettings[SetVisibilityArgs, ObjectChanged]):
    """Show or hide an object in viewports, in renders, or for some kinds of rays only. Its children do not change."""

    name = "object.set_visibility"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("object_write")
    examples = (
        Example({"object": "Box", "render": False}, CUBE),
        Example({"object": "Box", "viewport": False, "render": True}, CUBE),
        Example({"object": "Box", "camera": False, "glossy": False, "shadow": False, "shadow_catcher": True}, CUBE),
    )

    def settings(self, scene: Scene, args: SetVisibilityArgs, target: Block) -> Settings:
        for area, shown in (("viewport", args.viewport), ("render", args.render)):
            if shown is not None:
                yield Setting(target, f"hide_{area}", not shown, f"/{area}")
        for argument, attribute in RAYS.items():
            value = getattr(args, argument)
            if value is not None:
                yield Setting(target, attribute, value, f"/{argument}")
