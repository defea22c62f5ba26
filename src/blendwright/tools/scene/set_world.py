"""Tool scene.set_world"""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, Color3, Name, Result, optional
from blendwright.tool_api.mentions import ensures, uses
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import conflict, differs, existing
from blendwright.tools.material.ensure_principled import with_nodes
from blendwright.tools.settings import Setting, Settings, animation_conflicts, settings_differ, write_settings

BACKGROUND = "ShaderNodeBackground"
ENVIRONMENT, MAPPING = "ShaderNodeTexEnvironment", "ShaderNodeMapping"
STUDIO = ("image.create", {"name": "Studio", "size": [16, 8], "float": True, "color": [2, 2, 2]})
DEFAULT = "World"
OTHER_WORLD = "Give the name of another world, or of a new one."


class SetWorldArgs(Args):
    name: Annotated[Name, ensures(Kind.WORLD)] | None = optional(
        "World to use, created if it does not exist. Default: the scene's own, or a new one named World."
    )
    color: Color3 | None = optional("Colour of the background and of its light, linear RGB from 0 to 1.")
    image: Annotated[Name, uses(Kind.IMAGE)] | None = optional(
        "Image around the scene instead of a colour, with twice as much width as height: an HDRI from image.load."
    )
    rotation_deg: float | None = optional("Rotation of the image about the vertical axis.", ge=-360.0, le=360.0)
    strength: float | None = optional("Strength of the background's light.", ge=0.0, le=1e6)

    @model_validator(mode="after")
    def _check_fill(self) -> SetWorldArgs:
        if self.image is not None and self.color is not None:
            raise PydanticCustomError("world_fill", "give image or color, not both")
        if self.rotation_deg is not None and self.image is None:
            raise PydanticCustomError("world_turn", "rotation_deg rotates an image: give image too")
        return self


class WorldSet(Result):
    world: str = Field(description="Name of the scene's world.")
    created: bool = Field(description="True if the world is new.")
    changed: bool = Field(description="False if everything already was as requested.")


class SetWorld(Tool[SetWorldArgs, WorldSet]):
    """Give the scene a world: a plain background colour or an environment image (HDRI), and its strength."""

    name = "scene.set_world"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.SCENE, Kind.WORLD).needs("scene_write")
    examples = (
        Example({"color": [0.5, 0.7, 1.0], "strength": 0.8}),
        Example({"image": "Studio", "rotation_deg": 90, "strength": 1.5}, STUDIO),
        Example({"image": "Studio"}, STUDIO, ("scene.set_world", {"image": "Studio", "rotation_deg": 30})),
        Example({"name": "Night", "color": [0, 0, 0.02]}, ("scene.set_world", {"color": [1, 1, 1]})),
    )

    def check(self, scene: Scene, args: SetWorldArgs) -> Findings:
        if args.image is not None:
            yield from existing(scene, Kind.IMAGE, args.image, "/image")
        world = _existing_world(scene, args)
        if world is None:
            yield from scene.name_conflicts(Kind.WORLD, args.name or DEFAULT, "/name")
            return
        if scene.version < (5, 0, 0) and not world.use_nodes and world.node_tree is None:
            return
        node = background(world)
        if node is None:
            message = f"no Background node is linked to the output of world '{world.name}'"
            yield conflict(message, "/name", OTHER_WORLD)
            return
        for setting in _sockets(args, node):
            if setting.target.is_linked:
                message = f"the {setting.target.name} of world '{world.name}' comes from another node"
                yield conflict(message, setting.at, OTHER_WORLD)
        if args.image is not None and node.inputs["Color"].is_linked and environment(node) is None:
            yield conflict(f"the Color of world '{world.name}' comes from another node", "/image", OTHER_WORLD)
        yield from animation_conflicts(scene, _sockets(args, node))

    def apply(self, scene: Scene, args: SetWorldArgs) -> WorldSet:
        world = _existing_world(scene, args)
        created = world is None
        if world is None:
            world = scene.create(Kind.WORLD, args.name or DEFAULT)
        with_nodes(scene, world)
        needs_image = args.image is not None and environment(background(world)) != _requested_environment(args)
        if needs_image:
            _build_environment(scene, args, scene.edit(world))
        changed = write_settings(scene, _sockets(args, background(world)), owner=world) or needs_image
        # WORKBENCH ignores nodes and shows this colour.
        if args.color is not None:
            changed = write_settings(scene, [Setting(world, "color", args.color, "/color")]) or changed
        return use_world(scene, world, created=created, changed=changed)

    def verify(self, scene: Scene, args: SetWorldArgs, result: WorldSet) -> Findings:
        yield from differs("the scene's world", result.world, world_name(scene), "/name")
        if scene.active.world is not None:
            node = background(scene.active.world)
            yield from settings_differ(_sockets(args, node))
            if args.image is not None:
                actual = environment(node) or (None, 0.0)
                yield from differs("its environment", _requested_environment(args), actual, "/image")


def _requested_environment(args: SetWorldArgs) -> tuple[str | None, float]:
    return args.image, round(args.rotation_deg or 0.0, 3)


def environment(node: Block) -> tuple[str | None, float] | None:
    """Return the image name and rotation in degrees of a Background node, or None if its colour comes from elsewhere."""
    links = node.inputs["Color"].links
    if not links:
        return None
    texture = links[0].from_node
    if texture.bl_idname != ENVIRONMENT or not texture.inputs["Vector"].is_linked:
        return None
    mapping = texture.inputs["Vector"].links[0].from_node
    if mapping.bl_idname != MAPPING:
        return None
    rotation = round(math.degrees(mapping.inputs["Rotation"].default_value[2]), 3)
    if texture.image is None:
        return None, rotation
    return texture.image.name, rotation


def _build_environment(scene: Scene, args: SetWorldArgs, world: Block) -> None:
    """Build or change the environment nodes. The caller must have opened the world for writing."""
    tree, node = world.node_tree, background(world)
    if environment(node) is None:
        texture, mapping = tree.nodes.new(ENVIRONMENT), tree.nodes.new(MAPPING)
        coordinates = tree.nodes.new("ShaderNodeTexCoord")
        texture.location, mapping.location, coordinates.location = (-300.0, 300.0), (-500.0, 300.0), (-700.0, 300.0)
        tree.links.new(coordinates.outputs["Generated"], mapping.inputs["Vector"])
        tree.links.new(mapping.outputs["Vector"], texture.inputs["Vector"])
        tree.links.new(texture.outputs["Color"], node.inputs["Color"])
    texture = node.inputs["Color"].links[0].from_node
    assert args.image is not None
    texture.image = scene.require(Kind.IMAGE, args.image, "/image")
    rotation = math.radians(args.rotation_deg or 0.0)
    texture.inputs["Vector"].links[0].from_node.inputs["Rotation"].default_value = (0.0, 0.0, rotation)


def _existing_world(scene: Scene, args: SetWorldArgs) -> Block | None:
    """Return the requested world, or None if it does not exist. Without a name, only the scene's own world counts."""
    if args.name is None:
        return scene.active.world
    return scene.find(Kind.WORLD, args.name)


def use_world(scene: Scene, world: Block, *, created: bool, changed: bool) -> WorldSet:
    """Make a world the scene's own and return the result. `changed` says whether the caller wrote to the world."""
    is_used = scene.active.world == world
    if not is_used:
        scene.set(scene.active, "world", world)
    return WorldSet(world=world.name, created=created, changed=changed or created or not is_used)


def world_name(scene: Scene) -> str | None:
    if scene.active.world:
        return scene.active.world.name
    return None


def background(world: Block) -> Any:
    """Return the Background node that is linked to the active output, or None. The world must have a node tree."""
    tree = world.node_tree
    outputs = [node for node in tree.nodes if node.bl_idname == "ShaderNodeOutputWorld" and node.is_active_output]
    for output in outputs:
        for link in output.inputs["Surface"].links:
            if link.from_node.bl_idname == BACKGROUND:
                return link.from_node
    return None


def _sockets(args: SetWorldArgs, node: Block) -> Settings:
    if args.color is not None:
        yield Setting(node.inputs["Color"], "default_value", (*args.color, 1.0), "/color")
    if args.strength is not None:
        yield Setting(node.inputs["Strength"], "default_value", args.strength, "/strength")
