from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Result, Scene, Tool
from blendwright.tool_api.arguments import renamed
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import conflict, differs, existing_object
from blendwright.tools.world_space import (
    IDENTITY,
    matrix_rows,
    nearly_equal_matrices,
    parent_space,
    stay_in_place_conflicts,
    world_matrix,
)

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
TIP = ("object.create_empty", {"name": "Tip", "location": [0, 0, 2]})
UNEVEN = "Set keep_transform to false, or make the parent's scale even."


class SetParentArgs(Args):
    object: ObjectName = renamed("object", "child", description="Name of the object that is to follow another.")
    parent: ObjectName | None = Field(description="Name of the object to follow; null to follow none.")
    keep_transform: bool = Field(
        default=True,
        description="Stay in place. If false, its channels are from now on relative to the parent (or the world).",
    )


class Parented(Result):
    object: str = Field(description="Name of the child.")
    parent: str | None = Field(description="Name of its parent, when it has one.")
    changed: bool = Field(description="False when everything was as asked already.")
    matrix_world: list[list[float]] = Field(description="Where the child stands now, as the rows of its world matrix.")


class SetParent(Tool[SetParentArgs, Parented]):
    """Make an object follow another, or none. Only the child is written."""

    name = "object.set_parent"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("object_write")
    examples = (
        Example({"object": "Tip", "parent": "Box"}, CUBE, TIP),
        Example({"object": "Tip", "parent": "Box", "keep_transform": False}, CUBE, TIP),
        Example(
            {"object": "Tip", "parent": None}, CUBE, TIP, ("object.set_parent", {"object": "Tip", "parent": "Box"})
        ),
    )

    def check(self, scene: Scene, args: SetParentArgs) -> Findings:
        child = yield from existing_object(scene, args.object, "/object")
        if args.parent is None:
            if child is not None and child.parent is not None and args.keep_transform:
                yield from stay_in_place_conflicts(scene, child, "/keep_transform", UNEVEN)
            return
        parent = yield from existing_object(scene, args.parent, "/parent")
        if child is None or parent is None:
            return
        if parent == child or child in _ancestors(parent):
            message = f"'{args.parent}' is '{args.object}' itself, or follows it"
            cure = "Choose a parent that does not depend on the child, or clear that one's parent first."
            yield conflict(message, "/parent", cure)
        elif args.keep_transform and abs(world_matrix(scene, parent).determinant()) < 1e-12:
            message = f"'{args.parent}' has a scale of zero, so that a child cannot keep its place"
            yield conflict(message, "/keep_transform", "Give the parent a scale, or set keep_transform to false.")

    def apply(self, scene: Scene, args: SetParentArgs) -> Parented:
        child = scene.require(Kind.OBJECT, args.object, "/object")
        parent = None if args.parent is None else scene.require(Kind.OBJECT, args.parent, "/parent")
        matrix = world_matrix(scene, child)
        changed = _follow(scene, child, parent, args.keep_transform)
        if not args.keep_transform:
            matrix = world_matrix(scene, child)
        return Parented(object=args.object, parent=args.parent, changed=changed, matrix_world=matrix_rows(matrix))

    def verify(self, scene: Scene, args: SetParentArgs, result: Parented) -> Findings:
        child = scene.require(Kind.OBJECT, args.object, "/object")
        actual = None if child.parent is None else child.parent.name
        yield from differs("its parent", args.parent, actual, "/parent")
        if not nearly_equal_matrices(result.matrix_world, matrix_rows(world_matrix(scene, child))):
            yield from differs("that it stayed in place", True, False, "/keep_transform")
        if not args.keep_transform:
            yield from differs(
                "its parent inverse", IDENTITY, matrix_rows(child.matrix_parent_inverse), "/keep_transform"
            )


def _follow(scene: Scene, child: Block, parent: Block | None, keep: bool) -> bool:
    """Returns whether anything had to be written."""
    related = child.parent == parent and (parent is None or child.parent_type == "OBJECT")
    if related and (keep or matrix_rows(child.matrix_parent_inverse) == IDENTITY):
        return False
    frame = parent_space(scene, child)
    matrix = frame @ child.matrix_basis
    if child.parent_type != "OBJECT":
        # While the old parent is there: with another one the type may be one that Blender cannot name.
        scene.set(child, "parent_type", "OBJECT")
    scene.set(child, "parent", parent)
    if parent is not None and keep:
        # The child's own channels stay as they are, so that this also holds for animated and sheared ones.
        scene.set(child, "matrix_parent_inverse", world_matrix(scene, parent).inverted() @ frame)
        return True
    scene.set(child, "matrix_parent_inverse", scene.matrix(IDENTITY))
    if keep:
        scene.set_world_matrix(child, matrix)
    return True


def _ancestors(obj: Block) -> Iterator[Block]:
    while obj.parent is not None:
        obj = obj.parent
        yield obj
