"""Tool animation.set_frame"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from blendwright.tool_api.arguments import Args, Result
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import differs

MAX_FRAME = 1_048_574


class SetFrameArgs(Args):
    # Negative frames exist, but Blender allows a negative current frame only with a user preference.
    frame: Annotated[int, Field(ge=0, le=MAX_FRAME)] = Field(description="The new current frame.")


class FrameSet(Result):
    frame: int = Field(description="The current frame.")
    changed: bool = Field(description="False if this was already the current frame.")


class SetFrame(Tool[SetFrameArgs, FrameSet]):
    """Set the current frame. Later calls show and render the scene as it is at that frame."""

    name = "animation.set_frame"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.SCENE).needs("animation_write")
    examples = (Example({"frame": 24}),)

    def check(self, scene: Scene, args: SetFrameArgs) -> Findings:
        return iter(())

    def apply(self, scene: Scene, args: SetFrameArgs) -> FrameSet:
        active = scene.active
        changed = active.frame_current != args.frame or active.frame_subframe != 0.0
        if changed:
            scene.set(active, "frame_current", args.frame)
            scene.set(active, "frame_subframe", 0.0)
            scene.depsgraph()
        return FrameSet(frame=args.frame, changed=changed)

    def verify(self, scene: Scene, args: SetFrameArgs, result: FrameSet) -> Findings:
        yield from differs("the current frame", args.frame, scene.active.frame_current, "/frame")
        yield from differs("the part of a frame", 0.0, scene.active.frame_subframe, "/frame")
