"""Arguments that name an animated channel and the datablock that has it.

Names lead from the datablock to everything that can have keyframes: a bone, a modifier, a constraint, a node and its
input.
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
# All kinds of datablocks that can have keyframes, including every kind of object data.
WRITTEN = (
    Kind.ACTION, Kind.OBJECT, Kind.LIGHT, Kind.CAMERA, Kind.MATERIAL, Kind.WORLD, Kind.NODE_GROUP, Kind.SCENE, Kind.SHAPE_KEY,
    Kind.MESH, Kind.CURVE, Kind.ARMATURE, Kind.LATTICE, Kind.METABALL, Kind.HAIR_CURVES, Kind.POINT_CLOUD, Kind.VOLUME,
    Kind.SPEAKER, Kind.LIGHT_PROBE, Kind.GREASE_PENCIL, Kind.GREASE_PENCIL_V3,
)  # fmt: skip
# Channel -> the name arguments that it requires, and the optional ones.
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
    """Name arguments of a datablock that can be animated."""

    object: ObjectName | None = optional("Name of the object. Alternatives: material, world, node_group or scene.")
    material: MaterialName | None = optional("Name of a material.")
    world: Annotated[Name, uses(Kind.WORLD)] | None = optional("Name of a world.")
    node_group: Annotated[Name, uses(Kind.NODE_GROUP)] | None = optional("Name of a node group.")
    scene: bool = Field(default=False, description="True to animate the scene itself.")

    def given(self) -> list[Owner]:
        return [name for name in (*KINDS, "scene") if getattr(self, name)]

    @property
    def owner(self) -> Owner:
        return self.given()[0]

    @property
    def at(self) -> str:
        return f"/{self.owner}"

    def find(self, scene: Scene) -> Block:
        """Return the named datablock. Raise StepError if it does not exist."""
        owner = self.owner
        if owner == "scene":
            return scene.active
        return scene.require(KINDS[owner], getattr(self, owner), self.at)


class AnimatedBlock(BlockNames):
    """The datablock that has the channels, given by exactly one of the name arguments."""

    @model_validator(mode="after")
    def _names_exactly_one(self) -> AnimatedBlock:
        if len(self.given()) != 1:
            raise PydanticCustomError("one_block", "give exactly one of object, material, world, node_group and scene")
        return self


class KeyedBlock(AnimatedBlock):
    """The datablock that gets keyframes."""

    action: Annotated[Name, ensures(Kind.ACTION)] | None = optional(
        "Name for the new action if the datablock has no action. Default: named after the datablock."
    )


class ChannelNames(Args):
    """Name arguments that locate a channel within its datablock."""

    bone: Inner | None = optional("Pose bone that has the location, rotation, scale, property, constraint or setting.")
    property: Name | None = optional("Key of the custom property, for channel property.")
    constraint: Inner | None = optional("Name of the constraint, for channels of a constraint.")
    modifier: Name | None = optional("Modifier that has the input or setting.")
    shape_key: Name | None = optional("Name of the shape key, for channel shape_key.")
    node: Name | None = optional("Node (of a material, world, light or node_group) that has the input or setting.")
    input: Name | None = optional("Name or identifier of an input of the node or of the geometry-nodes modifier.")
    setting: Annotated[str, Field(max_length=200, pattern=SETTING)] | None = optional(
        "Blender's name of the setting, for the channels setting and data_setting: for example width (modifier) or "
        "view_settings.exposure (scene). Angles end in _deg: spot_size_deg."
    )


class ChannelArgs(ChannelNames):
    channel: Channel = Field(
        description="The animated channel. setting: any setting of the datablock, or of the given modifier, "
        "constraint, bone or node. data_setting: any setting of the object's data."
    )

    @model_validator(mode="after")
    def _names_what_it_should(self) -> ChannelArgs:
        refuse_stray_names(self.channel, self)
        return self


def refuse_stray_names(channel: str | None, names: ChannelNames) -> None:
    """Raise PydanticCustomError unless the arguments give exactly the names that the channel needs. For validators of
    models.
    """
    needed, allowed = NAMES.get(channel or "", ((), ()))
    for name in ALL_NAMES:
        is_given = getattr(names, name) is not None
        if name in needed and not is_given:
            raise PydanticCustomError("channel_name", "{channel} needs {name}", {"channel": channel, "name": name})
        if is_given and name not in needed and name not in allowed:
            context = {"channel": channel or "all channels", "name": name}
            raise PydanticCustomError("channel_name", "{name} does not belong to {channel}", context)
    if sum(getattr(names, name) is not None for name in ("constraint", "modifier", "node")) > 1:
        raise PydanticCustomError("channel_names", "give one of constraint, modifier and node")


def channel_mentions(block: AnimatedBlock, names: ChannelNames, at: str = "") -> Iterator[Mention]:
    """Yield the object's modifier or constraint that a channel belongs to.

    Constraints of bones are left out, because no tool creates them.
    """
    if block.object is None:
        return
    if names.modifier is not None:
        yield Mention(Role.USES, MODIFIER, names.modifier, block.object, surely=False, at=f"{at}/modifier")
    if names.constraint is not None and names.bone is None:
        yield Mention(Role.USES, CONSTRAINT, names.constraint, block.object, surely=False, at=f"{at}/constraint")
