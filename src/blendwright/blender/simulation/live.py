"""Physics set-ups that stay in the current scene for the user to play and tune. Only settings: no simulation runs, no cache is made."""

from collections.abc import Sequence
from typing import Any

import bpy

from blendwright.blender.simulation.cloth import settle
from blendwright.blender.simulation.rigid_bodies import set_shape
from blendwright.tool_api.physics_port import BODIES, Body, ClothSettings

_data: Any = bpy.data
_context: Any = bpy.context
_ops: Any = bpy.ops
CLOTH, COLLISION = "Cloth", "Collision"


def set_up_bodies(
    bodies: Sequence[Body], frames: tuple[int, int], gravity: Sequence[float], substeps: int, animated: bool, scene: Any
) -> str:
    """Make objects rigid bodies, and return the name of the collection of the scene's rigid body world."""
    world = _world(scene)
    world.enabled = True
    world.substeps_per_frame, world.solver_iterations = substeps, 20
    world.point_cache.frame_start, world.point_cache.frame_end = frames
    scene.use_gravity, scene.gravity = True, gravity
    for body in bodies:
        rigid = _rigid_body(body.obj, world)
        set_shape(rigid, active=body.active, shape=body.shape)
        rigid.mass, rigid.friction, rigid.restitution = body.mass, body.friction, body.bounce
        rigid.enabled, rigid.kinematic = True, animated and body.active
    return world.collection.name


def _world(scene: Any) -> Any:
    """Return the rigid body world of a scene, with a collection. Create what is missing."""
    world = scene.rigidbody_world
    if world is None:
        with _context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
            _ops.rigidbody.world_add()
        return _world(scene)
    world.collection = world.collection or _data.collections.new(BODIES)
    return world


def _rigid_body(obj: Any, world: Any) -> Any:
    """Return the rigid body of an object. Create it if it is missing."""
    if obj.rigid_body is None:
        # Blender creates a body for an object when it enters this collection, so an object inside must leave it first.
        if obj.name in world.collection.objects:
            world.collection.objects.unlink(obj)
        world.collection.objects.link(obj)
    return obj.rigid_body


def set_up_cloth(
    obj: Any,
    obstacles: Sequence[Any],
    settings: ClothSettings,
    frames: tuple[int, int],
    gravity: Sequence[float],
    quality: int,
    scene: Any,
) -> str:
    """Make an object cloth and the obstacles collide. Return the name of the cloth modifier."""
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
    """Return the object's modifier of the type `name`. Create it if it is missing."""
    kind = name.upper()
    for modifier in obj.modifiers:
        if modifier.type == kind:
            return modifier
    return obj.modifiers.new(name, kind)
