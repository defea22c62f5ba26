"""World matrices of objects, also of objects that Blender does not evaluate, and unparenting without moving the
children.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain, combinations

from blendwright.tool_api import Block, Findings, Kind, Scene
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.checks import conflict, same
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

# Relative tolerance for matrices: decomposing and composing them loses some of Blender's single precision.
MATRIX_TOLERANCE = 1e-4


def evaluated_matrix(scene: Scene, obj: Block) -> Block | None:
    """Return the evaluated world matrix, or None for an object that Blender does not evaluate (its stored matrix is out
    of date).
    """
    if _is_placed_by_channels_only(obj):
        return obj.matrix_basis
    evaluated = scene.evaluated(obj)
    if evaluated.is_evaluated:
        return evaluated.matrix_world
    return None


def _is_placed_by_channels_only(obj: Block) -> bool:
    """Return True if the object is visible and nothing but its channels determines its position.

    This avoids an evaluation of the scene, which takes milliseconds with a thousand objects; most objects do not need
    it.
    """
    return (
        obj.parent is None
        and not obj.constraints
        and obj.animation_data is None
        and obj.rigid_body is None
        and obj.visible_get()
    )


def world_matrix(scene: Scene, obj: Block) -> Block:
    """Return a copy of the object's world matrix.

    Blender does not update the matrix of hidden and unlinked objects. For them, compute it from parents and channels,
    without constraints.
    """
    matrix = evaluated_matrix(scene, obj)
    if matrix is not None:
        return matrix.copy()
    if obj.parent is None:
        return obj.matrix_basis.copy()
    if obj.parent_type == "OBJECT":
        return world_matrix(scene, obj.parent) @ obj.matrix_parent_inverse @ obj.matrix_basis
    return obj.matrix_world.copy()


def orientation(scene: Scene, obj: Block) -> Block:
    """Return the object's own rotation as a quaternion, in any rotation mode."""
    if obj.rotation_mode == "QUATERNION":
        return obj.rotation_quaternion.normalized()
    if obj.rotation_mode == "AXIS_ANGLE":
        angle, *axis = obj.rotation_axis_angle
        direction = scene.vector(axis).normalized()
        return scene.quaternion((math.cos(angle / 2), *(part * math.sin(angle / 2) for part in direction)))
    return obj.rotation_euler.to_quaternion()


def matrix_rows(matrix: Block) -> list[list[float]]:
    """Return a matrix as rows of plain numbers, without negative zeros."""
    return [[value + 0.0 for value in row] for row in matrix]


def nearly_equal_matrices(expected: Sequence[Sequence[float]], actual: Sequence[Sequence[float]]) -> bool:
    """Return True if two matrices are equal within single precision after some arithmetic."""
    if same(expected, actual):
        return True
    expected_values = list(chain.from_iterable(expected))
    actual_values = list(chain.from_iterable(actual))
    tolerance = MATRIX_TOLERANCE * max(1.0, *map(abs, expected_values))
    return all(abs(a - b) <= tolerance for a, b in zip(expected_values, actual_values, strict=True))


# Largest cosine of the angle between two axes that still count as perpendicular.
MAX_AXES_COSINE = 1e-4
IDENTITY = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]


def parent_space(scene: Scene, child: Block) -> Block:
    """Return the matrix of the space in which an object's channels are, before constraints."""
    if child.parent is None:
        return scene.matrix(IDENTITY)
    if child.parent_type == "OBJECT":
        return world_matrix(scene, child.parent) @ child.matrix_parent_inverse
    return world_matrix(scene, child) @ child.matrix_basis.inverted_safe()


def stay_in_place_conflicts(scene: Scene, child: Block, at: str, fix: str) -> Findings:
    """Yield findings if a child cannot keep its world position without its parent. `fix` is the fix to report."""
    frame = parent_space(scene, child)
    if nearly_equal_matrices(frame, IDENTITY):
        return  # its channels are already in world space, animated or not
    for channel in ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"):
        yield from channel_conflicts(scene, child, channel, at)
    axes = [axis.normalized() for axis in (frame @ child.matrix_basis).to_3x3().col]
    if any(abs(first.dot(second)) > MAX_AXES_COSINE for first, second in combinations(axes, 2)):
        message = f"'{child.name}' is sheared by the uneven scale of its parent, which location, rotation and scale cannot express"
        yield conflict(message, at, fix)


def remaining_children(scene: Scene, parents: Iterable[Block]) -> list[Block]:
    """Return the children of `parents` that are not themselves in `parents`, sorted by name."""
    deleted = set(parents)
    # One pass over all objects: `Object.children` would search all objects for every parent.
    return [child for child in scene.blocks(Kind.OBJECT) if child.parent in deleted and child not in deleted]


def unparent_conflicts(scene: Scene, parents: Iterable[Block], at: str) -> Findings:
    """Yield findings if children of deleted parents cannot keep their world position."""
    for child in remaining_children(scene, parents):
        first = "unparent it first with object.set_parent and keep_transform false"
        fix = f"Delete '{child.name}' too, make the scale of its parent even, or {first}."
        yield from stay_in_place_conflicts(scene, child, at, fix)


def unparent_children(scene: Scene, parents: Iterable[Block], at: str) -> None:
    """Unparent the remaining children of `parents` and keep their world positions.

    Raise StepError if a constraint moves a child nevertheless.
    """
    children = remaining_children(scene, parents)
    target_matrices = {child: parent_space(scene, child) @ child.matrix_basis for child in children}
    original_matrices = {child: world_matrix(scene, child) for child in children}
    for child, matrix in target_matrices.items():
        scene.set(child, "parent", None)
        scene.set_world_matrix(child, matrix)
    for child, matrix in original_matrices.items():
        if not nearly_equal_matrices(matrix, world_matrix(scene, child)):
            message = f"'{child.name}' does not stay in place without its parent: a constraint moves it"
            fix = "Delete it too, or remove its constraint first."
            raise StepError.of(Fault.SCENE_CONFLICT, message, at=at, cure=fix)
