"""The arguments that say which channel of which datablock is animated.

Whatever can be keyed is reached from its datablock by names: a bone, a modifier, a constraint, a node and its input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, InnerName, Name, optional
from blendwright.tool_api.mentions import CONSTRAINT, MODIFIER, MaterialName, Mention, ObjectName, Role, ensures, uses
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tools.animation.channels import OF_CONSTRAINT, Channel

Owner = Literal["object", "material", "world", "node_group", "scene"]
KINDS: dict[Owner, Kind] = {
    "object": Kind.OBJECT,
    "material": Kind.MATERIAL,
    "world": Kind.WORLD,
    "node_group": Kind.NODE_GROUP,
}
# All kinds of datablock that can hold what is keyed: an object's data may be any of these.
WRITTEN = (
    Kind.ACTION, Kind.OBJECT, Kind.LIGHT, Kind.CAMERA, Kind.MATERIAL, Kind.WORLD, Kind.NODE_GROUP, Kind.SCENE, Kind.SHAPE_KEY,
    Kind.MESH, Kind.CURVE, Kind.ARMATURE, Kind.LATTICE, Kind.METABALL, Kind.HAIR_CURVES, Kind.POINT_CLOUD, Kind.VOLUME,
    Kind.SPEAKER, Kind.LIGHT_PROBE, Kind.GREASE_PENCIL, Kind.GREASE_PENCIL_V3,
)  # fmt: skip
# Channel -> the names that it needs, and those that it may have.
NAMES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    **dict.fromkeys(("location", "rotation_euler_deg", "rotation_quaternion", "scale"), ((), ("bone",))),
    "property": (("property",), ("bone",)),
    **dict.fromkeys(OF_CONSTRAINT, (("constraint",), ("bone",))),
    "shape_key": (("shape_key",), ()),
    "node_input": (("node", "input"), ()),
    "modifier_input": (("modifier", "input"), ()),
    "setting": (("setting",), ("bone", "constraint", "modifier", "node")),
    "data_setting": (("setting",), ()),
}
ALL_NAMES = ("bone", "property", "constraint", "modifier", "shape_key", "node", "input", "setting")
SETTING = r"^[A-Za-z_][A-Za-z0-9_]*(\[\d{1,4}\])?(\.[A-Za-z_][A-Za-z0-9_]*(\[\d{1,4}\])?)*$"
Inner = Annotated[InnerName, Field(min_length=1)]


class BlockNames(Args):
    """A datablock that can be animated, by its name."""

    object: ObjectName | None = optional("Name of the object. Instead of it: material, world, node_group or scene.")
    material: MaterialName | None = optional("Name of a material.")
    world: Annotated[Name, uses(Kind.WORLD)] | None = optional("Name of a world.")
    node_group: Annotated[Name, uses(Kind.NODE_GROUP)] | None = optional("Name of a node group.")
    scene: bool = Field(default=False, description="The scene itself.")

    def given(self) -> list[Owner]:
        return [name for name in (*KINDS, "scene") if getattr(self, name)]

    @property
    def owner(self) -> Owner:
        return self.given()[0]

    @property
    def at(self) -> str:
        return f"/{self.owner}"

    def find(self, scene: Scene) -> Block:
        """Raises StepError where there is no such datablock."""
        owner = self.owner
        if owner == "scene":
            return scene.active
        return scene.require(KINDS[owner], getattr(self, owner), self.at)


class AnimatedBlock(BlockNames):
    """The datablock whose channels are meant: exactly one of its names."""

    @model_validator(mode="after")
    def _is_one(self) -> AnimatedBlock:
        if len(self.given()) != 1:
            raise PydanticCustomError("one_block", "give exactly one of object, material, world, node_group and scene")
        return self


class KeyedBlock(AnimatedBlock):
    """A datablock that gets keys."""

    action: Annotated[Name, ensures(Kind.ACTION)] | None = optional(
        "Name of the action that is made where there is none; named after the datablock when left out."
    )


class ChannelNames(Args):
    """What a channel is called within its datablock."""

    bone: Inner | None = optional("Pose bone whose location, rotation, scale, property, constraint or setting it is.")
    property: Name | None = optional("Key of the custom property, for channel property.")
    constraint: Inner | None = optional("Name of the constraint, for channels of one.")
    modifier: Name | None = optional("Modifier whose input or setting it is.")
    shape_key: Name | None = optional("Name of the shape key, for channel shape_key.")
    node: Name | None = optional("Node (of a material, world, light or node_group) whose input or setting it is.")
    input: Name | None = optional("Input of the node, or of the geometry-nodes modifier, by its name or identifier.")
    setting: Annotated[str, Field(max_length=200, pattern=SETTING)] | None = optional(
        "Blender's name of the setting, for setting and data_setting: width of a modifier, view_settings.exposure of the scene; "
        "angles end in _deg: spot_size_deg."
    )


class ChannelArgs(ChannelNames):
    channel: Channel = Field(
        description="What is animated. setting: any setting of the datablock, or of the modifier, constraint, bone or node named "
        "beside it. data_setting: of the object's data."
    )

    @model_validator(mode="after")
    def _names_what_it_should(self) -> ChannelArgs:
        refuse_stray_names(self.channel, self)
        return self


def refuse_stray_names(channel: str | None, names: ChannelNames) -> None:
    """For argument models: names are given exactly where the channel has them."""
    needed, allowed = NAMES.get(channel or "", ((), ()))
    for name in ALL_NAMES:
        given = getattr(names, name) is not None
        if name in needed and not given:
            raise PydanticCustomError("channel_name", "{channel} needs {name}", {"channel": channel, "name": name})
        if given and name not in needed and name not in allowed:
            context = {"channel": channel or "all channels", "name": name}
            raise PydanticCustomError("channel_name", "{name} does not belong to {channel}", context)
    if sum(getattr(names, name) is not None for name in ("constraint", "modifier", "node")) > 1:
        raise PydanticCustomError("channel_names", "give one of constraint, modifier and node")


def channel_mentions(block: AnimatedBlock, names: ChannelNames, at: str = "") -> Iterator[Mention]:
    """The modifier or constraint of the object that a channel is of. Those of bones are not made by tools."""
    if block.object is None:
        return
    if names.modifier is not None:
        yield Mention(Role.USES, MODIFIER, names.modifier, block.object, surely=False, at=f"{at}/modifier")
    if names.constraint is not None and names.bone is None:
        yield Mention(Role.USES, CONSTRAINT, names.constraint, block.object, surely=False, at=f"{at}/constraint")
