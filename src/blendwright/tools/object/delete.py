from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from blendwright.tool_api import Args, Block, Example, Findings, Name, Scene
from blendwright.tool_api.arguments import renamed
from blendwright.tool_api.mentions import removes
from blendwright.tool_api.promises import DESTRUCTIVE_WRITE
from blendwright.tool_api.scene import Kind
from blendwright.tools.checks import existing_object, required_object
from blendwright.tools.deletion import DELETION_WRITES, Deletes, Removed, delete_objects
from blendwright.tools.world_space import unparent_conflicts

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})


class DeleteArgs(Args):
    object: Annotated[Name, removes(Kind.OBJECT)] = renamed(
        "object", "name", description="Name of the object to delete."
    )
    children: Literal["keep_place", "delete"] = Field(
        default="keep_place", description="Whether children stay in place, without a parent, or are deleted too."
    )
    keep_data: bool = Field(
        default=False, description="Keep data (mesh, curve, light, camera ...) that nothing else uses."
    )


class DeleteObject(Deletes[DeleteArgs, Removed]):
    """Delete an object, with its data and its actions if nothing else uses them.

    References to the object (in modifiers, constraints, the scene's camera) are cleared.
    """

    name = "object.delete"
    promises = DESTRUCTIVE_WRITE.writes_to(*DELETION_WRITES).needs("object_write")
    examples = (
        Example({"object": "Box"}, CUBE),
        Example(
            {"object": "Box", "children": "delete", "keep_data": True},
            CUBE,
            ("object.create_empty", {"name": "Tip"}),
            ("object.set_parent", {"object": "Tip", "parent": "Box"}),
        ),
    )

    subject_argument = "/object"

    def check(self, scene: Scene, args: DeleteArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object")
        if obj is not None:
            yield from unparent_conflicts(scene, _doomed_objects(args, obj), "/children")

    def apply(self, scene: Scene, args: DeleteArgs) -> Removed:
        obj = required_object(scene, args.object, "/object")
        removed = delete_objects(scene, _doomed_objects(args, obj), "/children", keep_data=args.keep_data)
        return Removed(removed=removed)


def _doomed_objects(args: DeleteArgs, obj: Block) -> list[Block]:
    if args.children == "delete":
        return [obj, *obj.children_recursive]
    return [obj]
