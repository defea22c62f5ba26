"""scene_image: pictures of the scene, from named sides, through a camera, at one frame or at several, in one montage."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from blendwright.engine.options import RunOptions
from blendwright.server.answers.picture_text import LookPicture, TimeNeeded, comparison_of, description_of
from blendwright.server.answers.response import Picture, ToolResponse
from blendwright.server.context import Caller, ServerContext
from blendwright.server.pictures.pictures import Captioned, from_outcome, montage, picture_size
from blendwright.server.pictures.quality import LookPace, LookQuality
from blendwright.server.tools.server_tool import server_tool
from blendwright.server.tools.workspace import CommitName
from blendwright.tool_api.arguments import Args, Name
from blendwright.tools.render.closer_look import Show
from blendwright.tools.render.rendering import FrameNumber
from blendwright.tools.render.viewpoint import NamedView
from blendwright.util.no_follow import open_directory, write_whole
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.outcome import Outcome
from blendwright.views.before_and_after import LookBack, look_back_from
from blendwright.workspace.open_scene import OpenScene


def _upper(value: Any) -> Any:
    if isinstance(value, str):
        return value.upper()
    return value


# In either case: models write names in small letters. The schema says so in words, which are shorter than the list.
AnyView = Annotated[Literal[NamedView, "CAMERA"], BeforeValidator(_upper), WithJsonSchema({"type": "string"})]
AnyShow = Annotated[Show, BeforeValidator(_upper), WithJsonSchema({"type": "string"})]
ARTIFACT = "scene_image.png"
# Pixels: what is wider is shrunk by those who look, until nothing can be seen.
MAX_ROW_PIXELS = 2048
MAX_PANEL_PIXELS = 640
# Side by side in a sheet that compares: with a reference, and with a commit; and the pixels between them.
PANELS_OF_REFERENCE, PANELS_OF_COMMIT = 2, 3
BETWEEN_PANELS = 4
# A panel with a commit has the pixels of 4:3 in the shape of the render, which is mostly 16:9.
NARROWER = 0.86
# What else could be the name of a picture has a dot.
COMMIT = re.compile(r"[^./\\]+")
COMPARE_COMMIT = "Give the commit whose scene it shows, as history_log numbers it, or a picture outside the workspace."
# A look must be done well before its call would be ended.
MAX_LOOK_SECONDS = 600
# What a look may take where nothing is said. One at light mostly takes less, and another call costs more.
SECONDS = {"WORKBENCH": 10.0, "CYCLES": 25.0}
PART_OF_DEADLINE = 0.8
MIN_LOOK_SECONDS = 0.5
# Pictures of a look are alike, unless the rest of them would take so many times as long as there is time.
PATIENCE = 1.5


class ImageArgs(Args):
    views: list[AnyView] = Field(
        default=[],
        max_length=6,
        description="front, back, left, right, top, bottom: orthographic; iso, three_quarter; camera.",
    )
    camera: Name | None = Field(default=None, description="The scene's own by default.")
    around: list[Name] = Field(default=[], max_length=1000, description="Show these closely, from sides.")
    show: AnyShow | None = Field(default=None, description="names, depth or mask.")
    compare: CommitName | None = Field(default=None, description="With a picture file, or a commit.")
    frames: list[Annotated[FrameNumber, WithJsonSchema({"type": "integer"})]] = Field(default=[], max_length=12)
    engine: Literal["WORKBENCH", "CYCLES"] = Field(default="WORKBENCH", description="CYCLES shows light; slower.")
    width: int = Field(default=640, ge=64, le=2048)
    height: int = Field(default=480, ge=64, le=2048)
    samples: int = Field(default=16, ge=1, le=256)
    denoise: bool = True
    seconds: float | None = Field(
        default=None, gt=0, le=MAX_LOOK_SECONDS, description="Quality is lowered to fit; default 10, CYCLES 25."
    )

    @model_validator(mode="after")
    def _all_or_some(self) -> ImageArgs:
        if self.around and self.compare is not None:
            raise PydanticCustomError("around_compare", "a comparison shows all of the scene: give around or compare")
        return self

    @property
    def time(self) -> float:
        """The seconds that a look may take."""
        return self.seconds or SECONDS[self.engine]


@server_tool(
    "A picture of the scene through a camera or from sides, several as one montage.",
    read_only=True,
)
async def scene_image(context: ServerContext, caller: Caller, args: ImageArgs) -> ToolResponse:
    asked = perf_counter()

    def work(opened: OpenScene) -> ToolResponse:
        # Waiting for the turn is part of what the caller waits for.
        left = allowed_seconds(opened, args) - (perf_counter() - asked)
        return Look(opened, context.look_pace, context.options(caller)).take(args, left)

    return await context.run(caller, work)


def allowed_seconds(opened: OpenScene, args: ImageArgs) -> float:
    """What a look may take; the contract has the last word."""
    return min(args.time, opened.terms.constraints.render_seconds * PART_OF_DEADLINE)


class Look:
    """One call of scene_image, in the thread that has the workspace."""

    def __init__(self, opened: OpenScene, pace: LookPace, options: RunOptions) -> None:
        self._opened = opened
        self._pace = pace
        self._options = options

    def take(self, args: ImageArgs, seconds: float) -> ToolResponse:
        if args.compare is not None:
            return self._compare(args, args.compare)
        viewpoints = _viewpoints(args)
        wanted = LookQuality(
            args.engine, args.width, args.height, args.samples, denoise=args.denoise, show=args.show or "SHADED"
        )
        through_camera = any("view" not in viewpoint for _, viewpoint in viewpoints)
        # What a camera shows has the shape of the render, or its framing would mislead; width and height say how large it is. Pictures
        # of a montage are alike.
        if through_camera:
            shape = {"render_shape": True}
        else:
            shape = {}
        ends = perf_counter() + seconds
        quality = self._pace.fitting(wanted, seconds / len(viewpoints))
        taken: list[LookPicture] = []
        for number, (caption, viewpoint) in enumerate(viewpoints):
            left, missing = ends - perf_counter(), len(viewpoints) - number
            if taken and self._pace.seconds_for(quality) * missing > left * PATIENCE:
                quality = self._pace.lowered(quality, left / missing)
            outcome = self._render(quality, viewpoint | shape, max(left / missing, MIN_LOOK_SECONDS))
            if not outcome.ok:
                return ToolResponse(outcome)
            taken.append(LookPicture(caption, quality, outcome, from_outcome(outcome).data))
        last = taken[-1].outcome
        whole = from_outcome(last)
        if len(taken) > 1:
            captioned = [Captioned(each.data, each.caption) for each in taken]
            exact = wanted.kind == "CLOSER"
            whole = kept_montage(
                captioned, Path(last.artifacts[0]), montage_columns(captioned, len(args.frames)), exact=exact
            )
        most = min(MAX_LOOK_SECONDS, self._opened.terms.constraints.render_seconds * PART_OF_DEADLINE)
        needed = TimeNeeded(self._pace.seconds_for(wanted) * len(taken), min(args.time, most), most)
        return ToolResponse(last.with_(result=description_of(taken, wanted, needed), artifacts=()), (whole,))

    def _compare(self, args: ImageArgs, other: str) -> ToolResponse:
        """With a picture, or with the scene of an earlier commit: through the camera, from sides, or both."""
        viewpoints = _viewpoints(args)
        with_commit = COMMIT.fullmatch(other) is not None
        # Sheets with a commit are wide, and stand below each other.
        if with_commit:
            columns = 1
        else:
            columns = math.ceil(math.sqrt(len(viewpoints)))
        panels = columns * (PANELS_OF_COMMIT if with_commit else PANELS_OF_REFERENCE)
        widest = MAX_ROW_PIXELS // panels - BETWEEN_PANELS
        width = min(args.width, MAX_PANEL_PIXELS, int(widest * NARROWER) if with_commit else widest)
        if with_commit:
            looks = [LookBack(engine=args.engine, width=width, **place) for _, place in viewpoints]
            outcomes = look_back_from(self._opened, looks, other, options=self._options)
        else:
            shared = {"reference": other, "engine": args.engine, "width": width, "artifact": ARTIFACT}
            outcomes: list[Outcome] = []
            for _, place in viewpoints:
                outcomes.append(self._opened.outcome("render.compare", {**shared, **place}, self._options))
                if not outcomes[-1].ok:
                    findings = tuple(map(_at_compare, outcomes[-1].findings))
                    return ToolResponse(outcomes[-1].with_(findings=findings))
        compared = {caption: outcome for (caption, _), outcome in zip(viewpoints, outcomes, strict=True)}
        whole = from_outcome(outcomes[-1])
        if len(compared) > 1:
            sheets = [Captioned(from_outcome(outcome).data, caption) for caption, outcome in compared.items()]
            whole = kept_montage(sheets, Path(outcomes[-1].artifacts[0]), columns)
        return ToolResponse(outcomes[-1].with_(result=comparison_of(compared), artifacts=()), (whole,))

    def _render(self, quality: LookQuality, viewpoint: dict[str, Any], seconds: float) -> Outcome:
        args: dict[str, Any] = {"engine": quality.engine, "width": quality.width, "height": quality.height}
        args |= {"show": quality.show, "artifact": ARTIFACT, **viewpoint}
        if quality.engine == "WORKBENCH":
            args["smooth"] = quality.smooth
        else:
            args |= {"samples": quality.samples, "denoise": quality.denoise}
            args["time_limit_s"] = self._pace.sampling_seconds(quality, seconds)
        started = perf_counter()
        outcome = self._opened.outcome("render.preview", args, self._options)
        if outcome.fault is Fault.NONDETERMINISTIC_REFUSED:
            # The contract wants the same picture each time: then it takes what it takes.
            args.pop("time_limit_s", None)
            outcome = self._opened.outcome("render.preview", args, self._options)
        if outcome.ok:
            took = perf_counter() - started
            samples = (outcome.result or {}).get("samples") or quality.samples
            self._pace.measured(replace(quality, samples=samples), took, self._opened.worker_pid)
        return outcome


def _viewpoints(args: ImageArgs) -> list[tuple[str, dict[str, Any]]]:
    """What each picture is called, and the arguments that make it: all sides at each frame."""
    sides: dict[str, dict[str, Any]] = {}
    if args.camera is not None:
        sides[f"camera {args.camera}" if args.camera.upper() in args.views else args.camera] = {"camera": args.camera}
    if args.around:
        closely = {"around": args.around}
    else:
        closely = {}
    for view in args.views or (["ISO"] if closely and not sides else []):
        if view != "CAMERA":
            sides[view.lower()] = {"view": view, **closely}
        elif args.camera is None:  # else it is said which one is meant
            sides["camera"] = {}
    if not sides:
        sides["camera"] = {}
    if not args.frames:
        return list(sides.items())
    return [
        (f"frame {frame}" if len(sides) == 1 else f"{name}, frame {frame}", {**side, "frame": frame})
        for name, side in sides.items()
        for frame in dict.fromkeys(args.frames)
    ]


def montage_columns(pictures: Sequence[Captioned], frames: int) -> int | None:
    """A strip of frames is one row as long as that can be read; None for as near to a square as may be."""
    width = min(picture_size(each.data)[0] for each in pictures)
    if frames > 1 and frames * width <= MAX_ROW_PIXELS:
        return frames
    return None


def kept_montage(pictures: Sequence[Captioned], last: Path, columns: int | None, *, exact: bool = False) -> Picture:
    """The montage, kept beside the last of its pictures."""
    data = montage(pictures, columns=columns, exact=exact)
    target = last.with_stem(f"{last.stem}_montage")
    with tempfile.TemporaryFile() as written, open_directory(target.parent) as directory:
        written.write(data)
        written.seek(0)
        write_whole(directory, target.name, written, 0o600)
    return Picture(data, path=target)


def _at_compare(finding: Finding) -> Finding:
    """Where the caller wrote it. A picture that a look left behind belongs to the workspace: the scene that it shows can be named."""
    if finding.pointer != "/reference":
        return finding
    if finding.rule == "path_workspace":
        cure = COMPARE_COMMIT
    else:
        cure = finding.cure
    return replace(finding, pointer="/compare", cure=cure)


TOOLS = (scene_image,)
