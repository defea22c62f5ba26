"""A cloth simulation that returns the final positions of the vertices."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from blendwright.blender.simulation.stage import evaluated_copy, simulation_stage
from blendwright.tool_api.physics_port import ClothSettings


def drape(
    obj: Any,
    obstacles: Sequence[Any],
    settings: ClothSettings,
    frames: int,
    gravity: Sequence[float],
    quality: int,
    source: Any,
    graph: Any,
) -> list[float]:
    """Simulate an object as cloth over obstacles, and return its final vertex positions in its local space as a flat list."""
    with simulation_stage(frames, gravity, source) as stage:
        for obstacle in obstacles:
            copy = stage.add(evaluated_copy(obstacle, graph), obstacle.evaluated_get(graph).matrix_world)
            collision = copy.modifiers.new("Collision", "COLLISION")
            collision.settings.thickness_outer = settings.thickness
        matrix = obj.evaluated_get(graph).matrix_world.copy()
        sheet = stage.add(obj.data.copy(), matrix)
        sheet.data.transform(matrix)  # cloth ignores an object's scale
        sheet.matrix_world = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
        for group in obj.vertex_groups:
            sheet.vertex_groups.new(name=group.name)
        cloth = sheet.modifiers.new("Cloth", "CLOTH")
        settle(cloth, settings, quality)
        cloth.point_cache.frame_start, cloth.point_cache.frame_end = 1, frames
        positions = np.empty(len(obj.data.vertices) * 3, np.float32)
        for evaluated in stage.frames():
            mesh = sheet.evaluated_get(evaluated).data
            mesh.vertices.foreach_get("co", positions)
    back = np.array(matrix.inverted_safe())
    points = positions.reshape(-1, 3) @ back[:3, :3].T + back[:3, 3]
    return points.astype(np.float32).ravel().tolist()


def settle(cloth: Any, settings: ClothSettings, quality: int) -> None:
    """Write the settings into a cloth modifier."""
    physics, collisions = cloth.settings, cloth.collision_settings
    physics.quality, physics.mass = quality, settings.mass
    physics.tension_stiffness = physics.compression_stiffness = settings.tension
    physics.shear_stiffness = settings.tension / 3.0
    physics.bending_stiffness = settings.bending
    physics.tension_damping = physics.compression_damping = physics.shear_damping = settings.damping
    physics.vertex_group_mass = settings.pins or ""
    collisions.collision_quality = 3
    collisions.use_collision, collisions.use_self_collision = True, settings.self_collision
    collisions.distance_min = collisions.self_distance_min = settings.thickness
