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
from blendwright.tools.render.still import MOST_PIXELS, STAGE, Pixels
from blendwright.tools.render.viewpoint import NamedView, viewing_camera, viewpoint_problems
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

CODECS = {"mp4": "H264", "webm": "VP9"}
FrameIndex = Annotated[int, Field(ge=0, le=1_048_574)]
MOST_FRAMES = 5000
FILM = ("scene.set_frame_range", {"start": 1, "end": 3})
LOOKING = ("camera.set_active", {"object": "Camera"})
SHARE_OF_LIMIT = 0.9
# A frame is not begun when less than so many times the longest one is left.
SPARE = 1.5
# After so many frames it is said whether all of them fit into the time. The first one takes longer than those behind it, at most so much.
FRAMES_TO_JUDGE, FIRST_IS_LONGER = 3, 2.0
# For what comes after the last frame: reading back, and of a video, encoding.
SECONDS_AFTER, SECONDS_PER_MILLION = 3.0, 0.05


class AnimationArgs(Args):
    path: WritePath | None = optional("Video to write: .mp4 (H.264) or .webm (VP9).")
    frames_path: FramesPath | None = optional(
        "Where single frames go, as PNG: '####' in its name is the frame, as in shot_####.png. May be given beside path."
    )
    artifact: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.(mp4|webm)$")] = Field(
        default="animation.mp4", description="Name of the video among the workspace's artifacts, when no path is given."
    )
    start: FrameIndex | None = optional("First frame; the scene's when left out.")
    end: FrameIndex | None = optional("Last frame; the scene's when left out.")
    step: int | None = optional("Every how many frames one is rendered; the scene's when left out.", ge=1, le=10_000)
    camera: ObjectName | None = optional("Camera to look through; left out together with view, the scene's own.")
    view: NamedView | None = optional("Look from this side at all that a render shows at the current frame.")
    resolution: Annotated[tuple[Pixels, Pixels], Field(strict=False)] | None = optional(
        "Width and height in pixels, instead of the scene's."
    )
    samples: int | None = optional("Samples per pixel of CYCLES, instead of the scene's.", ge=1, le=100_000)
    denoise: bool = Field(default=True, description="Remove the noise of CYCLES.")
    seed: Seed = Field(default=0, description="Seed of the noise of CYCLES, the same in all frames.")
    time_limit_s: float | None = optional(
        "No frame is begun after so many seconds; what is there by then is the result, `partial`.", gt=0.0, le=86_400.0
    )
    quality: Literal["LOSSLESS", "HIGH", "MEDIUM", "LOW"] = Field(default="HIGH", description="Of the video.")
    overwrite: bool = Field(
        default=False, description="Whether files that are there may be replaced; the call is then destructive."
    )

    @field_validator("path")
    @classmethod
    def _video(cls, value: str | None) -> str | None:
        if value is None:
            return None
        return known_extension(value, CODECS)

    @field_validator("frames_path")
    @classmethod
    def _numbered(cls, value: str | None) -> str | None:
        if value is None:
            name = ""
        else:
            name = Path(value).name
        if value is not None and (name.count("#") == 0 or "#" in name.strip("#").partition("#")[2].lstrip("#")):
            raise PydanticCustomError("no_number", "its name has one '####' for the number of the frame")
        if value is not None and not name.lower().endswith(".png"):
            raise PydanticCustomError("no_png", "frames are written as .png")
        return value

    @field_validator("end")
    @classmethod
    def _in_order(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is not None and value < (info.data.get("start") or 0):
            raise PydanticCustomError("frame_order", "end must not be before start")
        return value

    @field_validator("view")
    @classmethod
    def _one_eye(cls, value: NamedView | None, info: ValidationInfo) -> NamedView | None:
        if value is not None and info.data.get("camera") is not None:
            raise PydanticCustomError("one_eye", "give either view or camera")
        return value

    def wants_video(self) -> bool:
        return self.path is not None or self.frames_path is None


class AnimationRendered(Result):
    artifact: str | None = Field(description="Name of the video among the workspace's artifacts.")
    path: str | None = Field(description="The video, as it was named in the arguments.")
    frames_path: str | None = Field(description="Where the single frames are, as it was named in the arguments.")
    frame_start: int = Field(description="First frame.")
    frame_end: int = Field(description="Last frame that is there.")
    frame_step: int = Field(description="From one frame to the next.")
    frames: int = Field(description="Frames that are there.")
    rendered: int = Field(description="Of them, those that this call rendered; the others an earlier try had.")
    partial: bool = Field(
        default=False, description="Whether the time was over before all frames: call again, and the rest is rendered."
    )
    missing: int = Field(default=0, description="Frames that are missing, where it is partial. There is no video then.")
    width: int = Field(description="Width in pixels.")
    height: int = Field(description="Height in pixels.")
    fps: float = Field(description="Frames per second.")
    engine: str = Field(description="The engine that rendered it.")
    notes: list[str] = Field(default=[], description="What may surprise about it: no light.")


class Animation(Tool[AnimationArgs, AnimationRendered]):
    """Render frames to a video or a PNG sequence.

    Takes at most constraints.render_seconds. Where the first frames show that this is not enough, it ends at once and says how long all of
    them take, unless time_limit_s is given: then the result is `partial` and says how many frames are missing. Frames
    are kept in the workspace as they are rendered: the same call on the same scene goes on where the last one ended, also after it was
    cancelled or killed."""

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
            message = f"there are no frames from {numbers.start} to {numbers.stop - 1}"
            yield conflict(message, "/start", "Give start and end, or set them with scene.set_frame_range.")
        elif len(numbers) > MOST_FRAMES:
            message = f"these are {len(numbers)} frames, and one call renders up to {MOST_FRAMES}"
            yield Finding(Fault.LIMIT_EXCEEDED, message, "/end", "Render it in parts, with start and end.")
        width, height = _size(scene, args)
        if args.resolution is None:
            at = ""
        else:
            at = "/resolution"
        if width * height > MOST_PIXELS:
            message = f"the pictures would have {width} by {height} pixels"
            yield Finding(Fault.LIMIT_EXCEEDED, message, at, "Lower the resolution.")
        if args.wants_video() and (width % 2 or height % 2):
            message = f"a video has even sides, and these would be {width} by {height}"
            yield conflict(message, at, "Give a resolution of even numbers.")
        engine = engine_name(scene.active.render.engine)
        if engine != "CYCLES" and args.samples is not None:
            cure = "Leave it out, or set the engine with scene.set_render."
            yield invalid(f"samples is for CYCLES; the engine is {engine}", "/samples", cure)

    def apply(self, scene: Scene, args: AnimationArgs) -> AnimationRendered:
        numbers, size = _numbers(scene, args), _size(scene, args)
        with ExitStack() as temporary:
            camera = _set_up(scene, args, temporary)
            rendered, done = _render(scene, args, numbers, camera)
        partial = len(done) < len(numbers)
        video = args.wants_video() and not partial
        if video:
            file = _video_file(scene, args)
        else:
            file = None
        render = scene.active.render
        if file is not None:
            codec = CODECS[extension_of(args.path or args.artifact)]
            if args.quality == "LOSSLESS" and codec == "VP9":
                quality = "PERC_LOSSLESS"
            else:
                quality = args.quality
            scene.encode_video(
                [scene.frame_file(number) for number in done],
                file,
                size=size,
                fps=(render.fps, render.fps_base),
                codec=codec,
                quality=quality,
            )
        return AnimationRendered(
            artifact=args.artifact if video and args.path is None else None,
            path=args.path if video else None,
            frames_path=args.frames_path,
            frame_start=numbers.start,
            frame_end=done[-1],
            frame_step=numbers.step,
            frames=len(done),
            rendered=rendered,
            partial=partial,
            missing=len(numbers) - len(done),
            width=size[0],
            height=size[1],
            fps=render.fps / render.fps_base,
            engine=engine_name(render.engine),
            notes=_notes(scene, done),
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
            yield from differs(
                "the presence of the video", True, Path(scene.output_file(result.path)).is_file(), "/path"
            )


def _notes(scene: Scene, done: Sequence[int]) -> list[str]:
    """A film may begin and end in the dark: it is black where its middle is too."""
    looked_at = dict.fromkeys((done[0], done[len(done) // 2], done[-1]))
    return darkness_notes(
        scene, engine_name(scene.active.render.engine), [scene.frame_file(number) for number in looked_at]
    )


def _numbers(scene: Scene, args: AnimationArgs) -> range:
    active = scene.active
    if args.start is None:
        start = active.frame_start
    else:
        start = args.start
    if args.end is None:
        end = active.frame_end
    else:
        end = args.end
    return range(start, end + 1, args.step or active.frame_step)


def _size(scene: Scene, args: AnimationArgs) -> tuple[int, int]:
    render = scene.active.render
    part = render.resolution_percentage
    return args.resolution or (render.resolution_x * part // 100, render.resolution_y * part // 100)


def _video_file(scene: Scene, args: AnimationArgs) -> str:
    if args.path is not None:
        return scene.output_file(args.path)
    return scene.artifact(args.artifact)


class _Clock:
    """Says when no further frame is to be begun."""

    def __init__(self, scene: Scene, args: AnimationArgs, pixels: int) -> None:
        self._scene = scene
        self._began = monotonic()
        self._limit = args.time_limit_s
        self._allowed = scene.seconds_left
        self._after = SECONDS_AFTER + (SECONDS_PER_MILLION * pixels / 1e6 if args.wants_video() else 0.0)
        self.longest = 0.0
        self._shortest = inf
        self._frames = 0

    def note(self, seconds: float, missing: int) -> None:
        """One frame more is there, and so many are missing. Raises StepError early where the time is not enough for them, unless the
        caller said how long it may take: then it wants what is done by that time."""
        self.longest, self._shortest = max(self.longest, seconds), min(self._shortest, seconds)
        self._frames += 1
        left, allowed = self._scene.seconds_left, self._allowed
        if left is None or allowed is None or self._limit is not None or self._frames > FRAMES_TO_JUDGE:
            return
        each = self._shortest / (FIRST_IS_LONGER if self._frames == 1 else 1.0)
        if each * missing > left - self._after:
            raise StepError(too_long(missing, self._shortest, allowed))

    def is_over(self) -> bool:
        if self._limit is not None and monotonic() - self._began > self._limit:
            return True
        left = self._scene.seconds_left
        return left is not None and left < self._after + SPARE * self.longest


def too_long(frames: int, each: float, allowed: float) -> Finding:
    message = (
        f"{frames} frames at about {each:.1f} s each are about {frames * each:.0f} s, over the limit of {allowed:.0f} s; "
        "what is rendered is kept"
    )
    cure = (
        "Make the same call with background: true, whose limit is longer, or with fewer samples or a smaller resolution; or with "
        f"time_limit_s: {max(1, int(allowed * SHARE_OF_LIMIT))}, again and again: it renders what fits and goes on where it was."
    )
    return Finding(Fault.LIMIT_EXCEEDED, message, "", cure)


def _set_up(scene: Scene, args: AnimationArgs, temporary: ExitStack) -> Block | None:
    """What the pictures are taken with, until `temporary` is closed; returns the camera, None for the scene's own."""
    render = scene.active.render
    width, height = _size(scene, args)
    # A border would make other sizes of the pictures.
    size = {"resolution_x": width, "resolution_y": height, "resolution_percentage": 100, "use_border": False}
    temporary.enter_context(scene.temporarily(render, **size))
    if engine_name(render.engine) == "CYCLES":
        values: dict[str, Any] = {"device": "CPU", "seed": args.seed, "use_animated_seed": False, "time_limit": 0.0}
        values |= {"use_denoising": args.denoise} | ({} if args.samples is None else {"samples": args.samples})
        temporary.enter_context(scene.temporarily(scene.active.cycles, **values))
    camera = viewing_camera(scene, args.view, args.camera, temporary)
    temporary.enter_context(scene.at_frame(scene.active.frame_current))
    return camera


def _render(scene: Scene, args: AnimationArgs, numbers: range, camera: Block | None) -> tuple[int, list[int]]:
    """Render what is missing, as far as the time allows; returns how many were, and which frames are there from the first on."""
    done: list[int] = []
    rendered, size = 0, _size(scene, args)
    clock = _Clock(scene, args, size[0] * size[1] * len(numbers))
    for place, number in enumerate(numbers, 1):
        file = scene.frame_file(number)
        if not _is_there(file, size):
            if done and clock.is_over():
                break
            began = monotonic()
            scene.active.frame_set(number)
            part = f"{file}.part"
            scene.render_still(part, camera=camera, label=f"frame {number} ({place} of {len(numbers)})")
            if not _is_there(part, size):
                raise StepError.of(Fault.EXECUTION_FAILED, f"Blender wrote no picture of frame {number}")
            # From now on it is a frame, whatever happens next.
            Path(part).replace(file)
            rendered += 1
            clock.note(monotonic() - began, len(numbers) - place)
        done.append(number)
    return rendered, done


def _is_there(file: str, size: tuple[int, int]) -> bool:
    picture = read_picture(file)
    return picture is not None and picture[:2] == size
