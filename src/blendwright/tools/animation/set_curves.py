"""Tool animation.set_curves"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Result, optional
from blendwright.tool_api.mentions import Mention, mentions
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE, Revert, Version
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation.animated_channel import (
    WRITTEN,
    AnimatedBlock,
    ChannelNames,
    channel_mentions,
    refuse_stray_names,
)
from blendwright.tools.animation.channels import Channel, write_values
from blendwright.tools.animation.curve_writing import (
    EASING,
    HANDLES,
    Easing,
    Handles,
    Interpolation,
    sharing_conflicts,
)
from blendwright.tools.animation.places import channel_location, checked_location
from blendwright.tools.animation_data import action_of, animated_parts, curves
from blendwright.tools.checks import conflict, differs
from blendwright.values.errors import StepError

Cycles = Literal["NONE", "REPEAT", "REPEAT_OFFSET", "MIRROR"]
BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
MOVED = (
    "animation.set_keyframes",
    {
        "object": "Box",
        "keys": [
            {"channel": "location", "frame": 1, "value": [0, 0, 0]},
            {"channel": "location", "frame": 24, "value": [0, 0, 2]},
        ],
    },
)
OF_KEYS = ("interpolation", "easing", "handles")


class SetCurvesArgs(AnimatedBlock, ChannelNames):
    channel: Channel | None = optional("Channel to change. Default: all channels of the datablock itself.")
    interpolation: Interpolation | None = optional("Interpolation of every key to the next one.")
    easing: Easing | None = optional(EASING)
    handles: Handles | None = optional(HANDLES)
    extrapolation: Literal["CONSTANT", "LINEAR"] | None = optional("Course before the first and after the last key.")
    cycles: Cycles | None = optional(
        "Endless loop before and after the keys: REPEAT unchanged, REPEAT_OFFSET from the end value of the previous "
        "loop, MIRROR forwards and backwards, NONE without a loop."
    )

    @model_validator(mode="after")
    def _names_what_it_should(self) -> SetCurvesArgs:
        refuse_stray_names(self.channel, self)
        if all(getattr(self, name) is None for name in (*OF_KEYS, "extrapolation", "cycles")):
            raise PydanticCustomError("nothing", "give one of interpolation, easing, handles, extrapolation and cycles")
        return self


class CurvesSet(Result):
    object: str = Field(description="Name of the object, or of the material, world, node group or scene.")
    curves: int = Field(description="Number of curves that the call covers.")
    keys: int = Field(description="Number of keys on them.")
    changed: bool = Field(description="False if all curves were already as requested.")


class SetCurves(Tool[SetCurvesArgs, CurvesSet]):
    """Set interpolation, easing, handles, extrapolation or endless loops of keyframes.

    Applies to all keys of one channel, or of all channels.
    """

    name = "animation.set_curves"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(*WRITTEN).needs("animation_write")
    examples = (
        Example({"object": "Box", "cycles": "MIRROR"}, BOX, MOVED),
        Example({"object": "Box", "channel": "location", "interpolation": "SINE", "easing": "EASE_IN_OUT"}, BOX, MOVED),
        Example({"object": "Box", "handles": "VECTOR", "extrapolation": "LINEAR"}, BOX, MOVED),
    )

    def mentions_for(self, args: SetCurvesArgs) -> Iterator[Mention]:
        yield from mentions(args)
        yield from channel_mentions(args, args)

    def revert_for(self, args: SetCurvesArgs, blender: Version) -> Revert:
        if args.scene:
            return Revert.MEMFILE
        return self.revert

    def check(self, scene: Scene, args: SetCurvesArgs) -> Findings:
        if args.channel is not None and (yield from checked_location(scene, args, args, args.channel)) is None:
            return
        try:
            name = args.find(scene).name
        except StepError as error:
            yield error.finding
            return
        chosen = list(_targets(scene, args))
        if not chosen:
            if args.channel is None:
                at = args.at
            else:
                at = "/channel"
            yield conflict(f"'{name}' has no keyframes to change", at, "Set some first with animation.set_keyframes.")
        for _, holder, _ in chosen:
            yield from sharing_conflicts(scene, holder, name, args.at)

    def apply(self, scene: Scene, args: SetCurvesArgs) -> CurvesSet:
        chosen = list(_targets(scene, args))
        all_curves = [curve for *_, part_curves in chosen for curve in part_curves]
        key_count = sum(len(curve.keyframe_points) for curve in all_curves)
        changed = not all(_is_as_requested(curve, args) for curve in all_curves)
        result = CurvesSet(object=args.find(scene).name, curves=len(all_curves), keys=key_count, changed=changed)
        if not changed:
            return result

        frame = scene.active.frame_current_final
        for block, holder, part_curves in chosen:
            if not args.scene:
                scene.edit(block)
            paths = [(curve.data_path, curve.array_index) for curve in part_curves]
            scene.edit(action_of(holder))
            for curve in curves(scene, holder):
                if (curve.data_path, curve.array_index) in paths:
                    _write(curve, args)
                    write_values(holder, curve.data_path, {curve.array_index: curve.evaluate(frame)})
        return result

    def verify(self, scene: Scene, args: SetCurvesArgs, result: CurvesSet) -> Findings:
        for *_, part_curves in _targets(scene, args):
            for curve in part_curves:
                is_as_requested = _is_as_requested(curve, args)
                yield from differs(f"that {curve.data_path} is as requested", True, is_as_requested, args.at)


def _targets(scene: Scene, args: SetCurvesArgs) -> Iterator[tuple[Block, Block, list[Block]]]:
    """Yield the datablock, its animated part, and the curves that the call covers."""
    if args.channel is not None:
        where = channel_location(scene, args, args, args.channel)
        parts = [(where.block, where.holder, where.path)]
    else:
        block = args.find(scene)
        parts = [(block, holder, None) for holder in animated_parts(block)]
    for block, holder, path in parts:
        part_curves = curves(scene, holder, path)
        if part_curves:
            yield block, holder, part_curves


def _write(curve: Block, args: SetCurvesArgs) -> None:
    for key in curve.keyframe_points:
        if args.interpolation is not None:
            key.interpolation = args.interpolation
        if args.easing is not None:
            key.easing = args.easing
        if args.handles is not None:
            key.handle_left_type = key.handle_right_type = args.handles
    if args.extrapolation is not None:
        curve.extrapolation = args.extrapolation
    if args.cycles is not None:
        for modifier in _cycles_modifiers(curve):
            curve.modifiers.remove(modifier)
        if args.cycles != "NONE":
            loop = curve.modifiers.new("CYCLES")
            loop.mode_before = loop.mode_after = args.cycles
    curve.update()


def cycles_of(curve: Block) -> str:
    """Return how a curve loops after its last key; NONE without a loop."""
    return next((modifier.mode_after for modifier in _cycles_modifiers(curve) if not modifier.mute), "NONE")


def _cycles_modifiers(curve: Block) -> list[Block]:
    return [modifier for modifier in curve.modifiers if modifier.type == "CYCLES"]


def _is_as_requested(curve: Block, args: SetCurvesArgs) -> bool:
    if args.extrapolation not in (None, curve.extrapolation):
        return False
    if args.cycles is not None:
        sides = {cycles_of(curve)} | {modifier.mode_before for modifier in _cycles_modifiers(curve)}
        if sides != {args.cycles}:
            return False
    return all(
        args.interpolation in (None, key.interpolation)
        and args.easing in (None, key.easing)
        and (args.handles is None or {key.handle_left_type, key.handle_right_type} == {args.handles})
        for key in curve.keyframe_points
    )
