"""Where an object stands in the world, also when Blender does not evaluate it. Reads only."""

from __future__ import annotations

import math
from collections.abc import Sequence

from blendwright.tool_api.scene import Block, Scene
from blendwright.tools.checks import same

# Blender keeps single-precision floats, and taking a matrix apart and together again costs some of that.
LOOSE = 1e-4


def evaluated_matrix(scene: Scene, obj: Block) -> Block | None:
    """The world matrix; None for an object that the scene does not evaluate, whose matrix would be an old one."""
    if _stands_free(obj):
        return obj.matrix_basis
    evaluated = scene.evaluated(obj)
    return evaluated.matrix_world if evaluated.is_evaluated else None


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
