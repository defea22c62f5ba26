"""Tool animation.set_keyframes"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Result
from blendwright.tool_api.mentions import Mention, Role, mentions
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE, Revert, Version
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation.animated_channel import WRITTEN, KeyedBlock, channel_mentions
from blendwright.tools.animation.channels import OF_DATA
from blendwright.tools.animation.set_keyframe import Keyframe, SetKeyframe, SetKeyframeArgs, key_differs

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
# Largest number of keys in one call.
MAX_KEYS = 2000
ROTATIONS = frozenset({"rotation_euler_deg", "rotation_quaternion"})
# Channels with keys in an action of the object's data, nodes or shape keys.
OF_PARTS = frozenset({*OF_DATA, "data_setting", "node_input", "shape_key"})
SINGLE = SetKeyframe()


class SetKeyframesArgs(KeyedBlock):
    keys: Annotated[list[Keyframe], Field(min_length=1, max_length=MAX_KEYS)] = Field(
        description="The keys. Each has the arguments of one animation.set_keyframe call: channel, frame, value and "
        "optional ones."
    )

    @field_validator("keys")
    @classmethod
    def _compatible(cls, keys: list[Keyframe]) -> list[Keyframe]:
        if len({key.channel for key in keys if key.bone is None} & ROTATIONS) > 1:
            raise PydanticCustomError("rotations", "use keys of only one rotation channel; Blender ignores the other")
        seen: dict[tuple[Any, ...], int] = {}
        for number, key in enumerate(keys):
            earlier = seen.setdefault((key.same_channel(), key.frame), number)
            if earlier != number:
                context = {"number": number, "earlier": earlier, "frame": key.frame}
                raise PydanticCustomError(
                    "same_key", "key {number} is for the same channel and frame {frame} as key {earlier}", context
                )
        return keys

    def single(self, key: Keyframe) -> SetKeyframeArgs:
        """Return the arguments of the animation.set_keyframe call that sets this one key."""
        return SetKeyframeArgs.model_construct(
            **{name: getattr(self, name) for name in KeyedBlock.model_fields},
            **{name: getattr(key, name) for name in Keyframe.model_fields},
        )


class KeyframesSet(Result):
    object: str = Field(description="Name of the object, or of the material, world, node group or scene.")
    action: str = Field(description="Name of the action that holds the first of the keys.")
    keys: int = Field(description="Number of requested keys.")
    changed: bool = Field(description="False if exactly these keys already existed.")


class SetKeyframes(Tool[SetKeyframesArgs, KeyframesSet]):
    """Set many keyframes of one datablock at once, of one channel or of several.

    Existing keys at the same frames are replaced. The first key creates an action, as animation.set_keyframe does.
    """

    name = "animation.set_keyframes"
    version = 2
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(*WRITTEN).needs("animation_write")
    examples = (
        Example(
            {
                "object": "Box",
                "keys": [
                    {"channel": "location", "frame": 1, "value": [0, 0, 0]},
                    {"channel": "location", "frame": 24, "value": [0, 0, 2], "interpolation": "LINEAR"},
                    {"channel": "rotation_euler_deg", "frame": 24, "value": [0, 0, 90]},
                ],
            },
            BOX,
        ),
    )

    def mentions_for(self, args: SetKeyframesArgs) -> Iterator[Mention]:
        yield from mentions(args)
        if args.object is not None and any(key.channel not in OF_PARTS for key in args.keys):
            name = args.action or f"{args.object}Action"
            yield Mention(Role.ENSURES, Kind.ACTION.blocks, name, surely=False, at=args.at)
        for number, key in enumerate(args.keys):
            yield from channel_mentions(args, key, f"/keys/{number}")

    def revert_for(self, args: SetKeyframesArgs, blender: Version) -> Revert:
        if args.scene:
            return Revert.MEMFILE
        return self.revert

    def check(self, scene: Scene, args: SetKeyframesArgs) -> Findings:
        reported: set[tuple[str, str]] = set()
        for number, key in enumerate(args.keys):
            for finding in SINGLE.check(scene, args.single(key)):
                located = finding
                if finding.pointer not in (args.at, "/action"):
                    located = finding.under(f"/keys/{number}")

                # A finding about the datablock or a channel is the same for all of its keys: report it once.
                cause = (finding.message, "")
                if finding.pointer == "/value":
                    cause = (finding.message, located.pointer)
                if cause not in reported:
                    reported.add(cause)
                    yield located

    def apply(self, scene: Scene, args: SetKeyframesArgs) -> KeyframesSet:
        results = [SINGLE.apply(scene, args.single(key)) for key in args.keys]
        changed = any(result.changed for result in results)
        return KeyframesSet(object=results[0].object, action=results[0].action, keys=len(args.keys), changed=changed)

    def verify(self, scene: Scene, args: SetKeyframesArgs, result: KeyframesSet) -> Findings:
        for number, key in enumerate(args.keys):
            yield from (finding.under(f"/keys/{number}") for finding in key_differs(scene, args.single(key)))
