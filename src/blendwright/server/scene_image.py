"""scene_image: pictures of the scene, from named sides, through a camera, at one frame or at several, in one montage."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from blendwright.app.looking_back import LookBack
from blendwright.app.open_scene import OpenScene
from blendwright.run.options import RunOptions
from blendwright.server.context import Caller, ServerContext
from blendwright.server.look_quality import LookPace, LookQuality
from blendwright.server.pictures import Captioned, from_outcome, montage, picture_size
from blendwright.server.responses import Picture, ToolResponse
from blendwright.server.server_tool import server_tool
from blendwright.server.workspace_tools import CommitName
from blendwright.tool_api.arguments import Args, Name
from blendwright.tools.render.closer_look import Show
from blendwright.tools.render.rendering import FrameNumber
from blendwright.tools.render.viewpoint import NamedView
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.no_follow import open_directory, write_whole
from blendwright.values.outcome import Outcome


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


# In either case: models write names in small letters. The schema says so in words, which are shorter than the list.
AnyView = Annotated[NamedView, BeforeValidator(_upper), WithJsonSchema({"type": "string"})]
AnyShow = Annotated[Show, BeforeValidator(_upper), WithJsonSchema({"type": "string"})]
ARTIFACT = "scene_image.png"
# Pixels: what is wider is shrunk by those who look, until nothing can be seen.
WIDEST_ROW = 2048
WIDEST_PANEL = 640
# What else could be the name of a picture has a dot.
COMMIT = re.compile(r"[^./\\]+")
COMPARE_COMMIT = "Give the commit whose scene it shows, as history_log numbers it, or a picture outside the workspace."
# What the picture itself says.
LEFT_OUT = frozenset({"ok", "artifact", "width", "height", "pixels_sha256"})
# A look must be done well before its call would be ended.
PART_OF_DEADLINE = 0.8
LEAST_SECONDS = 0.5
# CYCLES samples for this part of its time; the rest is for what comes before and after.
SAMPLING = 0.6


class ImageArgs(Args):
    views: list[AnyView] = Field(
        default=[],
        max_length=6,
        description="Sides: front, back, left, right, side, top, bottom, iso, three_quarter.",
    )
    camera: Name | None = Field(default=None, description="Look through it; the scene's own by default.")
    show: AnyShow | None = Field(default=None, description="names, depth or mask.")
    compare: CommitName | None = Field(default=None, description="With a picture file, or a commit.")
    frames: list[Annotated[FrameNumber, WithJsonSchema({"type": "integer"})]] = Field(
        default=[], max_length=12, description="Frames, side by side."
    )
    engine: Literal["WORKBENCH", "CYCLES"] = Field(default="WORKBENCH", description="CYCLES shows light; slower.")
    width: int = Field(default=640, ge=64, le=2048)
    height: int = Field(default=480, ge=64, le=2048)
    samples: int = Field(default=16, ge=1, le=256)
    denoise: bool = True
    seconds: float = Field(default=10, gt=0, le=600, description="Quality is lowered to fit; 1 is a quick look.")


@server_tool(
    "A picture of the scene through a camera or from sides; several become one montage.",
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
    return min(args.seconds, opened.terms.constraints.render_seconds * PART_OF_DEADLINE)


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
        quality = LookQuality(args.engine, args.width, args.height, args.samples)
        sized = {"width", "height"} & args.model_fields_set
        shape = {} if sized or args.views else {"render_shape": True}  # pictures of a montage are alike
        began = perf_counter()
        captioned: list[Captioned] = []
        seen: dict[str, Any] = {}
        notes: dict[str, None] = {}
        last: Outcome | None = None
        for number, (caption, viewpoint) in enumerate(viewpoints):
            left = (seconds - (perf_counter() - began)) / (len(viewpoints) - number)
            quality = self._pace.fitting(quality, left)
            last = self._render(
                quality, viewpoint | shape | {"show": args.show or "SHADED"}, args.denoise, max(left, LEAST_SECONDS)
            )
            if not last.ok:
                return ToolResponse(last)
            captioned.append(Captioned(from_outcome(last).data, caption))
            seen[caption] = _seen(last, args.show)
            notes |= dict.fromkeys((last.result or {}).get("notes") or ())
        assert last is not None
        whole = from_outcome(last)
        if len(captioned) > 1:
            whole = kept_montage(captioned, len(args.frames), Path(last.artifacts[0]))
        described = description_of(last, quality, [each.caption for each in captioned], list(notes))
        if args.show not in (None, "SHADED"):
            described = described.with_(result={**(described.result or {}), "show": args.show, "seen": seen})
        return ToolResponse(described, (whole,))

    def _compare(self, args: ImageArgs, other: str) -> ToolResponse:
        """With a picture, or with the scene of an earlier commit: through the camera, or from the first of the views."""
        view = args.views[0] if args.views else None
        frame = args.frames[0] if args.frames else None
        if COMMIT.fullmatch(other):
            look = LookBack(view, args.camera, args.engine, min(args.width, WIDEST_PANEL), frame)
            outcome = self._opened.look_back(other, look=look, options=self._options)
        else:
            place = {"camera": args.camera, "view": view, "frame": frame}
            given = {name: value for name, value in place.items() if value is not None}
            given |= {"reference": other, "engine": args.engine, "width": min(args.width, WIDEST_PANEL)}
            outcome = self._opened.outcome("render.compare", {**given, "artifact": ARTIFACT}, self._options)
        if not outcome.ok:
            return ToolResponse(outcome.with_(findings=tuple(map(_at_compare, outcome.findings))))
        told = {name: value for name, value in (outcome.result or {}).items() if name not in LEFT_OUT}
        return ToolResponse(outcome.with_(result=told, artifacts=()), (from_outcome(outcome),))

    def _render(self, quality: LookQuality, viewpoint: dict[str, Any], denoise: bool, seconds: float) -> Outcome:
        size = {"engine": quality.engine, "width": quality.width, "height": quality.height, "artifact": ARTIFACT}
        finish = (
            {"smooth": quality.smooth}
            if quality.engine == "WORKBENCH"
            else {"samples": quality.samples, "denoise": denoise, "time_limit_s": seconds * SAMPLING}
        )
        started = perf_counter()
        outcome = self._opened.outcome("render.preview", {**size, **finish, **viewpoint}, self._options)
        if outcome.fault is Fault.NONDETERMINISTIC_REFUSED:
            # The contract wants the same picture each time: then it takes what it takes.
            finish.pop("time_limit_s", None)
            outcome = self._opened.outcome("render.preview", {**size, **finish, **viewpoint}, self._options)
        if outcome.ok:
            self._pace.measured(quality, perf_counter() - started)
        return outcome


def _viewpoints(args: ImageArgs) -> list[tuple[str, dict[str, Any]]]:
    """What each picture is called, and the arguments that make it: all sides at each frame."""
    sides: list[tuple[str, dict[str, Any]]] = [(view.lower(), {"view": view}) for view in args.views]
    if args.camera is not None or not sides:
        sides.insert(0, (args.camera or "camera", {} if args.camera is None else {"camera": args.camera}))
    if not args.frames:
        return sides
    return [
        (f"frame {frame}" if len(sides) == 1 else f"{name}, frame {frame}", {**side, "frame": frame})
        for name, side in sides
        for frame in args.frames
    ]


def kept_montage(captioned: Sequence[Captioned], frames: int, last: Path) -> Picture:
    """The montage, kept beside the last of its pictures. A strip of frames is one row as long as that can be read."""
    width, _ = picture_size(captioned[0].data)
    data = montage(captioned, columns=frames if frames > 1 and frames * width <= WIDEST_ROW else None)
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
    cure = COMPARE_COMMIT if finding.rule == "path_workspace" else finding.cure
    return replace(finding, pointer="/compare", cure=cure)


def _seen(outcome: Outcome, show: Show | None) -> dict[str, Any]:
    """What is seen where, as shortly as it can be told: a share and a box each, and the colour in a mask."""
    result = outcome.result or {}
    objects = {
        one["object"]: [f"{one['share']:.1%}", one["box"], *([one["color"]] if show == "MASK" else [])]
        for one in result.get("seen") or ()
    }
    told: dict[str, Any] = {"objects": objects}
    if result.get("unseen"):
        told["unseen"] = result["unseen"]
    return told | ({"depths_m": result["depths"]} if show == "DEPTH" else {})


def description_of(outcome: Outcome, made: LookQuality, captions: Sequence[str], notes: Sequence[str]) -> Outcome:
    """What the picture shows and what it was made with; what the last of several says of itself is not said of all."""
    last = outcome.result or {}
    about: dict[str, Any] = {"views": captions, "engine": made.engine, "each": [last["width"], last["height"]]}
    if made.engine == "CYCLES":
        # One that had to end early has fewer than it was meant to have.
        ended_early = len(captions) == 1 and last.get("samples") is not None
        about["samples"] = last["samples"] if ended_early else made.samples
    if notes:
        about["notes"] = notes
    if made.reduced:
        about["reduced"] = "lower quality than asked for, to fit the time; give more seconds for more"
    return outcome.with_(result=about, artifacts=())


TOOLS = (scene_image,)
