"""Tool animation.inspect"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Result, optional
from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Reads
from blendwright.tools.animation.actions import parts_of, slot_names
from blendwright.tools.animation.animated_channel import KINDS, WRITTEN, BlockNames
from blendwright.tools.animation.set_curves import cycles_of
from blendwright.tools.animation_data import LAYERED, action_of, actions_of, animated_parts, curves
from blendwright.values.errors import StepError

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
MOVED = ("animation.set_keyframe", {"object": "Box", "channel": "location", "frame": 1, "value": [0, 0, 1]})
# Largest number of keys listed per channel.
MAX_LISTED_KEYS = 400


class InspectArgs(BlockNames):
    limit: int = Field(default=50, ge=1, le=1000, description="Maximum number of datablocks, and of actions, to list.")

    @model_validator(mode="after")
    def _names_one_at_most(self) -> InspectArgs:
        if len(self.given()) > 1:
            raise PydanticCustomError("one_block", "give at most one of object, material, world, node_group and scene")
        return self


class ChannelInfo(Result):
    path: str = Field(description="Blender's data path of the channel. Angles are in radians.")
    curves: int = Field(description="Number of its curves: one per animated number.")
    keys: int = Field(description="Number of frames with a key.")
    frames: tuple[float, float] | None = Field(description="First and last frame with a key.")
    interpolation: list[str] = Field(description="The interpolations of its keys.")
    extrapolation: str = Field(description="Course before the first and after the last key: CONSTANT or LINEAR.")
    cycles: str = Field(description="How it loops: NONE, REPEAT, REPEAT_OFFSET or MIRROR.")
    values: list[list[float]] | None = optional(
        "Only when one datablock is inspected: for each key, its frame and the values of the curves there."
    )
    moves_nothing: bool = Field(default=False, description="True if the animated channel no longer exists.")


class StripInfo(Result):
    track: str = Field(description="Name of its track.")
    name: str = Field(description="Name of the strip.")
    action: str | None = Field(description="Action that it plays.")
    frames: tuple[float, float] = Field(description="First and last frame.")
    scale: float = Field(description="Time scale; 2 plays at half speed.")
    repeat: float = Field(description="Number of times that the action is played.")
    blend: str = Field(description="How the strip is combined with the tracks below.")
    muted: bool = Field(description="Whether it, or its track, is muted.")


class AnimatedInfo(Result):
    kind: str = Field(description="Kind of datablock: object, material, shape key …")
    name: str = Field(description="Its name.")
    part: str | None = optional("The word nodes if the animated part is its node tree.")
    action: str | None = Field(description="Its active action.")
    slot: str | None = optional("Slot of the action that it uses (Blender 4.4 and later).")
    channels: list[ChannelInfo] = Field(description="Channels with keyframes.")
    strips: list[StripInfo] = Field(description="Strips of its NLA tracks, from the bottom track up.")
    drivers: list[str] = Field(description="Channels with drivers.")


class ActionInfo(Result):
    name: str = Field(description="Name of the action.")
    frames: tuple[float, float] = Field(description="First and last frame with a key.")
    slots: list[str] = Field(description="Its slots (Blender 4.4 and later).")
    users: list[str] = Field(description="Names of the datablocks that use it.")
    cyclic: bool = Field(description="Whether it is marked to loop.")


class AnimationFound(Result):
    frame: int = Field(description="Current frame.")
    frame_range: tuple[int, int] = Field(description="First and last frame of the scene.")
    fps: float = Field(description="Frames per second.")
    animated: list[AnimatedInfo] = Field(description="Animated datablocks and parts.")
    actions: list[ActionInfo] = Field(description="All actions; for one datablock, the actions that it uses.")
    left_out: int = Field(description="Number of datablocks and actions beyond the limit, which are not listed.")


class Inspect(Reads[InspectArgs, AnimationFound]):
    """List animated datablocks with their keys, loops, NLA strips, drivers and actions.

    Covers the whole file, or one datablock with the values of its keys (for an object also its data and shape keys).
    """

    name = "animation.inspect"
    promises = READ_ONLY.needs("scene_read")
    examples = (Example({}, BOX, MOVED), Example({"object": "Box"}, BOX, MOVED))

    def check(self, scene: Scene, args: InspectArgs) -> Findings:
        try:
            if args.given():
                args.find(scene)
        except StepError as error:
            yield error.finding

    def apply(self, scene: Scene, args: InspectArgs) -> AnimationFound:
        names_one = bool(args.given())
        if names_one:
            animated = [pair for pair in parts_of(scene, args.find(scene)) if _is_animated(pair[1])]
            actions = _actions_of(animated)
        else:
            animated = [pair for pair in _all_parts(scene) if _is_animated(pair[1])]
            actions = list(scene.blocks(Kind.ACTION))

        active = scene.active
        return AnimationFound(
            frame=active.frame_current,
            frame_range=(active.frame_start, active.frame_end),
            fps=active.render.fps / active.render.fps_base,
            animated=[_animated(scene, *pair, values=names_one) for pair in animated[: args.limit]],
            actions=[_action(scene, action) for action in actions[: args.limit]],
            left_out=max(0, len(animated) - args.limit) + max(0, len(actions) - args.limit),
        )


def _all_parts(scene: Scene) -> Iterator[tuple[Block, Block]]:
    """Yield every part in the file that can be animated, after its datablock."""
    for kind in dict.fromkeys((*KINDS.values(), *WRITTEN)):
        if kind is Kind.ACTION:
            continue
        for block in scene.blocks(kind):
            for part in animated_parts(block):
                yield block, part


def _is_animated(part: Block) -> bool:
    data = part.animation_data
    return data is not None and (data.action is not None or len(data.nla_tracks) > 0 or len(data.drivers) > 0)


def _actions_of(animated: list[tuple[Block, Block]]) -> list[Block]:
    """Return the actions that the parts use, in their active action or in strips, sorted by name."""
    actions: dict[str, Block] = {}
    for _, part in animated:
        actions |= {action.name: action for action in actions_of(part)}
    return [actions[name] for name in sorted(actions)]


def _animated(scene: Scene, block: Block, part: Block, *, values: bool) -> AnimatedInfo:
    data = part.animation_data
    if scene.version >= LAYERED:
        slot = data.action_slot
    else:
        slot = None
    action = action_of(part)
    return AnimatedInfo(
        kind=scene.kind_of(block).label,
        name=block.name,
        part="nodes" if part != block else None,
        action=None if action is None else action.name,
        slot=None if slot is None else slot.name_display,
        channels=[
            _channel(part, path, list(path_curves), values=values)
            for path, path_curves in groupby(curves(scene, part), key=lambda curve: curve.data_path)
        ],
        strips=[_strip(track, strip) for track in data.nla_tracks for strip in track.strips],
        drivers=sorted({driver.data_path for driver in data.drivers}),
    )


def _channel(part: Block, path: str, path_curves: list[Block], *, values: bool) -> ChannelInfo:
    frames = sorted({key.co[0] for curve in path_curves for key in curve.keyframe_points})
    values_by_frame: list[list[float]] | None = None
    if values:
        values_by_frame = [
            [frame, *(curve.evaluate(frame) for curve in path_curves)] for frame in frames[:MAX_LISTED_KEYS]
        ]
    return ChannelInfo(
        path=path,
        curves=len(path_curves),
        keys=len(frames),
        frames=(frames[0], frames[-1]) if frames else None,
        interpolation=sorted({key.interpolation for curve in path_curves for key in curve.keyframe_points}),
        extrapolation=path_curves[0].extrapolation,
        cycles=cycles_of(path_curves[0]),
        values=values_by_frame,
        moves_nothing=not _resolves(part, path),
    )


def _resolves(part: Block, path: str) -> bool:
    try:
        part.path_resolve(path)
    except ValueError:
        return False
    return True


def _strip(track: Block, strip: Block) -> StripInfo:
    return StripInfo(
        track=track.name,
        name=strip.name,
        action=None if strip.action is None else strip.action.name,
        frames=(strip.frame_start, strip.frame_end),
        scale=strip.scale,
        repeat=strip.repeat,
        blend=strip.blend_type,
        muted=strip.mute or track.mute,
    )


def _action(scene: Scene, action: Block) -> ActionInfo:
    first, last = action.curve_frame_range
    users: list[Any]
    if action.users:
        users = list(scene.users(action))
    else:
        users = []
    return ActionInfo(
        name=action.name,
        frames=(first, last),
        slots=slot_names(scene, action),
        users=sorted(user.name for user in users),
        cyclic=action.use_cyclic,
    )
