"""Where an object stands in the world, also when Blender does not evaluate it, and how children stay there without a parent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from blendwright.tool_api import Block, Findings, Kind, Scene
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.checks import conflict, same
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

# Blender keeps single-precision floats, and taking a matrix apart and together again costs some of that.
LOOSE = 1e-4


def evaluated_matrix(scene: Scene, obj: Block) -> Block | None:
    """The world matrix; None for an object that the scene does not evaluate, whose matrix would be an old one."""
    if _stands_free(obj):
        return obj.matrix_basis
    evaluated = scene.evaluated(obj)
    if evaluated.is_evaluated:
        return evaluated.matrix_world
    return None


def _stands_free(obj: Block) -> bool:
    """Whether it is evaluated, and nothing but its own channels places it.

    To have Blender evaluate a scene of a thousand objects takes milliseconds, and most objects do not need it."""
    return (
        obj.parent is None
        and not obj.constraints
        and obj.animation_data is None
        and obj.rigid_body is None
        and obj.visible_get()
    )


def world_matrix(scene: Scene, obj: Block) -> Block:
    """The world matrix. Blender leaves that of hidden and unlinked objects as it was, so theirs is computed here
    (from parents and channels, without constraints)."""
    matrix = evaluated_matrix(scene, obj)
    if matrix is not None:
        return matrix.copy()
    if obj.parent is None:
        return obj.matrix_basis.copy()
    if obj.parent_type == "OBJECT":
        return world_matrix(scene, obj.parent) @ obj.matrix_parent_inverse @ obj.matrix_basis
    return obj.matrix_world.copy()


def orientation(scene: Scene, obj: Block) -> Block:
    """An object's own rotation as a quaternion, whatever its rotation mode."""
    if obj.rotation_mode == "QUATERNION":
        return obj.rotation_quaternion.normalized()
    if obj.rotation_mode == "AXIS_ANGLE":
        angle, *axis = obj.rotation_axis_angle
        direction = scene.vector(axis).normalized()
        return scene.quaternion((math.cos(angle / 2), *(part * math.sin(angle / 2) for part in direction)))
    return obj.rotation_euler.to_quaternion()


def matrix_rows(matrix: Block) -> list[list[float]]:
    """A matrix as plain numbers, without negative zeros."""
    return [[value + 0.0 for value in row] for row in matrix]


def nearly_equal_matrices(expected: Sequence[Sequence[float]], actual: Sequence[Sequence[float]]) -> bool:
    """Equal matrices, as far as single precision can tell after some arithmetic."""
    if same(expected, actual):
        return True
    pairs = [
        (one, other)
        for row, other_row in zip(expected, actual, strict=True)
        for one, other in zip(row, other_row, strict=True)
    ]
    largest = max(1.0, *(abs(one) for one, _ in pairs))
    return all(abs(one - other) <= LOOSE * largest for one, other in pairs)


# The cosine of the angle between two axes, above which they are not at right angles any more.
SHEARED = 1e-4
IDENTITY = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]


def parent_space(scene: Scene, child: Block) -> Block:
    """The space that an object's channels are in, before constraints."""
    if child.parent is None:
        return scene.matrix(IDENTITY)
    if child.parent_type == "OBJECT":
        return world_matrix(scene, child.parent) @ child.matrix_parent_inverse
    return world_matrix(scene, child) @ child.matrix_basis.inverted_safe()


def stay_in_place_conflicts(scene: Scene, child: Block, at: str, cure: str) -> Findings:
    """What keeps a child from staying in place without its parent."""
    frame = parent_space(scene, child)
    if nearly_equal_matrices(frame, IDENTITY):
        return  # its channels say where it stands already, animated or not
    for channel in ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"):
        yield from channel_conflicts(scene, child, channel, at)
    axes = [axis.normalized() for axis in (frame @ child.matrix_basis).to_3x3().col]
    if any(abs(one.dot(other)) > SHEARED for one, other in zip(axes, [*axes[1:], axes[0]], strict=True)):
        message = f"'{child.name}' is sheared by the uneven scale of its parent, which location, rotation and scale cannot express"
        yield conflict(message, at, cure)


def remaining_children(scene: Scene, parents: Iterable[Block]) -> list[Block]:
    """The children of objects that are none of these themselves, by name."""
    going = set(parents)
    # Asking each for its children would go through all objects each time.
    return [child for child in scene.blocks(Kind.OBJECT) if child.parent in going and child not in going]


def unparent_conflicts(scene: Scene, parents: Iterable[Block], at: str) -> Findings:
    """What keeps the children of objects that go from staying in place."""
    for child in remaining_children(scene, parents):
        first = "let go of it first with object.set_parent and keep_transform false"
        cure = f"Delete '{child.name}' too, make the scale of its parent even, or {first}."
        yield from stay_in_place_conflicts(scene, child, at, cure)


def unparent_children(scene: Scene, parents: Iterable[Block], at: str) -> None:
    """Take the children of objects off them, where they stand."""
    children = remaining_children(scene, parents)
    target_matrices = {child: parent_space(scene, child) @ child.matrix_basis for child in children}
    original_matrices = {child: world_matrix(scene, child) for child in children}
    for child, matrix in target_matrices.items():
        scene.set(child, "parent", None)
        scene.set_world_matrix(child, matrix)
    for child, matrix in original_matrices.items():
        if not nearly_equal_matrices(matrix, world_matrix(scene, child)):
            message = f"'{child.name}' does not stay in place without its parent: a constraint moves it"
            cure = "Delete it too, or remove its constraint first."
            raise StepError.of(Fault.SCENE_CONFLICT, message, at=at, cure=cure)
