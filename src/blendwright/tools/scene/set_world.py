"""scene.set_world"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from blendwright.tool_api.arguments import Args, Color3, Name, Result, optional
from blendwright.tool_api.mentions import ensures
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import conflict, differs
from blendwright.tools.material.ensure_principled import with_nodes
from blendwright.tools.settings import Setting, Settings, animation_conflicts, settings_differ, write_settings

BACKGROUND = "ShaderNodeBackground"
DEFAULT = "World"
OTHER_WORLD = "Give the name of another world, or of a new one."


class SetWorldArgs(Args):
    name: Annotated[Name, ensures(Kind.WORLD)] | None = optional(
        "World to use, created when there is none of that name; left out, the scene's own, or a new one named World."
    )
    color: Color3 | None = optional("Colour of the background and of its light, linear RGB from 0 to 1.")
    strength: float | None = optional("Strength of the background's light.", ge=0.0, le=1e6)


class WorldSet(Result):
    world: str = Field(description="Name of the scene's world.")
    created: bool = Field(description="True when the world is new.")
    changed: bool = Field(description="False when everything was as asked already.")


class SetWorld(Tool[SetWorldArgs, WorldSet]):
    """Give the scene a world with a plain background colour and strength."""

    name = "scene.set_world"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.SCENE, Kind.WORLD).needs("scene_write")
    examples = (
        Example({"color": [0.5, 0.7, 1.0], "strength": 0.8}),
        Example({"name": "Night", "color": [0, 0, 0.02]}, ("scene.set_world", {"color": [1, 1, 1]})),
    )

    def check(self, scene: Scene, args: SetWorldArgs) -> Findings:
        world = _existing_world(scene, args)
        if world is None:
            yield from scene.name_conflicts(Kind.WORLD, args.name or DEFAULT, "/name")
            return
        if scene.version < (5, 0, 0) and not world.use_nodes and world.node_tree is None:
            return
        node = background(world)
        if node is None:
            yield conflict(f"no Background node reaches the output of world '{world.name}'", "/name", OTHER_WORLD)
            return
        for setting in _sockets(args, node):
            if setting.target.is_linked:
                message = f"the {setting.target.name} of world '{world.name}' comes from another node"
                yield conflict(message, setting.at, OTHER_WORLD)
        yield from animation_conflicts(scene, _sockets(args, node))

    def apply(self, scene: Scene, args: SetWorldArgs) -> WorldSet:
        world = _existing_world(scene, args)
        created = world is None
        if world is None:
            world = scene.create(Kind.WORLD, args.name or DEFAULT)
        with_nodes(scene, world)
        changed = write_settings(scene, _sockets(args, background(world)), owner=world)
        # Workbench does not look at nodes.
        if args.color is not None:
            changed = write_settings(scene, [Setting(world, "color", args.color, "/color")]) or changed
        return use_world(scene, world, created=created, changed=changed)

    def verify(self, scene: Scene, args: SetWorldArgs, result: WorldSet) -> Findings:
        yield from differs("the scene's world", result.world, world_name(scene), "/name")
        if scene.active.world is not None:
            yield from settings_differ(_sockets(args, background(scene.active.world)))


def _existing_world(scene: Scene, args: SetWorldArgs) -> Block | None:
    """The world to work on, if it is there. A world that no scene uses is not taken for the scene's own."""
    return scene.active.world if args.name is None else scene.find(Kind.WORLD, args.name)


def use_world(scene: Scene, world: Block, *, created: bool, changed: bool) -> WorldSet:
    """Make a world the scene's own; `changed` says whether anything was written to it."""
    is_used = scene.active.world == world
    if not is_used:
        scene.set(scene.active, "world", world)
    return WorldSet(world=world.name, created=created, changed=changed or created or not is_used)


def world_name(scene: Scene) -> str | None:
    return scene.active.world.name if scene.active.world else None


def background(world: Block) -> Any:
    """The Background node that reaches the output; None where there is none."""
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
