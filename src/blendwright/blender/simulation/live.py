"""Set-ups that stay in the scene at hand, for people to play and to tune: settings only, nothing is simulated here and no cache is made."""

from collections.abc import Sequence
from typing import Any

import bpy

from blendwright.blender.simulation.cloth import settle
from blendwright.tool_api.physics_port import BODIES, Body, ClothSettings

_data: Any = bpy.data
_context: Any = bpy.context
_ops: Any = bpy.ops
CLOTH, COLLISION = "Cloth", "Collision"


def set_up_bodies(
    bodies: Sequence[Body], frames: tuple[int, int], gravity: Sequence[float], substeps: int, animated: bool, scene: Any
) -> str:
    """The name of the collection that the scene's world of rigid bodies has them in."""
    world = _world(scene)
    world.enabled = True
    world.substeps_per_frame, world.solver_iterations = substeps, 20
    world.point_cache.frame_start, world.point_cache.frame_end = frames
    scene.use_gravity, scene.gravity = True, gravity
    for body in bodies:
        rigid = _rigid_body(body.obj, world)
        rigid.type, rigid.collision_shape = "ACTIVE" if body.active else "PASSIVE", body.shape
        rigid.mass, rigid.friction, rigid.restitution = body.mass, body.friction, body.bounce
        rigid.use_margin, rigid.collision_margin = True, 0.0 if body.shape in ("BOX", "SPHERE") else 0.001
        rigid.enabled, rigid.kinematic, rigid.use_deactivation = True, animated and body.active, False
    return world.collection.name


def _world(scene: Any) -> Any:
    world = scene.rigidbody_world
    if world is None:
        with _context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
            _ops.rigidbody.world_add()
        return _world(scene)
    world.collection = world.collection or _data.collections.new(BODIES)
    return world


def _rigid_body(obj: Any, world: Any) -> Any:
    there = obj.rigid_body
    if there is None:
        # Blender makes a body of whatever comes into this collection, and of nothing that is in it already.
        if obj.name in world.collection.objects:
            world.collection.objects.unlink(obj)
        world.collection.objects.link(obj)
    return there or obj.rigid_body


def set_up_cloth(
    obj: Any,
    obstacles: Sequence[Any],
    settings: ClothSettings,
    frames: tuple[int, int],
    gravity: Sequence[float],
    quality: int,
    scene: Any,
) -> str:
    """The name of the modifier that makes it cloth."""
    scene.use_gravity, scene.gravity = True, gravity
    for obstacle in obstacles:
        _modifier(obstacle, COLLISION)
        obstacle.collision.use = True
        obstacle.collision.thickness_outer = settings.thickness
    cloth = _modifier(obj, CLOTH)
    settle(cloth, settings, quality)
    cloth.point_cache.frame_start, cloth.point_cache.frame_end = frames
    return cloth.name


def _modifier(obj: Any, name: str) -> Any:
    kind = name.upper()
    there = next((each for each in obj.modifiers if each.type == kind), None)
    return there or obj.modifiers.new(name, kind)
