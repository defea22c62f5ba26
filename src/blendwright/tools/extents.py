"""How far objects reach: the corners of their evaluated bounds in the world. Reads only."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from blendwright.contracts.scene import Block, Scene
from blendwright.tools.geometry import Point
from blendwright.tools.world import world_matrix

# Objects of these types have a drawing, but no extent that a picture would show.
BOUNDLESS = frozenset({"EMPTY", "LIGHT", "CAMERA", "SPEAKER", "LIGHT_PROBE", "ARMATURE", "LATTICE"})
# Blender's box around these counts control points with a margin of their radius: up to a metre too much on each side.
LOOSELY_BOXED = frozenset({"CURVE", "SURFACE", "FONT"})


def corners(scene: Scene, objects: Sequence[Block]) -> list[Point]:
    """The corners of the bounds of objects, their instances included; the origin of one that has no extent."""
    found: list[Point] = []
    wanted = {obj.name for obj in objects}
    for obj in objects:
        place = world_matrix(scene, obj)
        if obj.type in BOUNDLESS:
            found += _placed(scene, [(0.0, 0.0, 0.0)], place)
        elif obj.type in LOOSELY_BOXED:
            found += _placed(scene, _tight_box(scene, obj), place)
        else:
            found += _placed(scene, scene.evaluated(obj).bound_box, place)
    for instance in scene.depsgraph().object_instances:
        if instance.is_instance and instance.parent.original.name in wanted and instance.object.type not in BOUNDLESS:
            found += _placed(scene, instance.object.bound_box, instance.matrix_world)
    return found


def visible(scene: Scene) -> list[Block]:
    """The objects of the scene that a render shows, by name."""
    shown = [obj for obj in scene.active.objects if not obj.hide_render]
    extended = [obj for obj in shown if obj.type not in BOUNDLESS or obj.instance_type == "COLLECTION"]
    return sorted(extended, key=lambda obj: obj.name)


def _tight_box(scene: Scene, obj: Block) -> Iterable[Sequence[float]]:
    with scene.evaluated_mesh(obj) as mesh:
        if mesh is None or not len(mesh.vertices):
            return scene.evaluated(obj).bound_box
        flat = array("f", bytes(12 * len(mesh.vertices)))
        mesh.attributes["position"].data.foreach_get("vector", flat)
    return list(product(*((min(flat[axis::3]), max(flat[axis::3])) for axis in range(3))))


def _placed(scene: Scene, box: Iterable[Sequence[float]], matrix: Block) -> Iterator[Point]:
    for corner in box:
        x, y, z = matrix @ scene.vector(corner)
        yield (x, y, z)
