"""A rigid body simulation that returns the position of each body at each frame."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from blendwright.blender.simulation.stage import SimulationStage, evaluated_copy, simulation_stage, turned_only
from blendwright.tool_api.physics_port import Body, Track

_ops: Any = bpy.ops
_data: Any = bpy.data
# Half the width and the depth of the ground in metres. A thin ground would let fast bodies fall through.
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
    """Simulate bodies, and return for each one its location and rotation (quaternion) at each frame.

    `ground` is the height of an unlimited floor, or None without one. `substeps` counts per frame.
    """
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
        # Only the operator removes the world completely. Otherwise it would keep the collection.
        with stage.override():
            _ops.rigidbody.world_remove()
    return [tuple(track) for track in tracks]


def _copy(stage: SimulationStage, world: Any, body: Body, graph: Any) -> tuple[Any, Any]:
    """Add a copy of a body to the stage. Return it, and the offset of the object's origin from its centre.

    The copy turns around the middle of its bounding box. Bullet uses the origin as centre of mass, but an object's origin is seldom that.
    """
    mesh = evaluated_copy(body.obj, graph)
    object_matrix = body.obj.evaluated_get(graph).matrix_world.copy()
    copy_matrix = turned_only(object_matrix)
    positions = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", positions)
    points = positions.reshape(-1, 3)
    if len(points):
        middle = Vector(((points.min(axis=0) + points.max(axis=0)) / 2).tolist())
    else:
        middle = Vector()
    copy_matrix.translation = object_matrix @ middle
    offset = copy_matrix.inverted_safe() @ object_matrix
    mesh.transform(offset)
    copy = stage.add(mesh, copy_matrix)
    _enter(world, copy, active=body.active, shape=body.shape)
    rigid = copy.rigid_body
    rigid.mass, rigid.friction, rigid.restitution = body.mass, body.friction, body.bounce
    return copy, Matrix.Translation(offset.translation)


def _enter(world: Any, copy: Any, *, active: bool, shape: str) -> None:
    """Add a copy to the rigid body world."""
    world.collection.objects.link(copy)
    set_shape(copy.rigid_body, active=active, shape=shape)


def set_shape(rigid: Any, *, active: bool, shape: str) -> None:
    """Set the type, collision shape and margin of a rigid body."""
    if active:
        rigid.type = "ACTIVE"
    else:
        rigid.type = "PASSIVE"
    rigid.collision_shape = shape
    rigid.use_margin = True
    if shape in ("BOX", "SPHERE"):
        rigid.collision_margin = 0.0
    else:
        rigid.collision_margin = 0.001
    rigid.use_deactivation = False


def _add_ground(stage: SimulationStage, world: Any, height: float) -> None:
    """Add a large box whose top is at a height."""
    mesh = _data.meshes.new(stage.scene.name)
    corners = list(product((-GROUND, GROUND), (-GROUND, GROUND), (-DEPTH / 2, DEPTH / 2)))
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (2, 3, 7, 6), (6, 7, 5, 4), (4, 5, 1, 0), (2, 6, 4, 0), (7, 3, 1, 5)])
    copy = stage.add(mesh, Matrix.Translation((0.0, 0.0, height - DEPTH / 2)))
    _enter(world, copy, active=False, shape="BOX")
