"""Tool animation.clear"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Name, Result, optional
from blendwright.tool_api.mentions import Mention, mentions
from blendwright.tool_api.promises import DESTRUCTIVE_WRITE, Idempotence, Revert, Version
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation.actions import parts_of
from blendwright.tools.animation.animated_channel import (
    WRITTEN,
    AnimatedBlock,
    ChannelNames,
    channel_mentions,
    refuse_stray_names,
)
from blendwright.tools.animation.channels import Channel, elements, write_values
from blendwright.tools.animation.curve_writing import detach_action, drop_empty, keep_values
from blendwright.tools.animation.places import channel_location, checked_location
from blendwright.tools.animation_data import action_of, action_sharers, animated_parts, curve_list, curves, strip_curves
from blendwright.tools.checks import conflict, differs
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
MOVED = ("animation.set_keyframe", {"object": "Box", "channel": "location", "frame": 1, "value": [0, 0, 1]})
SCALED = ("animation.set_keyframe", {"object": "Box", "channel": "scale", "frame": 1, "value": [1, 1, 2]})
PUSHED = ("animation.add_strip", {"object": "Box", "track": "Moves"})


class ClearArgs(AnimatedBlock, ChannelNames):
    channel: Channel | None = optional(
        "Channel that loses its keys. Default: all channels of the datablock itself. For a material, world or light "
        "this includes its nodes; for an object it excludes its data."
    )
    track: Name | None = optional("Name of an NLA track to remove with its strips, instead of keys.")

    @model_validator(mode="after")
    def _names_what_it_should(self) -> ClearArgs:
        refuse_stray_names(self.channel, self)
        if self.track is not None and self.channel is not None:
            raise PydanticCustomError("track_channel", "give either channel or track, not both")
        return self


class Cleared(Result):
    object: str = Field(description="Name of the object, or of the material, world, node group or scene.")
    curves: int = Field(description="Number of removed animation curves.")
    keys: int = Field(description="Number of keys on the removed curves.")
    action_removed: str | None = Field(
        description="Name of the action that was deleted because no datablock uses it any more, or null."
    )


class Clear(Tool[ClearArgs, Cleared]):
    """Remove keyframes, of one channel or all, or an NLA track.

    The channels keep their values at the current frame. An action without users is deleted. An action that other
    datablocks use stays unchanged and is only unassigned. With `track`, the call removes that NLA track; its actions
    stay.
    """

    name = "animation.clear"
    version = 2
    promises = DESTRUCTIVE_WRITE.writes_to(*WRITTEN).needs("animation_write")
    examples = (
        Example({"object": "Box"}, BOX, MOVED, SCALED),
        Example({"object": "Box", "channel": "scale"}, BOX, MOVED, SCALED),
        Example({"object": "Box", "track": "Moves"}, BOX, MOVED, PUSHED),
    )

    def idempotence_for(self, args: ClearArgs) -> Idempotence:
        if args.track is None:
            return Idempotence.IDEMPOTENT
        return Idempotence.NON_IDEMPOTENT

    def mentions_for(self, args: ClearArgs) -> Iterator[Mention]:
        yield from mentions(args)
        yield from channel_mentions(args, args)

    def revert_for(self, args: ClearArgs, blender: Version) -> Revert:
        if args.scene:
            return Revert.MEMFILE
        return self.revert

    def check(self, scene: Scene, args: ClearArgs) -> Findings:
        if args.channel is not None and (yield from checked_location(scene, args, args, args.channel)) is None:
            return
        try:
            block = args.find(scene)
        except StepError as error:
            yield error.finding
            return
        if args.track is not None:
            tracks = _tracks(scene, block)
            if args.track not in tracks:
                fix = did_you_mean(args.track, tracks, otherwise=f"Tracks: {', '.join(tracks) or 'none'}.")
                message = f"'{block.name}' has no track named '{args.track}'"
                yield Finding(Fault.TARGET_NOT_FOUND, message, "/track", fix)
            return
        for _, holder, path in _targets(scene, args):
            selected = curves(scene, holder, path)
            if not selected or len(selected) == len(curves(scene, holder)):
                continue
            sharers = action_sharers(scene, holder)
            if sharers:
                message = (
                    f"the animation of '{block.name}' is shared with '{sharers[0]}', which would lose the keys as well"
                )
                fix = "Leave channel out: this unassigns the animation only from this datablock."
                yield conflict(message, "/channel", fix)

    def apply(self, scene: Scene, args: ClearArgs) -> Cleared:
        count = keys = 0
        removed: str | None = None
        name = args.find(scene).name
        if args.track is not None:
            _remove_track(scene, args)
            return Cleared(object=name, curves=0, keys=0, action_removed=None)
        for block, holder, path in _targets(scene, args):
            selected = curves(scene, holder, path)
            action = action_of(holder)
            if action is None or not (selected or path is None):
                continue
            count += len(selected)
            keys += sum(len(curve.keyframe_points) for curve in selected)
            everything = len(selected) == len(curves(scene, holder))
            if not args.scene:
                scene.edit(block)
            keep_values(scene, holder, selected)
            if everything:
                removed = detach_action(scene, holder, action) or removed
                continue
            scene.edit(action)
            all_curves: Block = curve_list(scene, holder)
            for curve in curves(scene, holder, path):
                all_curves.remove(curve)
        return Cleared(object=name, curves=count, keys=keys, action_removed=removed)

    def verify(self, scene: Scene, args: ClearArgs, result: Cleared) -> Findings:
        if args.track is not None:
            exists = args.track in _tracks(scene, args.find(scene))
            yield from differs(f"the presence of the track '{args.track}'", False, exists, "/track")
            return
        remaining = sum(len(curves(scene, holder, path)) for _, holder, path in _targets(scene, args))
        yield from differs("the number of its curves", 0, remaining, "/channel")
        if result.action_removed is not None:
            exists = scene.find(Kind.ACTION, result.action_removed) is not None
            yield from differs(f"the presence of '{result.action_removed}'", False, exists, args.at)


def _targets(scene: Scene, args: ClearArgs) -> Iterator[tuple[Block, Block, str | None]]:
    """Yield the datablock, its animated part, and the path of the curves to remove (None for all curves)."""
    if args.channel is not None:
        where = channel_location(scene, args, args, args.channel)
        yield where.block, where.holder, where.path
        return
    block = args.find(scene)
    for holder in animated_parts(block):
        yield block, holder, None


def _tracks(scene: Scene, block: Block) -> dict[str, tuple[Block, Block]]:
    """Return the tracks of a datablock and its parts: track name -> the datablock to open and the part."""
    return {
        track.name: (owner, part)
        for owner, part in parts_of(scene, block)
        if part.animation_data is not None
        for track in part.animation_data.nla_tracks
    }


def _remove_track(scene: Scene, args: ClearArgs) -> None:
    owner, part = _tracks(scene, args.find(scene))[args.track or ""]
    tracks = part.animation_data.nla_tracks
    values = _strip_values(scene, part, tracks[args.track])
    if not args.scene:
        scene.edit(owner)
    tracks.remove(tracks[args.track])
    drop_empty(part)
    for path, numbers in values.items():
        write_values(part, path, numbers)


def _strip_values(scene: Scene, block: Block, track: Block) -> dict[str, dict[int, float]]:
    """Return the evaluated values, at the current frame, of all channels that a track animates: path -> index -> value."""
    scene.depsgraph()
    shown = scene.evaluated(block)
    values: dict[str, dict[int, float]] = {}
    for strip in track.strips:
        for curve in strip_curves(scene, strip):
            try:
                current = elements(shown.path_resolve(curve.data_path))
            except ValueError:
                continue
            if curve.array_index < len(current) and not isinstance(current[0], str):
                values.setdefault(curve.data_path, {})[curve.array_index] = float(current[curve.array_index])
    return values
