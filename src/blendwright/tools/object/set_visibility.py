"""object.set_visibility"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, Name
from blendwright.tool_api.effects import Kind
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Scene
from blendwright.tool_api.tool import Example, Requires, Tool
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.readback import differs
from blendwright.tools.results import ObjectChanged
from blendwright.values.findings import Finding

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})


class SetVisibilityArgs(Args):
    name: Name = Field(description="Name of the object to show or hide.")
    viewport: bool | None = Field(default=None, description="Show it in viewports; unchanged when left out.")
    render: bool | None = Field(default=None, description="Show it in renders; unchanged when left out.")

    @model_validator(mode="after")
    def _asks_something(self) -> SetVisibilityArgs:
        if self.viewport is None and self.render is None:
            raise PydanticCustomError("nothing_asked", "give viewport, render or both")
        return self

    def flags(self) -> dict[str, bool]:
        """Argument to whether the object is to be seen, of those that are given."""
        given = {"viewport": self.viewport, "render": self.render}
        return {where: shown for where, shown in given.items() if shown is not None}


class SetVisibility(Tool[SetVisibilityArgs, ObjectChanged]):
    """Show or hide an object in viewports and renders. Its children are not affected."""

    name = "object.set_visibility"
    version = 1
    promises = SAFE_IDEMPOTENT_WRITE
    writes = (Kind.OBJECT,)
    requires = Requires(blender_min=(4, 2, 0), capabilities=("object_write",))
    examples = (
        Example({"name": "Box", "render": False}, given=(CUBE,)),
        Example({"name": "Box", "viewport": False, "render": True}, given=(CUBE,)),
    )

    def check(self, scene: Scene, args: SetVisibilityArgs) -> Iterator[Finding]:
        yield from scene.missing(Kind.OBJECT, args.name, "/name")
        obj = scene.find(Kind.OBJECT, args.name)
        if obj is not None:
            for where in args.flags():
                yield from channel_conflicts(scene, obj, f"hide_{where}", f"/{where}")

    def apply(self, scene: Scene, args: SetVisibilityArgs) -> ObjectChanged:
        obj = scene.require(Kind.OBJECT, args.name, "/name")
        changed = False
        for where, shown in args.flags().items():
            if getattr(obj, f"hide_{where}") == shown:
                scene.set(obj, f"hide_{where}", not shown)
                changed = True
        return ObjectChanged(object=args.name, changed=changed)

    def verify(self, scene: Scene, args: SetVisibilityArgs, result: ObjectChanged) -> Iterator[Finding]:
        obj = scene.require(Kind.OBJECT, args.name, "/name")
        for where, shown in args.flags().items():
            yield from differs(f"its visibility ({where})", shown, not getattr(obj, f"hide_{where}"), f"/{where}")
