"""Tool animation.add_strip"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from blendwright.tool_api.arguments import InnerName, Result, optional
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE, Revert, Version
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation.actions import parts_of, slot_for, target_part
from blendwright.tools.animation.animated_channel import WRITTEN, AnimatedBlock
from blendwright.tools.animation.assign_action import ActionName
from blendwright.tools.animation_data import LAYERED, action_of
from blendwright.tools.checks import conflict, differs
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
MOVED = (
    "animation.set_keyframes",
    {
        "object": "Box",
        "keys": [
            {"channel": "location", "frame": 1, "value": [0, 0, 0]},
            {"channel": "location", "frame": 21, "value": [0, 0, 2]},
        ],
    },
)
FIRST = ("animation.add_strip", {"object": "Box", "track": "Moves", "start": 1})
MAX_FRAME = 1_048_574
StripName = Annotated[InnerName, Field(min_length=1)]


class AddStripArgs(AnimatedBlock):
    action: ActionName | None = optional(
        "Action that the strip plays. Default: the active action, which is pushed down."
    )
    track: StripName = Field(
        default="NlaTrack", description="Name of the track; if it does not exist, a new track is added on top."
    )
    name: StripName | None = optional("Name of the strip. Default: the action's name, with a number if that is in use.")
    start: Annotated[int, Field(ge=-MAX_FRAME, le=MAX_FRAME)] | None = optional(
        "First frame of the strip. Default: the frame of the action's first key."
    )
    scale: float = Field(default=1.0, ge=0.0001, le=1000.0, description="Time scale; 2 plays at half speed.")
    repeat: float = Field(
        default=1.0, ge=0.1, le=1000.0, description="Number of times that the strip plays the action."
    )
    reverse: bool = Field(default=False, description="Play it backwards.")
    blend: Literal["REPLACE", "COMBINE", "ADD", "SUBTRACT", "MULTIPLY"] = Field(
        default="REPLACE", description="How the strip is combined with the tracks below."
    )
    extrapolation: Literal["HOLD", "HOLD_FORWARD", "NOTHING"] = Field(
        default="HOLD", description="Outside the strip: hold both ends, hold only the last frame, or do nothing."
    )
    blend_in: float = Field(
        default=0.0, ge=0.0, le=1e5, description="Number of frames until the strip has full influence."
    )
    blend_out: float = Field(
        default=0.0, ge=0.0, le=1e5, description="Number of frames over which the strip's influence fades out."
    )


class StripAdded(Result):
    object: str = Field(description="Name of the object, or of the material, world, node group or scene.")
    track: str = Field(description="Name of the track.")
    strip: str = Field(description="Name of the strip.")
    action: str = Field(description="Name of the action that the strip plays.")
    frame_start: float = Field(description="First frame of the strip.")
    frame_end: float = Field(description="Last frame of the strip.")
    new_track: bool = Field(description="True if the call created the track.")


class AddStrip(Tool[AddStripArgs, StripAdded]):
    """Put an action on an NLA track as a strip, with its start, speed, repeat and blending.

    Without `action`, the active action is pushed down: the strip plays it, and the datablock no longer has an active
    action. To remove a track, use animation.clear with `track`.
    """

    name = "animation.add_strip"
    promises = SAFE_ONE_TIME_WRITE.writes_to(*WRITTEN).needs("animation_write")
    examples = (
        Example({"object": "Box", "track": "Moves"}, BOX, MOVED),
        Example({"object": "Box", "action": "BoxAction", "track": "Moves", "start": 40, "scale": 2.0, "repeat": 3.0}, BOX, MOVED, FIRST),
        Example(
            {"object": "Box", "action": "BoxAction", "track": "More", "start": 10, "blend": "ADD", "blend_in": 5.0, "reverse": True},
            BOX, MOVED, FIRST,
        ),
    )  # fmt: skip

    def revert_for(self, args: AddStripArgs, blender: Version) -> Revert:
        if args.scene:
            return Revert.MEMFILE
        return self.revert

    def check(self, scene: Scene, args: AddStripArgs) -> Findings:
        try:
            _, part, action = _target(scene, args)
        except StepError as error:
            yield error.finding
            return
        if args.name is not None and any(args.name in track.strips for track in _tracks(part)):
            yield conflict(
                f"a strip named '{args.name}' already exists", "/name", "Choose another name, or leave name out."
            )
        track = _track(part, args.track)
        if track is None:
            return
        start, end = _span(args, action)
        for strip in track.strips:
            if start < strip.frame_end and strip.frame_start < end:
                message = f"frames {start:g} to {end:g} overlap the strip '{strip.name}' ({strip.frame_start:g} to {strip.frame_end:g})"
                yield conflict(message, "/start", "Choose another start, or another track.")

    def apply(self, scene: Scene, args: AddStripArgs) -> StripAdded:
        owner, part, action = _target(scene, args)
        if not args.scene:
            scene.edit(owner)
        slot = None
        if scene.version >= LAYERED:
            if args.action is None:
                slot = part.animation_data.action_slot
            else:
                slot = slot_for(scene, action, part, None)
        data = part.animation_data or part.animation_data_create()
        if args.action is None:
            data.action = None
        track = _track(part, args.track)
        new = track is None
        if track is None:
            track = data.nla_tracks.new()
            track.name = args.track
        start, _ = _span(args, action)
        strip = track.strips.new(args.name or action.name, int(start), action)
        if scene.version >= LAYERED:
            strip.action_slot = slot
        # Copy the action's present range; later changes of the action do not move the strip.
        first, last = _range(action)
        strip.action_frame_start, strip.action_frame_end = first, last
        strip.use_auto_blend = False
        strip.scale, strip.repeat = args.scale, args.repeat
        strip.frame_start = start
        strip.use_reverse = args.reverse
        strip.blend_type, strip.extrapolation = args.blend, args.extrapolation
        strip.blend_in, strip.blend_out = args.blend_in, args.blend_out
        return StripAdded(
            object=args.find(scene).name,
            track=track.name,
            strip=strip.name,
            action=action.name,
            frame_start=strip.frame_start,
            frame_end=strip.frame_end,
            new_track=new,
        )

    def verify(self, scene: Scene, args: AddStripArgs, result: StripAdded) -> Findings:
        action = scene.require(Kind.ACTION, result.action)
        _, part = target_part(scene, args.find(scene), action, None)
        track = _track(part, args.track)
        strip = None
        if track is not None:
            strip = track.strips.get(result.strip)
        if strip is None:
            yield from differs("the presence of the strip", True, False, "/name")
            return
        start, end = _span(args, action)
        yield from differs("its frames", (start, end), (strip.frame_start, strip.frame_end), "/start")
        yield from differs("its speed", (args.scale, args.repeat), (strip.scale, strip.repeat), "/scale")
        mixed = (strip.blend_type, strip.extrapolation, strip.use_reverse)
        yield from differs("its blending", (args.blend, args.extrapolation, args.reverse), mixed, "/blend")
        yield from differs("its ends", (args.blend_in, args.blend_out), (strip.blend_in, strip.blend_out), "/blend_in")


def _target(scene: Scene, args: AddStripArgs) -> tuple[Block, Block, Block]:
    """Return the datablock to open, its animated part, and the action. Raise StepError if one is missing."""
    block = args.find(scene)
    if args.action is not None:
        action = scene.require(Kind.ACTION, args.action, "/action")
        return (*target_part(scene, block, action, None), action)
    for owner, part in parts_of(scene, block):
        action = action_of(part)
        if action is not None:
            return owner, part, action
    fix = "Name an action, or set keyframes first."
    raise StepError(Finding(Fault.TARGET_NOT_FOUND, f"'{block.name}' has no action to push down", args.at, fix))


def _tracks(part: Block) -> list[Block]:
    data = part.animation_data
    if data is None:
        return []
    return list(data.nla_tracks)


def _track(part: Block, name: str) -> Block | None:
    return next((track for track in _tracks(part) if track.name == name), None)


def _range(action: Block) -> tuple[float, float]:
    first, last = action.curve_frame_range
    return first, max(last, first + 1.0)


def _span(args: AddStripArgs, action: Block) -> tuple[float, float]:
    first, last = _range(action)
    start = float(int(first))
    if args.start is not None:
        start = float(args.start)
    return start, start + (last - first) * args.scale * args.repeat
