"""Tool animation.set_keyframe"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import LARGEST, Result, optional
from blendwright.tool_api.mentions import Mention, mentions
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE, Revert, Version
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation import channels
from blendwright.tools.animation.animated_channel import WRITTEN, ChannelArgs, KeyedBlock, channel_mentions
from blendwright.tools.animation.curve_writing import (
    EASING,
    HANDLES,
    Easing,
    Handles,
    Interpolation,
    action_conflicts,
    open_curves,
    set_key,
    sharing_conflicts,
    show_current,
)
from blendwright.tools.animation.places import (
    ROTATIONS,
    ChannelLocation,
    channel_location,
    checked_location,
    value_problems,
)
from blendwright.tools.animation_data import curves, is_driven
from blendwright.tools.checks import close, conflict, differs

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
MASS = ("object.set_property", {"object": "Box", "key": "mass", "value": 2.5})
START = ("animation.set_keyframe", {"object": "Box", "channel": "location", "frame": 1, "value": [0, 0, 0]})
LAMP = ("light.create", {"name": "Lamp", "type": "POINT"})
GOLD = ("material.ensure_principled", {"name": "Gold"})
BEVEL = ("modifier.add", {"object": "Box", "name": "Round", "settings": {"type": "BEVEL", "width": 0.1}})
GOAL = ("object.create_empty", {"name": "Goal", "location": [0, 3, 2]})
FOLLOW = (
    "constraint.add",
    {"object": "Box", "name": "Follow", "settings": {"type": "COPY_LOCATION", "target": "Goal"}},
)
MAX_FRAME = 1_048_574

Number = int | float
Numbers = Annotated[list[Number], Field(min_length=1, max_length=64)]


def _example(channel: str, frame: int, value: Any, *setup: Any, **arguments: Any) -> Example:
    """Return an example that keys a box. `setup` are calls that run after the one which creates the box."""
    return Example({"object": "Box", "channel": channel, "frame": frame, "value": value, **arguments}, BOX, *setup)


class Keyframe(ChannelArgs):
    """The value of one channel at one frame."""

    frame: Annotated[int, Field(ge=-MAX_FRAME, le=MAX_FRAME)] = Field(description="Frame of the key.")
    value: bool | Number | Numbers | Annotated[str, Field(max_length=64)] = Field(
        description="Value at that frame: metres for location, degrees for rotation_euler_deg, factors for scale; W, "
        "X, Y, Z for rotation_quaternion; true (hidden) or false for hide_render; watts (for a sun: strength) and "
        "linear RGB for lights; millimetres for camera_lens. For other channels a number, boolean, array or choice, "
        "as the property stores it."
    )
    interpolation: Interpolation | None = optional(
        "Interpolation to the next key. Default: BEZIER, or CONSTANT for booleans, integers and choices."
    )
    easing: Easing = Field(default="AUTO", description=EASING)
    handles: Handles = Field(default="AUTO_CLAMPED", description=HANDLES)

    @model_validator(mode="after")
    def _value_fits_the_channel(self) -> Keyframe:
        if self.channel == "hide_render":
            if not isinstance(self.value, bool):
                raise PydanticCustomError("value_not_boolean", "hide_render takes true or false")
        elif self.channel in channels.OF_CONSTRAINT or self.channel == "shape_key":
            if isinstance(self.value, bool | list | str) or abs(self.value) > LARGEST:
                raise PydanticCustomError("value_no_number", "{channel} takes one number", {"channel": self.channel})
        elif self.channel in channels.PATHS:
            count = channels.PATHS[self.channel][1]
            if count == 1:
                fits = not isinstance(self.value, bool | list)
            else:
                fits = isinstance(self.value, list)
            if not fits or isinstance(self.value, str) or len(channels.elements(self.value)) != count:
                context = {"channel": self.channel, "count": count}
                raise PydanticCustomError("value_count", "{channel} takes {count} numbers", context)
            if any(abs(number) > LARGEST for number in channels.elements(self.value)):
                context = {"channel": self.channel, "most": LARGEST}
                raise PydanticCustomError("value_too_large", "{channel} takes numbers up to {most}", context)
        if self.channel in channels.OF_DATA:
            channels.refuse_small_value(self.channel, self.value)
        if self.channel == "rotation_quaternion" and math.hypot(*channels.elements(self.value)) < 1e-6:
            raise PydanticCustomError("zero_quaternion", "a quaternion must not be zero: no rotation is [1, 0, 0, 0]")
        return self

    def same_channel(self) -> tuple[Any, ...]:
        """Return a tuple that is equal for all keys of the same channel."""
        return tuple(getattr(self, name) for name in ChannelArgs.model_fields)


class SetKeyframeArgs(Keyframe, KeyedBlock):
    pass


class KeyframeSet(Result):
    object: str = Field(description="Name of the object, or of the material, world, node group or scene.")
    action: str = Field(description="Name of the action that holds the key.")
    channel_keys: int = Field(description="Number of frames at which the channel now has keys.")
    changed: bool = Field(description="False if exactly this key already existed.")


class SetKeyframe(Tool[SetKeyframeArgs, KeyframeSet]):
    """Set one keyframe of any channel, replacing an existing key at that frame.

    Channels are those of objects and pose bones, shape keys, modifiers and their inputs, constraints, lights, cameras,
    inputs of nodes, custom properties, and any other setting of an object, its data, a material, world, node group or
    the scene. The first key creates an action named after the datablock ("BoxAction" for "Box", "LampDataAction" for a
    lamp's data, "GoldMaterialNodesAction" for the nodes of a material). Keys of a rotation switch the rotation mode to
    the one that uses them.
    """

    name = "animation.set_keyframe"
    version = 2
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(*WRITTEN).needs("animation_write")
    examples = (
        _example("location", 1, [0, 0, 0]),
        _example("location", 24, [0, 0, 2], START, interpolation="BOUNCE", easing="EASE_OUT"),
        _example("rotation_euler_deg", 1, [0, 0, 90], START),
        _example("hide_render", 10, True),
        Example({"object": "Box", "channel": "property", "property": "mass", "frame": 5, "value": 4}, BOX, MASS),
        Example({"object": "Lamp", "channel": "light_energy", "frame": 5, "value": 80}, LAMP),
        _example("constraint_influence", 5, 0.5, GOAL, FOLLOW, constraint="Follow"),
        _example("setting", 5, 0.2, BEVEL, modifier="Round", setting="width"),
        Example(
            {"material": "Gold", "channel": "node_input", "node": "Principled BSDF", "input": "Roughness", "frame": 9, "value": 0.1},
            GOLD,
        ),
        Example({"scene": True, "channel": "setting", "setting": "view_settings.exposure", "frame": 1, "value": 0.5}),
    )  # fmt: skip

    def mentions_for(self, args: SetKeyframeArgs) -> Iterator[Mention]:
        yield from mentions(args)
        yield from channel_mentions(args, args)

    def revert_for(self, args: SetKeyframeArgs, blender: Version) -> Revert:
        if args.scene:
            return Revert.MEMFILE
        return self.revert

    def check(self, scene: Scene, args: SetKeyframeArgs) -> Findings:
        where = yield from checked_location(scene, args, args, args.channel)
        if where is None:
            return
        problems = list(value_problems(where, args.value))
        yield from problems
        if problems:
            return
        name = where.block.name
        if is_driven(where.holder, where.path):
            message = f"{where.path} of '{name}' has a driver, which overrides keyframes"
            yield conflict(message, "/channel", "Choose another channel.")
        yield from _rotation_conflict(scene, where)
        yield from action_conflicts(scene, where.block, where.holder, args.action, args.at)
        yield from sharing_conflicts(scene, where.holder, name, args.at)

    def apply(self, scene: Scene, args: SetKeyframeArgs) -> KeyframeSet:
        where = channel_location(scene, args, args, args.channel)
        if _has_this_key(scene, args, where):
            return self._result(scene, args, where, changed=False)
        if not args.scene:
            scene.edit(where.block)
        if where.turned is not None:
            mode = _rotation_mode(args.channel, where.turned)
            if mode != where.turned.rotation_mode:
                where.turned.rotation_mode = mode
        interpolation = args.interpolation or _default_interpolation(where)
        all_curves = open_curves(scene, where.block, where.holder, args.action)
        for index, number in enumerate(where.numbers(args.value)):
            curve = all_curves.find(where.path, index=index) or all_curves.new(where.path, index=index)
            set_key(curve, args.frame, number, interpolation, args.easing, args.handles)
        show_current(scene, where)
        return self._result(scene, args, where, changed=True)

    def verify(self, scene: Scene, args: SetKeyframeArgs, result: KeyframeSet) -> Findings:
        yield from key_differs(scene, args)

    def _result(self, scene: Scene, args: SetKeyframeArgs, where: ChannelLocation, *, changed: bool) -> KeyframeSet:
        frames = {key.co[0] for curve in curves(scene, where.holder, where.path) for key in curve.keyframe_points}
        action = where.holder.animation_data.action.name
        return KeyframeSet(object=args.find(scene).name, action=action, channel_keys=len(frames), changed=changed)


def key_differs(scene: Scene, args: SetKeyframeArgs) -> Findings:
    """Yield a finding if the channel does not have exactly this key."""
    has_key = _has_this_key(scene, args, channel_location(scene, args, args, args.channel))
    yield from differs(f"that frame {args.frame} has the key", True, has_key, "/value")


def _rotation_conflict(scene: Scene, where: ChannelLocation) -> Findings:
    """Yield findings if the object already has keys of another rotation channel, because Blender uses only one of them."""
    if where.turned is None:
        return
    channel = where.path.rpartition(".")[2]
    for rotation in ROTATIONS:
        if rotation != channel and curves(scene, where.holder, where.path.removesuffix(channel) + rotation):
            message = f"'{where.turned.name}' has keyframes of {rotation}, which would have no effect any more"
            yield conflict(
                message, "/channel", "Use only one rotation channel, or remove the other keys with animation.clear."
            )


def _rotation_mode(channel: str, turned: Block) -> str:
    """Return the rotation mode in which Blender uses the keys of a channel."""
    if channel == "rotation_quaternion":
        return "QUATERNION"
    if turned.rotation_mode in ("QUATERNION", "AXIS_ANGLE"):
        return "XYZ"
    return turned.rotation_mode


def _default_interpolation(where: ChannelLocation) -> str:
    if where.is_discrete:
        return "CONSTANT"
    return "BEZIER"


def _has_this_key(scene: Scene, args: SetKeyframeArgs, where: ChannelLocation) -> bool:
    """Return True if the channel has exactly this key."""
    if where.turned is not None and where.turned.rotation_mode != _rotation_mode(args.channel, where.turned):
        return False
    by_index = {curve.array_index: curve for curve in curves(scene, where.holder, where.path)}
    key_style = (args.interpolation or _default_interpolation(where), args.easing, args.handles, args.handles)
    return all(
        index in by_index and _has_key(by_index[index], args.frame, number, key_style)
        for index, number in enumerate(where.numbers(args.value))
    )


def _has_key(curve: Block, frame: int, number: float, key_style: tuple[str, ...]) -> bool:
    return any(
        key.co[0] == frame
        and close(number, key.co[1])
        and (key.interpolation, key.easing, key.handle_left_type, key.handle_right_type) == key_style
        for key in curve.keyframe_points
    )
