"""Tool scene.set_sky"""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from blendwright.tool_api.arguments import Args, Name
from blendwright.tool_api.mentions import ensures
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import conflict, differs
from blendwright.tools.material.ensure_principled import with_nodes
from blendwright.tools.scene.set_world import WorldSet, background, use_world, world_name
from blendwright.tools.settings import Setting, Settings, animation_conflicts, settings_differ, write_settings

SKY = "ShaderNodeTexSky"


class SetSkyArgs(Args):
    name: Annotated[Name, ensures(Kind.WORLD)] = Field(
        default="Sky", description="World to use; created if it does not exist."
    )
    sun_elevation_deg: float = Field(default=30.0, ge=-5.0, le=90.0, description="Height of the sun above the horizon.")
    sun_rotation_deg: float = Field(
        default=0.0, ge=-360.0, le=360.0, description="Direction of the sun, seen from above."
    )
    sun_disc: bool = Field(default=True, description="Whether the sky has a sun, which casts the shadows.")
    air: float = Field(default=1.0, ge=0.0, le=10.0, description="Density of the air: more makes the sky bluer.")
    strength: float = Field(
        default=0.05, ge=0.0, le=1e3, description="Strength of its light; 1 is as bright as a real sky."
    )


class SetSky(Tool[SetSkyArgs, WorldSet]):
    """Give the scene a world with a physical sky and a sun."""

    name = "scene.set_sky"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.SCENE, Kind.WORLD).needs("scene_write")
    examples = (
        Example({"sun_elevation_deg": 25, "sun_rotation_deg": 130}),
        Example({"name": "Evening", "sun_elevation_deg": 4, "strength": 0.2}, ("scene.set_sky", {})),
    )

    def check(self, scene: Scene, args: SetSkyArgs) -> Findings:
        world = scene.find(Kind.WORLD, args.name)
        if world is None:
            yield from scene.name_conflicts(Kind.WORLD, args.name, "/name")
        elif _sky(world) is None:
            message = f"the world '{args.name}' already exists and has no physical sky"
            yield conflict(message, "/name", "Give the name of a new world.")
        else:
            yield from animation_conflicts(scene, _settings(scene, args, world))

    def apply(self, scene: Scene, args: SetSkyArgs) -> WorldSet:
        world = scene.find(Kind.WORLD, args.name)
        created = world is None
        if world is None:
            world = scene.create(Kind.WORLD, args.name)
            with_nodes(scene, world)
            tree = world.node_tree
            node = tree.nodes.new(SKY)
            node.location = (-250.0, 300.0)
            tree.links.new(node.outputs["Color"], background(world).inputs["Color"])
        changed = write_settings(scene, _settings(scene, args, world), owner=world)
        return use_world(scene, world, created=created, changed=changed)

    def verify(self, scene: Scene, args: SetSkyArgs, result: WorldSet) -> Findings:
        yield from differs("the scene's world", args.name, world_name(scene), "/name")
        if scene.active.world is not None:
            yield from settings_differ(_settings(scene, args, scene.active.world))


def _sky(world: Block) -> Block | None:
    """Return the world's sky texture node, or None if its background has another source."""
    if world.node_tree is None:
        return None
    node = background(world)
    if node is None:
        return None
    for link in node.inputs["Color"].links:
        if link.from_node.bl_idname == SKY:
            return link.from_node
    return None


def _settings(scene: Scene, args: SetSkyArgs, world: Block) -> Settings:
    sky = _sky(world)
    assert sky is not None
    # Blender 5.0 renamed the Nishita model.
    sky_type = "NISHITA"
    if scene.version >= (5, 0, 0):
        sky_type = "MULTIPLE_SCATTERING"
    yield Setting(sky, "sky_type", sky_type, "/name")
    yield Setting(sky, "sun_elevation", math.radians(args.sun_elevation_deg), "/sun_elevation_deg")
    yield Setting(sky, "sun_rotation", math.radians(args.sun_rotation_deg), "/sun_rotation_deg")
    yield Setting(sky, "sun_disc", args.sun_disc, "/sun_disc")
    yield Setting(sky, "air_density", args.air, "/air")
    yield Setting(background(world).inputs["Strength"], "default_value", args.strength, "/strength")
