"""Moves the geometry of an object in the object's own space, while everything stays where it is in the world: the object's
channels, its children and its data change together.

Shared by the tools that apply transforms and set origins. Only for types of object whose data can be transformed.
"""

from __future__ import annotations

from collections.abc import Iterator

from blendwright.tool_api.arguments import Name, optional
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Findings
from blendwright.tools.checks import conflict, invalid
from blendwright.tools.world_space import matrix_rows, nearly_equal_matrices, world_matrix
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

GEOMETRY_KINDS = {"MESH": Kind.MESH, "CURVE": Kind.CURVE, "SURFACE": Kind.CURVE, "LATTICE": Kind.LATTICE}
WRITTEN_KINDS = (Kind.OBJECT, Kind.MESH, Kind.CURVE, Kind.LATTICE, Kind.SHAPE_KEY)
# Children whose place is known from the parent's matrix, or from the place of a vertex in the world.
FOLLOWED = ("OBJECT", "VERTEX")
DATA_NAME: Name | None = optional(
    "When others share its geometry: name of the object's own; the object's name when left out."
)


def sharers(scene: Scene, data: Block, obj: Block) -> list[str]:
    """The names of others that use an object's data, sorted."""
    # The count also has fake users and pre-images in it, so it only says when looking closer is needless.
    if data.users < 2:
        return []
    return sorted(user.name for user in scene.users(data) if user != obj and scene.kind_of(user) is not Kind.SHAPE_KEY)


def sharing_problems(
    scene: Scene, obj: Block, single: bool, data_name: str | None, named_at: str = "/data_name"
) -> Findings:
    """What speaks against writing an object's data, as far as others use it."""
    others = sharers(scene, obj.data, obj)
    if others and not single:
        message = f"the geometry '{obj.data.name}' is shared with {', '.join(map(repr, others[:5]))}, which would move"
        yield conflict(message, "/make_single_user", "Set 'make_single_user' to give the object geometry of its own.")
    elif others:
        kinds = [GEOMETRY_KINDS[obj.type]] + [Kind.SHAPE_KEY] * (_keys(obj.data) is not None)
        for kind in kinds:
            yield from scene.name_conflicts(kind, data_name or obj.name, named_at)
    elif data_name not in (None, obj.data.name):
        cure = "Leave it out; object.rename with rename_data gives object and geometry another name."
        yield invalid(f"nobody shares the geometry '{obj.data.name}', so it keeps its name", "/data_name", cure)


def child_problems(scene: Scene, obj: Block, at: str) -> Findings:
    """Children that could not be kept in their place."""
    for child in _children(scene, obj):
        if child.parent_type not in FOLLOWED:
            message = f"'{child.name}' hangs on '{obj.name}' by {child.parent_type}, and would not keep its place"
            yield conflict(message, at, f"Let go of it first: object.set_parent of '{child.name}' to null.")


def flatness_problems(obj: Block, change: Block, at: str) -> Findings:
    """A curve of two dimensions cannot leave its plane."""
    if obj.type == "CURVE" and obj.data.dimensions == "2D":
        places = ((2, 0), (2, 1), (2, 3), (0, 2), (1, 2))
        if any(abs(change[row][column]) > 1e-6 for row, column in places):
            message = f"the curve '{obj.data.name}' is flat, and this would take it out of its plane"
            yield conflict(message, at, "Apply less, or make it three-dimensional first.")


def writable_data(scene: Scene, obj: Block, data_name: str | None) -> Block:
    """The data of an object, free to be written; a copy of its own where others share it."""
    data = obj.data
    if not sharers(scene, data, obj):
        return scene.edit(data)
    name = data_name or obj.name
    own = scene.adopt(GEOMETRY_KINDS[obj.type], data.copy(), name)
    own.use_fake_user = False
    if _keys(own) is not None:
        scene.adopt(Kind.SHAPE_KEY, _keys(own), name)
    scene.edit(obj)
    obj.data = own
    return own


def move_geometry(scene: Scene, obj: Block, change: Block, data: Block) -> None:
    """Transform data by a matrix, and keep the children of the object, whose space has changed by the inverse, in place."""
    if obj.type == "LATTICE":
        data.transform(change)
    else:
        data.transform(change, shape_keys=True)
    if obj.type == "MESH":
        if change.determinant() < 0:
            # Blender turns the faces of mirrored objects around when it draws them; from now on it does not.
            data.flip_normals()
        data.update()
    for child in _children(scene, obj):
        if child.parent_type == "OBJECT":
            scene.set(child, "matrix_parent_inverse", change @ child.matrix_parent_inverse)


class Movement:
    """Sees to it that objects and their children stay in their place while geometry is moved in its own space."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._before: dict[str, Block] = {}
        self._changes: dict[str, Block] = {}
        self._pointers: dict[str, str] = {}

    def expect(self, obj: Block, change: Block, at: str) -> None:
        """The geometry of an object is going to be transformed by a matrix. To be told of all objects before the first is written."""
        self._changes[obj.name] = change
        for each in (obj, *_children(self._scene, obj)):
            self._before.setdefault(each.name, world_matrix(self._scene, each))
            self._pointers.setdefault(each.name, at)

    def change_of(self, obj: Block) -> Block:
        return self._changes[obj.name]

    def refuse_others(self) -> None:
        """Raises when something has left its place after all: a constraint, or what Blender does not let us know beforehand."""
        for name, matrix in self._before.items():
            now = world_matrix(self._scene, self._scene.require(Kind.OBJECT, name))
            if name in self._changes:
                now = now @ self._changes[name]
            if not nearly_equal_matrices(matrix_rows(matrix), matrix_rows(now)):
                message = f"'{name}' does not stay in place: a constraint or a relation moves it"
                cure = "Remove its constraint first with constraint.remove, or let go of its parent."
                raise StepError.of(Fault.SCENE_CONFLICT, message, at=self._pointers[name], cure=cure)


def _children(scene: Scene, obj: Block) -> Iterator[Block]:
    return (each for each in scene.blocks(Kind.OBJECT) if each.parent == obj)


def _keys(data: Block) -> Block | None:
    return getattr(data, "shape_keys", None)
