from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from math import inf
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Scene, Tool
from blendwright.tool_api.arguments import Args, FramesPath, Result, Seed, WritePath, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE, Determinism
from blendwright.tools.checks import conflict, differs, invalid
from blendwright.tools.file.formats import extension_of, known_extension
from blendwright.tools.render.darkness import darkness_notes
from blendwright.tools.render.rendering import engine_name, read_picture
from blendwright.tools.render.still import MAX_PIXELS, STAGE, Pixels
from blendwright.tools.render.viewpoint import NamedView, viewing_camera, viewpoint_problems
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

CODECS = {"mp4": "H264", "webm": "VP9"}
FrameIndex = Annotated[int, Field(ge=0, le=1_048_574)]
# Largest number of frames that one call renders.
MAX_FRAMES = 5000
FILM = ("scene.set_frame_range", {"start": 1, "end": 3})
LOOKING = ("camera.set_active", {"object": "Camera"})
# Share of the time limit to suggest as time_limit_s.
SHARE_OF_LIMIT = 0.9
# A new frame starts only if the remaining time is at least this multiple of the longest frame.
SPARE = 1.5
# Number of frames after which the estimate of the total time is final. The first frame takes at most this many times as long
# as the later ones.
FRAMES_TO_JUDGE, FIRST_IS_LONGER = 3, 2.0
# Time for the work after the last frame: checking the frames and, for a video, encoding per million pixels.
SECONDS_AFTER, SECONDS_PER_MILLION = 3.0, 0.05


class AnimationArgs(Args):
    path: WritePath | None = optional("Video to write: .mp4 (H.264) or .webm (VP9).")
    frames_path: FramesPath | None = optional(
        "Path of single PNG frames: '####' in its name is the frame number, as in shot_####.png. Can be combined with path."
    )
    artifact: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.(mp4|webm)$")] = Field(
        default="animation.mp4", description="Name of the video among the workspace's artifacts, if path is omitted."
    )
    start: FrameIndex | None = optional("First frame. Default: the scene's.")
    end: FrameIndex | None = optional("Last frame. Default: the scene's.")
    step: int | None = optional("Distance from one rendered frame to the next. Default: the scene's.", ge=1, le=10_000)
    camera: ObjectName | None = optional("Camera to look through. Default without view: the scene's own.")
    view: NamedView | None = optional("Look from this side at everything that a render shows at the current frame.")
    resolution: Annotated[tuple[Pixels, Pixels], Field(strict=False)] | None = optional(
        "Width and height in pixels, instead of the scene's."
    )
    samples: int | None = optional("Samples per pixel of CYCLES, instead of the scene's.", ge=1, le=100_000)
    denoise: bool = Field(default=True, description="Remove the noise of CYCLES.")
    seed: Seed = Field(default=0, description="Seed of the noise of CYCLES, the same in all frames.")
    time_limit_s: float | None = optional(
        "Start no frame after this many seconds and return the finished ones, with `partial`.", gt=0.0, le=86_400.0
    )
    quality: Literal["LOSSLESS", "HIGH", "MEDIUM", "LOW"] = Field(default="HIGH", description="Quality of the video.")
    overwrite: bool = Field(
        default=False, description="Whether the call may replace existing files; it is then destructive."
    )

    @field_validator("path")
    @classmethod
    def _check_video_extension(cls, value: str | None) -> str | None:
        if value is None:
            return None
        return known_extension(value, CODECS)

    @field_validator("frames_path")
    @classmethod
    def _check_frame_pattern(cls, value: str | None) -> str | None:
        if value is None:
            return None
        name = Path(value).name
        after_first_run = name.strip("#").partition("#")[2].lstrip("#")
        if "#" not in name or "#" in after_first_run:
            raise PydanticCustomError("no_number", "its name must contain '####' once, for the frame number")
        if not name.lower().endswith(".png"):
            raise PydanticCustomError("no_png", "the name of frames must end with .png")
        return value

    @field_validator("end")
    @classmethod
    def _check_order(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is not None and value < (info.data.get("start") or 0):
            raise PydanticCustomError("frame_order", "end must not be before start")
        return value

    @field_validator("view")
    @classmethod
    def _check_viewpoint(cls, value: NamedView | None, info: ValidationInfo) -> NamedView | None:
        if value is not None and info.data.get("camera") is not None:
            raise PydanticCustomError("one_eye", "give either view or camera, not both")
        return value

    def wants_video(self) -> bool:
        return self.path is not None or self.frames_path is None


class AnimationRendered(Result):
    artifact: str | None = Field(description="Name of the video among the workspace's artifacts.")
    path: str | None = Field(description="Path of the video, as given in the arguments.")
    frames_path: str | None = Field(description="Path of the single frames, as given in the arguments.")
    frame_start: int = Field(description="First frame.")
    frame_end: int = Field(description="Last finished frame.")
    frame_step: int = Field(description="Distance from one frame to the next.")
    frames: int = Field(description="Number of finished frames.")
    rendered: int = Field(description="Number of frames that this call rendered; earlier calls rendered the others.")
    partial: bool = Field(
        default=False, description="True if time ran out before the last frame: call again to render the rest."
    )
    missing: int = Field(default=0, description="Number of missing frames of a partial result, which has no video.")
    width: int = Field(description="Width in pixels.")
    height: int = Field(description="Height in pixels.")
    fps: float = Field(description="Frames per second.")
    engine: str = Field(description="Engine that rendered the frames.")
    notes: list[str] = Field(default=[], description="Unexpected results, such as dark pictures without a light.")


class Animation(Tool[AnimationArgs, AnimationRendered]):
    """Render frames to a video or a PNG sequence.

    A call takes at most constraints.render_seconds. If the first frames show that this is not enough, it stops with an
    estimate for all frames. With time_limit_s it stops at that time instead, and the result is `partial` and counts the
    missing frames. The workspace keeps each rendered frame: the same call on the same scene resumes where the last one
    ended, also after it was cancelled or killed.
    """

    name = "render.animation"
    version = 2
    time_limit = "render_seconds"
    promises = (
        SAFE_IDEMPOTENT_WRITE.but(determinism=Determinism.NONDETERMINISTIC, replayable=False)
        .writes_to()
        .needs("scene_read", "render", "file_write")
    )
    destructive_with = ("overwrite",)
    examples = (
        Example({"path": "film.mp4"}, *STAGE, FILM, LOOKING),
        Example({"frames_path": "film_####.png", "samples": 1, "step": 2}, *STAGE, FILM, LOOKING),
        Example({"artifact": "film.webm", "view": "ISO", "start": 2, "end": 3, "resolution": [32, 32]}, *STAGE),
    )

    def frames_for(self, args: AnimationArgs) -> Mapping[str, Any] | None:
        names = ("camera", "view", "resolution", "samples", "denoise", "seed")
        return {name: getattr(args, name) for name in names}

    def time_asked(self, args: AnimationArgs) -> tuple[str, float] | None:
        if args.time_limit_s is None:
            return None
        return ("/time_limit_s", args.time_limit_s)

    def seed_for(self, args: AnimationArgs) -> int | None:
        return args.seed

    def check(self, scene: Scene, args: AnimationArgs) -> Findings:
        cure = "Give a view such as ISO, name a camera, or call camera.set_active first."
        yield from viewpoint_problems(scene, args.view, args.camera, cure)
        numbers = _numbers(scene, args)
        if not numbers:
            message = f"the range from {numbers.start} to {numbers.stop - 1} contains no frames"
            yield conflict(message, "/start", "Give start and end, or set them with scene.set_frame_range.")
        elif len(numbers) > MAX_FRAMES:
            message = f"the call would render {len(numbers)} frames, and the limit is {MAX_FRAMES}"
            yield Finding(Fault.LIMIT_EXCEEDED, message, "/end", "Render the frames in parts, with start and end.")
        width, height = _size(scene, args)
        if args.resolution is None:
            at = ""
        else:
            at = "/resolution"
        if width * height > MAX_PIXELS:
            message = f"the pictures would have {width} by {height} pixels, more than {MAX_PIXELS} in total"
            yield Finding(Fault.LIMIT_EXCEEDED, message, at, "Lower the resolution.")
        if args.wants_video() and (width % 2 or height % 2):
            message = f"width and height of a video must be even, and these would be {width} by {height}"
            yield conflict(message, at, "Give a resolution of even numbers.")
        engine = engine_name(scene.active.render.engine)
        if engine != "CYCLES" and args.samples is not None:
            cure = "Leave samples out, or set the engine with scene.set_render."
            yield invalid(f"samples is for CYCLES; the engine is {engine}", "/samples", cure)

    def apply(self, scene: Scene, args: AnimationArgs) -> AnimationRendered:
        numbers, size = _numbers(scene, args), _size(scene, args)
        with ExitStack() as temporary:
            camera = _set_up(scene, args, temporary)
            rendered, finished = _render(scene, args, numbers, camera)

        partial = len(finished) < len(numbers)
        artifact: str | None = None
        path: str | None = None
        if args.wants_video() and not partial:
            _encode(scene, args, finished, size)
            path = args.path
            if path is None:
                artifact = args.artifact
        render = scene.active.render
        return AnimationRendered(
            artifact=artifact,
            path=path,
            frames_path=args.frames_path,
            frame_start=numbers.start,
            frame_end=finished[-1],
            frame_step=numbers.step,
            frames=len(finished),
            rendered=rendered,
            partial=partial,
            missing=len(numbers) - len(finished),
            width=size[0],
            height=size[1],
            fps=render.fps / render.fps_base,
            engine=engine_name(render.engine),
            notes=_notes(scene, finished),
        )

    def verify(self, scene: Scene, args: AnimationArgs, result: AnimationRendered) -> Findings:
        for number in range(result.frame_start, result.frame_end + 1, result.frame_step):
            picture = read_picture(scene.frame_file(number))
            if picture is None:
                size = (0, 0)
            else:
                size = picture[:2]
            yield from differs(f"the size of frame {number}", (result.width, result.height), size, "/frames_path")
        if result.path is not None:
            exists = Path(scene.output_file(result.path)).is_file()
            yield from differs("the presence of the video", True, exists, "/path")


def _encode(scene: Scene, args: AnimationArgs, numbers: Sequence[int], size: tuple[int, int]) -> None:
    """Write the video from finished frames."""
    render = scene.active.render
    codec = CODECS[extension_of(args.path or args.artifact)]
    quality: str = args.quality
    if quality == "LOSSLESS" and codec == "VP9":
        quality = "PERC_LOSSLESS"
    frames = [scene.frame_file(number) for number in numbers]
    scene.encode_video(
        frames,
        _video_file(scene, args),
        size=size,
        fps=(render.fps, render.fps_base),
        codec=codec,
        quality=quality,
    )


def _notes(scene: Scene, finished: Sequence[int]) -> list[str]:
    """Return notes about darkness from the first, the middle and the last frame, because a film may start and end dark."""
    sampled = dict.fromkeys((finished[0], finished[len(finished) // 2], finished[-1]))
    files = [scene.frame_file(number) for number in sampled]
    return darkness_notes(scene, engine_name(scene.active.render.engine), files)


def _numbers(scene: Scene, args: AnimationArgs) -> range:
    active = scene.active
    start, end = args.start, args.end
    if start is None:
        start = active.frame_start
    if end is None:
        end = active.frame_end
    return range(start, end + 1, args.step or active.frame_step)


def _size(scene: Scene, args: AnimationArgs) -> tuple[int, int]:
    render = scene.active.render
    percentage = render.resolution_percentage
    return args.resolution or (render.resolution_x * percentage // 100, render.resolution_y * percentage // 100)


def _video_file(scene: Scene, args: AnimationArgs) -> str:
    if args.path is not None:
        return scene.output_file(args.path)
    return scene.artifact(args.artifact)


class _Clock:
    """A clock that decides when no further frame may start. `pixels` counts the pixels of all frames together."""

    def __init__(self, scene: Scene, args: AnimationArgs, pixels: int) -> None:
        self._scene = scene
        self._start = monotonic()
        self._limit = args.time_limit_s
        self._allowed = scene.seconds_left
        self._seconds_after = SECONDS_AFTER
        if args.wants_video():
            self._seconds_after += SECONDS_PER_MILLION * pixels / 1e6
        self.longest = 0.0
        self._shortest = inf
        self._frames = 0

    def note(self, seconds: float, missing: int) -> None:
        """Record the time of one finished frame, with `missing` frames still to render.

        Raise StepError early if the remaining time is not enough. A caller with time_limit_s wants the finished frames
        instead, so then this never raises.
        """
        self.longest, self._shortest = max(self.longest, seconds), min(self._shortest, seconds)
        self._frames += 1
        remaining, allowed = self._scene.seconds_left, self._allowed
        if remaining is None or allowed is None or self._limit is not None or self._frames > FRAMES_TO_JUDGE:
            return
        per_frame = self._shortest
        if self._frames == 1:
            per_frame /= FIRST_IS_LONGER
        if per_frame * missing > remaining - self._seconds_after:
            raise StepError(too_long(missing, self._shortest, allowed))

    def is_over(self) -> bool:
        """Return True if no further frame may start."""
        if self._limit is not None and monotonic() - self._start > self._limit:
            return True
        remaining = self._scene.seconds_left
        return remaining is not None and remaining < self._seconds_after + SPARE * self.longest


def too_long(frames: int, seconds_per_frame: float, allowed: float) -> Finding:
    """Return the finding for frames that take longer than the `allowed` seconds."""
    total = frames * seconds_per_frame
    message = (
        f"{frames} frames at about {seconds_per_frame:.1f} s each take about {total:.0f} s, over the limit of {allowed:.0f} s; "
        "Blendwright keeps the rendered frames"
    )
    cure = (
        "Repeat the call with background: true, whose limit is longer, or with fewer samples or a smaller resolution. Or repeat "
        f"it with time_limit_s: {max(1, int(allowed * SHARE_OF_LIMIT))} until it is complete: each call renders further frames."
    )
    return Finding(Fault.LIMIT_EXCEEDED, message, "", cure)


def _set_up(scene: Scene, args: AnimationArgs, temporary: ExitStack) -> Block | None:
    """Prepare the scene for rendering until `temporary` is closed. Return the camera, or None for the scene's own."""
    render = scene.active.render
    width, height = _size(scene, args)
    # A border would change the size of the pictures.
    size = {"resolution_x": width, "resolution_y": height, "resolution_percentage": 100, "use_border": False}
    temporary.enter_context(scene.temporarily(render, **size))
    if engine_name(render.engine) == "CYCLES":
        values: dict[str, Any] = {"device": "CPU", "seed": args.seed, "use_animated_seed": False, "time_limit": 0.0}
        values["use_denoising"] = args.denoise
        if args.samples is not None:
            values["samples"] = args.samples
        temporary.enter_context(scene.temporarily(scene.active.cycles, **values))
    camera = viewing_camera(scene, args.view, args.camera, temporary)
    temporary.enter_context(scene.at_frame(scene.active.frame_current))
    return camera


def _render(scene: Scene, args: AnimationArgs, numbers: range, camera: Block | None) -> tuple[int, list[int]]:
    """Render missing frames while time allows. Return how many were rendered, and the finished frames in order."""
    finished: list[int] = []
    rendered, size = 0, _size(scene, args)
    clock = _Clock(scene, args, size[0] * size[1] * len(numbers))
    for position, number in enumerate(numbers, 1):
        file = scene.frame_file(number)
        if not _is_rendered(file, size):
            if finished and clock.is_over():
                break
            start = monotonic()
            scene.active.frame_set(number)
            part = f"{file}.part"
            scene.render_still(part, camera=camera, label=f"frame {number} ({position} of {len(numbers)})")
            if not _is_rendered(part, size):
                raise StepError.of(Fault.EXECUTION_FAILED, f"Blender wrote no picture of frame {number}")
            # The rename makes it a finished frame, even if the process ends right after it.
            Path(part).replace(file)
            rendered += 1
            clock.note(monotonic() - start, len(numbers) - position)
        finished.append(number)
    return rendered, finished


def _is_rendered(file: str, size: tuple[int, int]) -> bool:
    picture = read_picture(file)
    return picture is not None and picture[:2] == size
