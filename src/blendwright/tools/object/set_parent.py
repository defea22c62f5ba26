from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Result, Scene, Tool
from blendwright.tool_api.arguments import InnerName, optional, renamed
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import conflict, differs, existing_object, not_evaluated
from blendwright.tools.world_space import (
    IDENTITY,
    matrix_rows,
    nearly_equal_matrices,
    parent_space,
    stay_in_place_conflicts,
    world_matrix,
)
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
TIP = ("object.create_empty", {"name": "Tip", "location": [0, 0, 2]})
Vertex = Annotated[int, Field(ge=0, lt=2**31)]
UNEVEN = "Set keep_transform to false, or make the parent's scale even."


class SetParentArgs(Args):
    object: ObjectName = renamed("object", "child", description="Name of the object that gets the parent.")
    parent: ObjectName | None = Field(description="Name of the parent; null clears the parent.")
    keep_transform: bool = Field(
        default=True,
        description="Stay in place. If false, the object's channels become relative to the parent (or the world).",
    )
    bone: InnerName | None = optional("Bone of an armature to follow instead of the whole object.", min_length=1)
    vertices: Annotated[list[Vertex], Field(max_length=3)] | None = optional(
        "Vertices of the parent's geometry to follow, by index: one for the position, three for position and rotation."
    )

    @model_validator(mode="after")
    def _check_part(self) -> SetParentArgs:
        if self.parent is None and self.part_type() != "OBJECT":
            raise PydanticCustomError("part_of_nothing", "bone and vertices need a parent")
        if self.bone is not None and self.vertices is not None:
            raise PydanticCustomError("two_parts", "give bone or vertices, not both")
        if self.vertices is not None and len(set(self.vertices)) not in (1, 3):
            raise PydanticCustomError("vertex_count", "give one vertex, or three different ones")
        if self.vertices is not None and len(self.vertices) != len(set(self.vertices)):
            raise PydanticCustomError("vertex_twice", "the vertices must be different")
        return self

    def part_type(self) -> str:
        """Return Blender's `parent_type` for the part that the object follows."""
        if self.bone is not None:
            return "BONE"
        if self.vertices is None:
            return "OBJECT"
        if len(self.vertices) == 1:
            return "VERTEX"
        return "VERTEX_3"


class Parented(Result):
    object: str = Field(description="Name of the child.")
    parent: str | None = Field(description="Name of its parent, if any.")
    changed: bool = Field(description="False if everything already was as requested.")
    matrix_world: list[list[float]] = Field(description="World matrix of the child after the call, row by row.")


class SetParent(Tool[SetParentArgs, Parented]):
    """Make an object follow another, or one of its bones or vertices, or clear its parent. Only the child changes."""

    name = "object.set_parent"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("object_write")
    examples = (
        Example({"object": "Tip", "parent": "Box"}, CUBE, TIP),
        Example({"object": "Tip", "parent": "Box", "keep_transform": False}, CUBE, TIP),
        Example({"object": "Tip", "parent": "Box", "vertices": [7]}, CUBE, TIP),
        Example({"object": "Tip", "parent": "Box", "vertices": [0, 3, 7], "keep_transform": False}, CUBE, TIP),
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
            message = f"'{args.parent}' is '{args.object}' itself, or one of its descendants"
            cure = "Choose a parent that does not follow the child, or clear the parent of that object first."
            yield conflict(message, "/parent", cure)
        elif args.keep_transform and abs(world_matrix(scene, parent).determinant()) < 1e-12:
            message = f"'{args.parent}' has a scale of zero, so a child cannot stay in place"
            yield conflict(message, "/keep_transform", "Give the parent a scale, or set keep_transform to false.")
        if args.part_type() != "OBJECT":
            yield from _part_problems(scene, args, child, parent)

    def apply(self, scene: Scene, args: SetParentArgs) -> Parented:
        child = scene.require(Kind.OBJECT, args.object, "/object")
        parent: Block | None = None
        if args.parent is not None:
            parent = scene.require(Kind.OBJECT, args.parent, "/parent")
        matrix = world_matrix(scene, child)
        changed = _follow(scene, child, parent, args)
        if not args.keep_transform:
            matrix = world_matrix(scene, child)
        return Parented(object=args.object, parent=args.parent, changed=changed, matrix_world=matrix_rows(matrix))

    def verify(self, scene: Scene, args: SetParentArgs, result: Parented) -> Findings:
        child = scene.require(Kind.OBJECT, args.object, "/object")
        actual: str | None = None
        if child.parent is not None:
            actual = child.parent.name
        yield from differs("its parent", args.parent, actual, "/parent")
        if actual is not None and not _follows_part(child, args):
            if args.part_type() == "OBJECT":
                at = "/parent"
            elif args.bone:
                at = "/bone"
            else:
                at = "/vertices"
            yield from differs("that it follows exactly that part", True, False, at)
        if not nearly_equal_matrices(result.matrix_world, matrix_rows(world_matrix(scene, child))):
            yield from differs("that it stayed in place", True, False, "/keep_transform")
        if not args.keep_transform:
            yield from differs(
                "its parent inverse", IDENTITY, matrix_rows(child.matrix_parent_inverse), "/keep_transform"
            )


def _follow(scene: Scene, child: Block, parent: Block | None, args: SetParentArgs) -> bool:
    """Set or clear the parent of a child. Return False if nothing had to be written."""
    keep = args.keep_transform
    related = child.parent == parent and (parent is None or _follows_part(child, args))
    if related and (keep or matrix_rows(child.matrix_parent_inverse) == IDENTITY):
        return False
    frame = parent_space(scene, child)
    matrix = frame @ child.matrix_basis
    if child.parent_type != "OBJECT":
        # Set this before the parent, because Blender may have no name for the old type with the new parent.
        scene.set(child, "parent_type", "OBJECT")
    scene.set(child, "parent", parent)
    if args.part_type() != "OBJECT":
        _follow_part(scene, child, args)
    if parent is not None and keep and args.part_type() == "OBJECT":
        # The child's own channels stay unchanged, so that this also works for animated and sheared objects.
        scene.set(child, "matrix_parent_inverse", world_matrix(scene, parent).inverted() @ frame)
        return True
    scene.set(child, "matrix_parent_inverse", scene.matrix(IDENTITY))
    if parent is not None and keep:
        # Only Blender knows the space of a bone or vertex.
        scene.set(child, "matrix_parent_inverse", parent_space(scene, child).inverted() @ frame)
    elif keep:
        scene.set_world_matrix(child, matrix)
    return True


def _follows_part(child: Block, args: SetParentArgs) -> bool:
    """Return True if the child follows the requested part of its parent."""
    if child.parent_type != args.part_type() or (args.bone is not None and child.parent_bone != args.bone):
        return False
    return args.vertices is None or list(child.parent_vertices)[: len(args.vertices)] == args.vertices


def _follow_part(scene: Scene, child: Block, args: SetParentArgs) -> None:
    scene.set(child, "parent_type", args.part_type())
    if args.bone is not None:
        scene.set(child, "parent_bone", args.bone)
    if args.vertices is not None:
        scene.set(child, "parent_vertices", (*args.vertices, 0, 0)[:3])


def _part_problems(scene: Scene, args: SetParentArgs, child: Block, parent: Block) -> Findings:
    if args.bone is not None and parent.type != "ARMATURE":
        message = f"'{args.parent}' is of type {parent.type}, which has no bones"
        yield conflict(message, "/bone", "Name an armature as parent.")
    elif args.bone is not None and args.bone not in parent.data.bones:
        names = [bone.name for bone in parent.data.bones]
        cure = did_you_mean(args.bone, names, otherwise="It has no bone with a similar name.")
        yield Finding(Fault.TARGET_NOT_FOUND, f"'{args.parent}' has no bone named '{args.bone}'", "/bone", cure)
    if args.vertices is not None and parent.type != "MESH":
        message = f"'{args.parent}' is of type {parent.type}, which has no vertices to follow"
        yield conflict(message, "/vertices", "Name a mesh as parent.")
    elif args.vertices is not None and max(args.vertices) >= len(parent.data.vertices):
        message = f"the mesh of '{args.parent}' has {len(parent.data.vertices)} vertices"
        yield conflict(message, "/vertices", "Use smaller indices; they start at 0.")
    if args.keep_transform:
        # The new position follows from Blender's evaluated data.
        yield from not_evaluated(scene, child, "/object")
        yield from not_evaluated(scene, parent, "/parent")
        if child.constraints:
            message = (
                f"'{args.object}' has constraints, so its position relative to a part of another object is unknown"
            )

            yield conflict(message, "/keep_transform", "Remove its constraints first, or set keep_transform to false.")


def _ancestors(obj: Block) -> Iterator[Block]:
    while obj.parent is not None:
        obj = obj.parent
        yield obj
