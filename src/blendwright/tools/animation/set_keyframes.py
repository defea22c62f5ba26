"""animation.set_keyframes"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Result
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation.set_keyframe import AnimatedObject, Keyframe, SetKeyframe, SetKeyframeArgs, key_differs

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
MOST = 2000
ROTATIONS = frozenset({"rotation_euler_deg", "rotation_quaternion"})
ONE = SetKeyframe()


class SetKeyframesArgs(AnimatedObject):
    keys: Annotated[list[Keyframe], Field(min_length=1, max_length=MOST)] = Field(
        description="The keys, each as animation.set_keyframe takes one: channel, frame, value, and what may be left out there."
    )

    @field_validator("keys")
    @classmethod
    def _compatible(cls, keys: list[Keyframe]) -> list[Keyframe]:
        if len({key.channel for key in keys} & ROTATIONS) > 1:
            raise PydanticCustomError("rotations", "only the keys of one kind of rotation count; keep to one")
        seen: dict[tuple[str, int], int] = {}
        for number, key in enumerate(keys):
            earlier = seen.setdefault((key.path(), key.frame), number)
            if earlier != number:
                context = {"number": number, "earlier": earlier, "frame": key.frame}
                raise PydanticCustomError(
                    "same_key", "key {number} is for the same channel and frame {frame} as key {earlier}", context
                )
        return keys

    def single(self, key: Keyframe) -> SetKeyframeArgs:
        """What one of the keys is to animation.set_keyframe."""
        return SetKeyframeArgs.model_construct(
            object=self.object, **{name: getattr(key, name) for name in Keyframe.model_fields}
        )


class KeyframesSet(Result):
    object: str = Field(description="Name of the object.")
    action: str = Field(description="Name of the action that holds the first of the keys.")
    keys: int = Field(description="How many keys were asked for.")
    changed: bool = Field(description="False when just these keys were there already.")


class SetKeyframes(Tool[SetKeyframesArgs, KeyframesSet]):
    """Set many keyframes of an object at once, of one channel or of several, replacing keys that are there.

    The first key creates an action named after the object ("BoxAction" for "Box")."""

    name = "animation.set_keyframes"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.LIGHT, Kind.CAMERA, Kind.ACTION).needs(
        "animation_write"
    )
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

    def check(self, scene: Scene, args: SetKeyframesArgs) -> Findings:
        said: set[tuple[str, str]] = set()
        for number, key in enumerate(args.keys):
            for finding in ONE.check(scene, args.single(key)):
                # What concerns the object or a channel is the same for every key of it: it is said once.
                at = finding if finding.pointer == "/object" else finding.under(f"/keys/{number}")
                cause = finding.message, at.pointer if finding.pointer == "/value" else ""
                if cause not in said:
                    said.add(cause)
                    yield at

    def apply(self, scene: Scene, args: SetKeyframesArgs) -> KeyframesSet:
        results = [ONE.apply(scene, args.single(key)) for key in args.keys]
        changed = any(result.changed for result in results)
        return KeyframesSet(object=args.object, action=results[0].action, keys=len(args.keys), changed=changed)

    def verify(self, scene: Scene, args: SetKeyframesArgs, result: KeyframesSet) -> Findings:
        for number, key in enumerate(args.keys):
            yield from (finding.under(f"/keys/{number}") for finding in key_differs(scene, args.single(key)))
