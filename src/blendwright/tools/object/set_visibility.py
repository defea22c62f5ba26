from __future__ import annotations

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Kind, Scene
from blendwright.tool_api.arguments import Args, optional, renamed
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.settings import ObjectChanged, SetsObjectSettings, Setting, Settings

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})


class SetVisibilityArgs(Args):
    object: ObjectName = renamed("object", "name", description="Name of the object to show or hide.")
    viewport: bool | None = optional("Show it in viewports; unchanged when left out.")
    render: bool | None = optional("Show it in renders; unchanged when left out.")

    @model_validator(mode="after")
    def _asks_something(self) -> SetVisibilityArgs:
        if self.viewport is None and self.render is None:
            raise PydanticCustomError("nothing_asked", "give viewport, render or both")
        return self


class SetVisibility(SetsObjectSettings[SetVisibilityArgs, ObjectChanged]):
    """Show or hide an object in viewports and renders. Its children are not affected."""

    name = "object.set_visibility"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("object_write")
    examples = (
        Example({"object": "Box", "render": False}, CUBE),
        Example({"object": "Box", "viewport": False, "render": True}, CUBE),
    )

    def settings(self, scene: Scene, args: SetVisibilityArgs, target: Block) -> Settings:
        for where, shown in (("viewport", args.viewport), ("render", args.render)):
            if shown is not None:
                yield Setting(target, f"hide_{where}", not shown, f"/{where}")
