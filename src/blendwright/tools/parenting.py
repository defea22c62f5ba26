"""Taking children off their parents where they stand: what speaks against it, and how it is done."""

from __future__ import annotations

from collections.abc import Iterable

from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Findings
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.checks import conflict
from blendwright.tools.world_space import nearly_equal_matrices, world_matrix
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

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
