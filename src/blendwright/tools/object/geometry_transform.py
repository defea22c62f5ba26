"""Moving an object's geometry in local space while everything stays in place in the world.

The object's channels, its children and its data change together. The tools that apply transforms and set origins share
this module. It supports only types of objects whose data can be transformed.
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
# Parent types of children whose position follows from the parent's matrix, or from a vertex position in the world.
FOLLOWED = ("OBJECT", "VERTEX")
DATA_NAME: Name | None = optional(
    "If other objects share the geometry: name of this object's copy. Default: the object's name."
)


def sharers(scene: Scene, data: Block, obj: Block) -> list[str]:
    """Return the sorted names of the other datablocks that use an object's data, except its shape keys."""
    # `users` also counts fake users and pre-images, so it only shows when no search is needed.
    if data.users < 2:
        return []
    return sorted(user.name for user in scene.users(data) if user != obj and scene.kind_of(user) is not Kind.SHAPE_KEY)


def sharing_problems(
    scene: Scene, obj: Block, single: bool, data_name: str | None, named_at: str = "/data_name"
) -> Findings:
    """Yield findings that explain why an object's data cannot be written or copied while other objects share it.

    `named_at` is the JSON pointer for conflicts of the copy's name.
    """
    other_users = sharers(scene, obj.data, obj)
    if other_users and not single:
        shown = ", ".join(map(repr, other_users[:5]))
        message = f"the geometry '{obj.data.name}' is shared with {shown}, which would move"
        yield conflict(message, "/make_single_user", "Set 'make_single_user' to give the object its own copy.")
    elif other_users:
        kinds = [GEOMETRY_KINDS[obj.type]]
        if _keys(obj.data) is not None:
            kinds.append(Kind.SHAPE_KEY)
        for kind in kinds:
            yield from scene.name_conflicts(kind, data_name or obj.name, named_at)
    elif data_name not in (None, obj.data.name):
        cure = "Leave data_name out; object.rename with rename_data renames object and geometry."
        message = f"no other object uses the geometry '{obj.data.name}', so it keeps its name"
        yield invalid(message, "/data_name", cure)


def child_problems(scene: Scene, obj: Block, at: str) -> Findings:
    """Yield findings for children that could not stay in place."""
    for child in _children(scene, obj):
        if child.parent_type not in FOLLOWED:
            message = f"'{child.name}' has '{obj.name}' as parent by {child.parent_type}, and would not stay in place"
            yield conflict(message, at, f"Clear its parent first: object.set_parent of '{child.name}' to null.")


def flatness_problems(obj: Block, change: Block, at: str) -> Findings:
    """Yield a finding if a two-dimensional curve would leave its plane."""
    if obj.type == "CURVE" and obj.data.dimensions == "2D":
        entries = ((2, 0), (2, 1), (2, 3), (0, 2), (1, 2))
        if any(abs(change[row][column]) > 1e-6 for row, column in entries):
            message = f"the curve '{obj.data.name}' is two-dimensional, and this would move it out of its plane"
            yield conflict(message, at, "Apply fewer parts, or make the curve three-dimensional first.")


def writable_data(scene: Scene, obj: Block, data_name: str | None) -> Block:
    """Return an object's data, open for writing. If other objects share it, give the object a copy and return that."""
    data = obj.data
    if not sharers(scene, data, obj):
        return scene.edit(data)
    name = data_name or obj.name
    copy = scene.adopt(GEOMETRY_KINDS[obj.type], data.copy(), name)
    copy.use_fake_user = False
    if _keys(copy) is not None:
        scene.adopt(Kind.SHAPE_KEY, _keys(copy), name)
    scene.edit(obj)
    obj.data = copy
    return copy


def move_geometry(scene: Scene, obj: Block, change: Block, data: Block) -> None:
    """Transform an object's data by a matrix and keep its children in place. The object's channels are already changed."""
    if obj.type == "LATTICE":
        data.transform(change)
    else:
        data.transform(change, shape_keys=True)
    if obj.type == "MESH":
        if change.determinant() < 0:
            # Blender flips the faces of objects with a mirroring scale when it draws them; from now on it does not.
            data.flip_normals()
        data.update()
    for child in _children(scene, obj):
        if child.parent_type == "OBJECT":
            scene.set(child, "matrix_parent_inverse", change @ child.matrix_parent_inverse)


class Movement:
    """A record of world positions that detects whether objects and their children moved with their geometry."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._before: dict[str, Block] = {}
        self._changes: dict[str, Block] = {}
        self._pointers: dict[str, str] = {}

    def expect(self, obj: Block, change: Block, at: str) -> None:
        """Record that a matrix will transform an object's geometry. Call this for all objects before the first write.

        `at` is the JSON pointer for errors about the object.
        """
        self._changes[obj.name] = change
        for related in (obj, *_children(self._scene, obj)):
            self._before.setdefault(related.name, world_matrix(self._scene, related))
            self._pointers.setdefault(related.name, at)

    def change_of(self, obj: Block) -> Block:
        return self._changes[obj.name]

    def refuse_moved_objects(self) -> None:
        """Raise StepError if an object or a child moved, for example because of a constraint."""
        for name, matrix in self._before.items():
            after = world_matrix(self._scene, self._scene.require(Kind.OBJECT, name))
            if name in self._changes:
                after = after @ self._changes[name]
            if not nearly_equal_matrices(matrix_rows(matrix), matrix_rows(after)):
                message = f"'{name}' does not stay in place: a constraint or a relation moves it"
                cure = "Remove its constraint first with constraint.remove, or clear its parent."
                raise StepError.of(Fault.SCENE_CONFLICT, message, at=self._pointers[name], cure=cure)


def _children(scene: Scene, obj: Block) -> Iterator[Block]:
    return (candidate for candidate in scene.blocks(Kind.OBJECT) if candidate.parent == obj)


def _keys(data: Block) -> Block | None:
    return getattr(data, "shape_keys", None)
