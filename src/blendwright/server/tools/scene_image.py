"""The tool scene_image: pictures of the scene from named sides or through a camera, at one or several frames, in one
montage.
"""

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


# Views in upper or lower case, because models write names in lower case. The schema describes them in words, which is shorter.
AnyView = Annotated[Literal[NamedView, "CAMERA"], BeforeValidator(_upper), WithJsonSchema({"type": "string"})]
AnyShow = Annotated[Show, BeforeValidator(_upper), WithJsonSchema({"type": "string"})]
ARTIFACT = "scene_image.png"
# The widest row of pictures in pixels. Models shrink wider pictures until details disappear.
MAX_ROW_PIXELS = 2048
MAX_PANEL_PIXELS = 640
# The panels of a comparison with a reference picture and with a commit, and the pixels between panels.
PANELS_OF_REFERENCE, PANELS_OF_COMMIT = 2, 3
BETWEEN_PANELS = 4
# The width factor of a panel with a commit. It has as many pixels as a 4:3 panel, in the shape of the render, which is mostly 16:9.
RENDER_SHAPE_WIDTH = 0.86
# A value of `compare` without a dot or slash is a commit. Names of picture files have a dot.
COMMIT = re.compile(r"[^./\\]+")
COMPARE_COMMIT = (
    "Pass the number of the commit whose scene it shows, from history_log, or a picture outside the workspace."
)
# The most seconds of a look, so that it ends well before the time limit of its call.
MAX_LOOK_SECONDS = 600
# The default seconds of a look by engine. CYCLES mostly needs fewer, and a second call would cost more.
SECONDS = {"WORKBENCH": 10.0, "CYCLES": 25.0}
PART_OF_DEADLINE = 0.8
MIN_LOOK_SECONDS = 0.5
# The quality stays the same during a look, unless the remaining pictures would take this many times the remaining seconds.
PATIENCE = 1.5


class ImageArgs(Args):
    views: list[AnyView] = Field(
        default=[],
        max_length=6,
        description="front, back, left, right, top, bottom: orthographic; iso, three_quarter; camera.",
    )
    camera: Name | None = Field(default=None, description="Default: the scene's camera.")
    around: list[Name] = Field(default=[], max_length=1000, description="Frame these objects, from sides.")
    show: AnyShow | None = Field(default=None, description="names, depth or mask.")
    compare: CommitName | None = Field(default=None, description="A picture file or a commit.")
    frames: list[Annotated[FrameNumber, WithJsonSchema({"type": "integer"})]] = Field(default=[], max_length=12)
    engine: Literal["WORKBENCH", "CYCLES"] = Field(default="WORKBENCH", description="CYCLES shows light, slower.")
    width: int = Field(default=640, ge=64, le=2048)
    height: int = Field(default=480, ge=64, le=2048)
    samples: int = Field(default=16, ge=1, le=256)
    denoise: bool = True
    seconds: float | None = Field(
        default=None, gt=0, le=MAX_LOOK_SECONDS, description="Lowers quality to fit; default 10, CYCLES 25."
    )

    @model_validator(mode="after")
    def _all_or_some(self) -> ImageArgs:
        if self.around and self.compare is not None:
            raise PydanticCustomError(
                "around_compare", "a comparison shows the complete scene: pass around or compare, not both"
            )
        return self

    @property
    def time(self) -> float:
        """Return the seconds that a look may take."""
        return self.seconds or SECONDS[self.engine]


@server_tool(
    "Render the scene through a camera or from sides, several as a montage.",
    read_only=True,
)
async def scene_image(context: ServerContext, caller: Caller, args: ImageArgs) -> ToolResponse:
    started = perf_counter()

    def work(opened: OpenScene) -> ToolResponse:
        # The time that the call waited for its turn counts.
        remaining = allowed_seconds(opened, args) - (perf_counter() - started)
        return Look(opened, context.look_pace, context.options(caller)).take(args, remaining)

    return await context.run(caller, work)


def allowed_seconds(opened: OpenScene, args: ImageArgs) -> float:
    """Return the seconds that a look may take: the requested ones, limited by the contract."""
    return min(args.time, opened.terms.constraints.render_seconds * PART_OF_DEADLINE)


class Look:
    """A call of scene_image. It runs in the thread that has the workspace."""

    def __init__(self, opened: OpenScene, pace: LookPace, options: RunOptions) -> None:
        self._opened = opened
        self._pace = pace
        self._options = options

    def take(self, args: ImageArgs, seconds: float) -> ToolResponse:
        """Take the pictures in about `seconds` and return the answer with one picture or montage."""
        if args.compare is not None:
            return self._compare(args, args.compare)
        viewpoints = _viewpoints(args)
        wanted = LookQuality(
            args.engine, args.width, args.height, args.samples, denoise=args.denoise, show=args.show or "SHADED"
        )
        # A picture through a camera has the aspect ratio of the render, because another framing would mislead. Width and height limit
        # its size. All pictures of a montage have the same aspect ratio.
        shape: dict[str, Any] = {}
        if any("view" not in viewpoint for _, viewpoint in viewpoints):
            shape = {"render_shape": True}

        ends = perf_counter() + seconds
        quality = self._pace.fitting(wanted, seconds / len(viewpoints))
        pictures: list[LookPicture] = []
        for number, (caption, viewpoint) in enumerate(viewpoints):
            remaining_seconds = ends - perf_counter()
            remaining_count = len(viewpoints) - number
            if pictures and self._pace.seconds_for(quality) * remaining_count > remaining_seconds * PATIENCE:
                quality = self._pace.lowered(quality, remaining_seconds / remaining_count)
            outcome = self._render(
                quality, viewpoint | shape, max(remaining_seconds / remaining_count, MIN_LOOK_SECONDS)
            )
            if not outcome.ok:
                return ToolResponse(outcome)
            pictures.append(LookPicture(caption, quality, outcome, from_outcome(outcome).data))

        last = pictures[-1].outcome
        picture = from_outcome(last)
        if len(pictures) > 1:
            captioned = [Captioned(item.data, item.caption) for item in pictures]
            exact = wanted.kind == "CLOSER"
            picture = store_montage(
                captioned, Path(last.artifacts[0]), montage_columns(captioned, len(args.frames)), exact=exact
            )
        most = min(MAX_LOOK_SECONDS, self._opened.terms.constraints.render_seconds * PART_OF_DEADLINE)
        needed = TimeNeeded(self._pace.seconds_for(wanted) * len(pictures), min(args.time, most), most)
        return ToolResponse(last.with_(result=description_of(pictures, wanted, needed), artifacts=()), (picture,))

    def _compare(self, args: ImageArgs, reference: str) -> ToolResponse:
        """Compare the scene from each viewpoint with a picture file or with the scene of a commit."""
        viewpoints = _viewpoints(args)
        with_commit = COMMIT.fullmatch(reference) is not None
        if with_commit:
            # Comparisons with a commit are wide, so the montage has one column.
            columns = 1
            panel_width = int((MAX_ROW_PIXELS // PANELS_OF_COMMIT - BETWEEN_PANELS) * RENDER_SHAPE_WIDTH)
        else:
            columns = math.ceil(math.sqrt(len(viewpoints)))
            panel_width = MAX_ROW_PIXELS // (columns * PANELS_OF_REFERENCE) - BETWEEN_PANELS
        width = min(args.width, MAX_PANEL_PIXELS, panel_width)

        if with_commit:
            looks = [LookBack(engine=args.engine, width=width, **viewpoint) for _, viewpoint in viewpoints]
            outcomes = look_back_from(self._opened, looks, reference, options=self._options)
        else:
            shared = {"reference": reference, "engine": args.engine, "width": width, "artifact": ARTIFACT}
            outcomes: list[Outcome] = []
            for _, viewpoint in viewpoints:
                outcomes.append(self._opened.outcome("render.compare", {**shared, **viewpoint}, self._options))
                if not outcomes[-1].ok:
                    findings = tuple(map(_at_compare, outcomes[-1].findings))
                    return ToolResponse(outcomes[-1].with_(findings=findings))

        compared = {caption: outcome for (caption, _), outcome in zip(viewpoints, outcomes, strict=True)}
        picture = from_outcome(outcomes[-1])
        if len(compared) > 1:
            sheets = [Captioned(from_outcome(outcome).data, caption) for caption, outcome in compared.items()]
            picture = store_montage(sheets, Path(outcomes[-1].artifacts[0]), columns)
        return ToolResponse(outcomes[-1].with_(result=comparison_of(compared), artifacts=()), (picture,))

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
            # The contract requires a reproducible picture, and a time limit would prevent that.
            args.pop("time_limit_s", None)
            outcome = self._opened.outcome("render.preview", args, self._options)
        if outcome.ok:
            took = perf_counter() - started
            samples = (outcome.result or {}).get("samples") or quality.samples
            self._pace.measured(replace(quality, samples=samples), took, self._opened.worker_pid)
        return outcome


def _viewpoints(args: ImageArgs) -> list[tuple[str, dict[str, Any]]]:
    """Return for each picture its caption and the arguments that make it: every side at every frame."""
    sides: dict[str, dict[str, Any]] = {}
    if args.camera is not None:
        caption = args.camera
        if args.camera.upper() in args.views:
            caption = f"camera {args.camera}"
        sides[caption] = {"camera": args.camera}

    framing: dict[str, Any] = {}
    if args.around:
        framing = {"around": args.around}
    views: Sequence[str] = args.views
    if framing and not views and not sides:
        views = ["ISO"]
    for view in views:
        if view != "CAMERA":
            sides[view.lower()] = {"view": view, **framing}
        elif args.camera is None:  # else `camera` already names the camera
            sides["camera"] = {}
    if not sides:
        sides["camera"] = {}

    if not args.frames:
        return list(sides.items())
    viewpoints: list[tuple[str, dict[str, Any]]] = []
    for name, side in sides.items():
        for frame in dict.fromkeys(args.frames):
            caption = f"{name}, frame {frame}"
            if len(sides) == 1:
                caption = f"frame {frame}"
            viewpoints.append((caption, {**side, "frame": frame}))
    return viewpoints


def montage_columns(pictures: Sequence[Captioned], frames: int) -> int | None:
    """Return the columns of a montage: one row for frames if it is readable, else None for a nearly square montage."""
    width = min(picture_size(picture.data)[0] for picture in pictures)
    if frames > 1 and frames * width <= MAX_ROW_PIXELS:
        return frames
    return None


def store_montage(pictures: Sequence[Captioned], last: Path, columns: int | None, *, exact: bool = False) -> Picture:
    """Write the montage next to the file of its last picture and return it."""
    data = montage(pictures, columns=columns, exact=exact)
    target = last.with_stem(f"{last.stem}_montage")
    with tempfile.TemporaryFile() as written, open_directory(target.parent) as directory:
        written.write(data)
        written.seek(0)
        write_whole(directory, target.name, written, 0o600)
    return Picture(data, path=target)


def _at_compare(finding: Finding) -> Finding:
    """Return the finding with the pointer of scene_image's argument. For a picture inside the workspace, the fix is
    to name its commit.
    """
    if finding.pointer != "/reference":
        return finding
    fix = finding.cure
    if finding.rule == "path_workspace":
        fix = COMPARE_COMMIT
    return replace(finding, pointer="/compare", cure=fix)


TOOLS = (scene_image,)
