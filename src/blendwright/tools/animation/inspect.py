"""animation.inspect"""

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
from blendwright.tools.animation_data import LAYERED, action_of, animated_parts, curves
from blendwright.values.errors import StepError

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
MOVED = ("animation.set_keyframe", {"object": "Box", "channel": "location", "frame": 1, "value": [0, 0, 1]})
# Keys that are listed one by one.
MOST_KEYS = 400


class InspectArgs(BlockNames):
    limit: int = Field(default=50, ge=1, le=1000, description="Most datablocks, and most actions, that are listed.")

    @model_validator(mode="after")
    def _is_one_at_most(self) -> InspectArgs:
        if len(self.given()) > 1:
            raise PydanticCustomError("one_block", "give at most one of object, material, world, node_group and scene")
        return self


class ChannelInfo(Result):
    path: str = Field(description="Blender's path of the channel; angles there are in radians.")
    curves: int = Field(description="Number of its curves, one for each number that is animated.")
    keys: int = Field(description="Number of frames with a key.")
    frames: tuple[float, float] | None = Field(description="First and last frame with a key.")
    interpolation: list[str] = Field(description="The interpolations of its keys.")
    extrapolation: str = Field(description="How it goes on outside its keys: CONSTANT or LINEAR.")
    cycles: str = Field(description="How it loops: NONE, REPEAT, REPEAT_OFFSET or MIRROR.")
    values: list[list[float]] | None = optional(
        "For one datablock: frame and the values there of each key, as the curves hold them."
    )
    moves_nothing: bool = Field(default=False, description="True when the channel is not there any more.")


class StripInfo(Result):
    track: str = Field(description="Track that it is on.")
    name: str = Field(description="Name of the strip.")
    action: str | None = Field(description="Action that it plays.")
    frames: tuple[float, float] = Field(description="First and last frame.")
    scale: float = Field(description="2 is half as fast.")
    repeat: float = Field(description="How often it is played.")
    blend: str = Field(description="What it does with the tracks below.")
    muted: bool = Field(description="Whether it, or its track, is muted.")


class AnimatedInfo(Result):
    kind: str = Field(description="What it is: object, material, shape key …")
    name: str = Field(description="Its name.")
    part: str | None = optional("Nodes, when its node tree is animated.")
    action: str | None = Field(description="Its present action.")
    slot: str | None = optional("The slot of the action that it uses (Blender 4.4 and later).")
    channels: list[ChannelInfo] = Field(description="What keyframes move.")
    strips: list[StripInfo] = Field(description="Strips of its NLA tracks, from the lowest on.")
    drivers: list[str] = Field(description="Channels that drivers move.")


class ActionInfo(Result):
    name: str = Field(description="Name of the action.")
    frames: tuple[float, float] = Field(description="First and last frame with a key.")
    slots: list[str] = Field(description="Its slots (Blender 4.4 and later).")
    users: list[str] = Field(description="What uses it.")
    cyclic: bool = Field(description="Whether it is marked to loop.")


class AnimationFound(Result):
    frame: int = Field(description="Current frame.")
    frame_range: tuple[int, int] = Field(description="First and last frame of the scene.")
    fps: float = Field(description="Frames per second.")
    animated: list[AnimatedInfo] = Field(description="What is animated.")
    actions: list[ActionInfo] = Field(description="Actions; of one datablock those that it uses.")
    left_out: int = Field(description="How many more there are of both.")


class Inspect(Reads[InspectArgs, AnimationFound]):
    """What is animated and how: keys, loops, NLA strips, drivers, actions.

    Of everything, or of one datablock with the values of its keys (of an object also of its data and shape keys)."""

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
        if args.given():
            one = args.find(scene)
        else:
            one = None
        if one is not None:
            parts = list(parts_of(scene, one))
        else:
            parts = list(_all_parts(scene))
        animated = [pair for pair in parts if _is_animated(pair[1])]
        if one is None:
            actions = list(scene.blocks(Kind.ACTION))
        else:
            actions = _actions_of(animated)
        active = scene.active
        return AnimationFound(
            frame=active.frame_current,
            frame_range=(active.frame_start, active.frame_end),
            fps=active.render.fps / active.render.fps_base,
            animated=[_animated(scene, *pair, values=one is not None) for pair in animated[: args.limit]],
            actions=[_action(scene, action) for action in actions[: args.limit]],
            left_out=max(0, len(animated) - args.limit) + max(0, len(actions) - args.limit),
        )


def _all_parts(scene: Scene) -> Iterator[tuple[Block, Block]]:
    for kind in (*KINDS.values(), *(kind for kind in WRITTEN if kind not in (Kind.ACTION, *KINDS.values()))):
        for block in scene.blocks(kind):
            for part in animated_parts(block):
                yield block, part


def _is_animated(part: Block) -> bool:
    data = part.animation_data
    return data is not None and (data.action is not None or len(data.nla_tracks) > 0 or len(data.drivers) > 0)


def _actions_of(animated: list[tuple[Block, Block]]) -> list[Block]:
    found: dict[str, Block] = {}
    for _, part in animated:
        strips = [strip.action for track in part.animation_data.nla_tracks for strip in track.strips]
        found |= {one.name: one for one in [part.animation_data.action, *strips] if one is not None}
    return [found[name] for name in sorted(found)]


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
            _channel(part, path, list(own), values=values)
            for path, own in groupby(curves(scene, part), key=lambda curve: curve.data_path)
        ],
        strips=[_strip(track, strip) for track in data.nla_tracks for strip in track.strips],
        drivers=sorted({driver.data_path for driver in data.drivers}),
    )


def _channel(part: Block, path: str, own: list[Block], *, values: bool) -> ChannelInfo:
    frames = sorted({key.co[0] for curve in own for key in curve.keyframe_points})
    listed: list[list[float]] | None = None
    if values:
        listed = [[frame, *(curve.evaluate(frame) for curve in own)] for frame in frames[:MOST_KEYS]]
    return ChannelInfo(
        path=path,
        curves=len(own),
        keys=len(frames),
        frames=(frames[0], frames[-1]) if frames else None,
        interpolation=sorted({key.interpolation for curve in own for key in curve.keyframe_points}),
        extrapolation=own[0].extrapolation,
        cycles=cycles_of(own[0]),
        values=listed,
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
