"""object.delete"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from blendwright.tool_api.arguments import Args, Name
from blendwright.tool_api.effects import Kind
from blendwright.tool_api.promises import DESTRUCTIVE_WRITE
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Requires, Tool
from blendwright.tools.object_data import DELETION_WRITES, delete_objects
from blendwright.tools.parenting import unparent_conflicts
from blendwright.tools.readback import differs
from blendwright.tools.results import Removed
from blendwright.values.findings import Finding

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})


class DeleteArgs(Args):
    name: Name = Field(description="Name of the object to delete.")
    children: Literal["keep_place", "delete"] = Field(
        default="keep_place", description="Whether children stay where they are, without a parent, or are deleted too."
    )
    keep_data: bool = Field(
        default=False, description="Keep data (mesh, curve, light, camera ...) that nobody else uses."
    )


class DeleteObject(Tool[DeleteArgs, Removed]):
    """Delete an object, with its data and its actions when nobody else uses them.

    Whoever referred to it (modifiers, constraints, the scene's camera) has the reference cleared."""

    name = "object.delete"
    version = 1
    promises = DESTRUCTIVE_WRITE
    writes = DELETION_WRITES
    requires = Requires(blender_min=(4, 2, 0), capabilities=("object_write",))
    examples = (
        Example({"name": "Box"}, given=(CUBE,)),
        Example(
            {"name": "Box", "children": "delete", "keep_data": True},
            given=(
                CUBE,
                ("object.create_empty", {"name": "Tip"}),
                ("object.set_parent", {"child": "Tip", "parent": "Box"}),
            ),
        ),
    )

    def check(self, scene: Scene, args: DeleteArgs) -> Iterator[Finding]:
        yield from scene.missing(Kind.OBJECT, args.name, "/name")
        obj = scene.find(Kind.OBJECT, args.name)
        if obj is not None:
            yield from unparent_conflicts(scene, _victims(args, obj), "/children")

    def apply(self, scene: Scene, args: DeleteArgs) -> Removed:
        obj = scene.require(Kind.OBJECT, args.name, "/name")
        return Removed(removed=delete_objects(scene, _victims(args, obj), "/children", keep_data=args.keep_data))

    def verify(self, scene: Scene, args: DeleteArgs, result: Removed) -> Iterator[Finding]:
        for entry in result.removed:
            kind, name = entry.split("/", 1)
            yield from differs(f"the presence of '{name}'", False, scene.find(Kind(kind), name) is not None, "/name")


def _victims(args: DeleteArgs, obj: Block) -> list[Block]:
    return [obj, *obj.children_recursive] if args.children == "delete" else [obj]
