"""Tool scene.set_frame_range"""

from __future__ import annotations

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, optional
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example
from blendwright.tools.settings import SetsSceneSettings, Setting, Settings

MAX_FRAME = 1_048_574  # Blender's own limit


class SetFrameRangeArgs(Args):
    start: int = Field(ge=0, le=MAX_FRAME, description="First frame.")
    end: int = Field(ge=0, le=MAX_FRAME, description="Last frame, inclusive.")
    step: int | None = optional("Distance from one rendered frame to the next. Default: unchanged.", ge=1, le=10_000)

    @field_validator("end")
    @classmethod
    def _check_order(cls, value: int, info: ValidationInfo) -> int:
        if value < info.data.get("start", 0):
            raise PydanticCustomError("frame_order", "end must not be before start")
        return value


class SetFrameRange(SetsSceneSettings[SetFrameRangeArgs]):
    """Set the first and last frame of the scene's animation. The current frame stays unchanged."""

    name = "scene.set_frame_range"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.SCENE).needs("scene_write")
    examples = (Example({"start": 1, "end": 120}), Example({"start": 300, "end": 400, "step": 2}))

    def settings(self, scene: Scene, args: SetFrameRangeArgs, target: Block) -> Settings:
        ends = [Setting(target, "frame_start", args.start, "/start"), Setting(target, "frame_end", args.end, "/end")]
        # Blender would move the old end for a start after it, and undo would lose that end because it was not recorded.
        if args.start > target.frame_end:
            ends.reverse()
        yield from ends
        if args.step is not None:
            yield Setting(target, "frame_step", args.step, "/step")
