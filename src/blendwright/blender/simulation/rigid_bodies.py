"""Rigid bodies: where they are at each frame."""

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from blendwright.blender.simulation.stage import SimulationStage, evaluated_copy, simulation_stage, turned_only
from blendwright.tool_api.physics_port import Body, Track

_ops: Any = bpy.ops
_data: Any = bpy.data
# Half the width of the ground, and its depth: what falls for long must not fall through.
GROUND, DEPTH = 500.0, 10.0


def simulate(
    bodies: Sequence[Body],
    frames: int,
    gravity: Sequence[float],
    substeps: int,
    ground: float | None,
    source: Any,
    graph: Any,
) -> list[Track]:
    with simulation_stage(frames, gravity, source) as stage:
        with stage.override():
            _ops.rigidbody.world_add()
        world = stage.scene.rigidbody_world
        world.collection = stage.add_collection()
        world.substeps_per_frame = substeps
        world.solver_iterations = 20
        world.point_cache.frame_start, world.point_cache.frame_end = 1, frames
        copies = [_copy(stage, world, body, graph) for body in bodies]
        if ground is not None:
            _add_ground(stage, world, ground)
        tracks: list[list[Any]] = [[] for _ in bodies]
        for evaluated in stage.frames():
            for (copy, offset), track in zip(copies, tracks, strict=True):
                matrix = copy.evaluated_get(evaluated).matrix_world
                track.append((tuple((matrix @ offset).translation), tuple(matrix.to_quaternion())))
        # By its own operator: what is left of it would keep the collection.
        with stage.override():
            _ops.rigidbody.world_remove()
    return [tuple(track) for track in tracks]


def _copy(stage: SimulationStage, world: Any, body: Body, graph: Any) -> tuple[Any, Any]:
    """A body that turns about the middle of its box, and where the object's origin is in it.

    Bullet takes the origin for the centre of mass, which that of an object seldom is."""
    mesh = evaluated_copy(body.obj, graph)
    own = body.obj.evaluated_get(graph).matrix_world.copy()
    place = turned_only(own)
    positions = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", positions)
    points = positions.reshape(-1, 3)
    if len(points):
        middle = Vector(((points.min(axis=0) + points.max(axis=0)) / 2).tolist())
    else:
        middle = Vector()
    place.translation = own @ middle
    offset = place.inverted_safe() @ own
    mesh.transform(offset)
    copy = stage.add(mesh, place)
    _enter(world, copy, "ACTIVE" if body.active else "PASSIVE", body.shape)
    rigid = copy.rigid_body
    rigid.mass, rigid.friction, rigid.restitution = body.mass, body.friction, body.bounce
    return copy, Matrix.Translation(offset.translation)


def _enter(world: Any, copy: Any, kind: str, shape: str) -> None:
    world.collection.objects.link(copy)
    rigid = copy.rigid_body
    rigid.type, rigid.collision_shape = kind, shape
    rigid.use_margin, rigid.collision_margin = True, 0.0 if shape in ("BOX", "SPHERE") else 0.001
    rigid.use_deactivation = False


def _add_ground(stage: SimulationStage, world: Any, height: float) -> None:
    mesh = _data.meshes.new(stage.scene.name)
    corners = [(x, y, z) for x in (-GROUND, GROUND) for y in (-GROUND, GROUND) for z in (-DEPTH / 2, DEPTH / 2)]
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (2, 3, 7, 6), (6, 7, 5, 4), (4, 5, 1, 0), (2, 6, 4, 0), (7, 3, 1, 5)])
    copy = stage.add(mesh, Matrix.Translation((0.0, 0.0, height - DEPTH / 2)))
    _enter(world, copy, "PASSIVE", "BOX")
