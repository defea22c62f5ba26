"""Pictures of the same scene from two Blenders, and a picture that shows them side by side with their difference."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blendwright.engine.files.scratch import move_out
from blendwright.tools.render.preview import Preview, PreviewArgs
from blendwright.values.errors import WorkerFault
from blendwright.versions.two_blenders import TwoBlenders
from blendwright.wire.methods import StepRequest
from blendwright.wire.remote_scene import RemoteScene

WIDTH, HEIGHT = 480, 360
# The time limit of one picture. A heavy scene on a slow machine takes long, but a hanging render must not block the report.
PICTURE_SECONDS = 600.0
# The difference of a channel, out of 255, from which it counts as visible. Smaller differences are noise of the renderers.
VISIBLE_DIFFERENCE = 16
# The factor that brightens the picture of the difference.
DIFFERENCE_FACTOR = 4
# The height of the captions in pixels.
CAPTION_PIXELS = 18
ARTIFACT = "compared.png"
# The views to try in order: the scene's own camera with its lights, then a corner view if the scene has no camera.
VIEWS: tuple[dict[str, Any], ...] = ({"engine": "CYCLES", "samples": 16}, {"view": "ISO"})


@dataclass(frozen=True, slots=True)
class PicturePair:
    """File names of pictures in the report's directory.

    `differing` is the share of pixels with a visible difference, from 0 to 1.
    """

    old: str
    new: str
    side_by_side: str
    differing: float


def take_pictures(blenders: TwoBlenders, directory: Path, name: str) -> PicturePair | None:
    """Render the current scene in both Blenders. Return None when neither view works."""
    for view in VIEWS:
        args = PreviewArgs(**view, width=WIDTH, height=HEIGHT, artifact=ARTIFACT).model_dump(mode="json")
        request = StepRequest(tool=Preview.name, version=Preview.version, args=args)
        if all(blenders.both(lambda worker, request=request: _rendered(worker, request))):
            pair = PicturePair(f"{name}-old.png", f"{name}-new.png", f"{name}.png", 0.0)
            target = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            try:
                for worker, file in ((blenders.old, pair.old), (blenders.new, pair.new)):
                    move_out(target, file, worker.require_process().scratch, "artifacts", ARTIFACT, mode=0o644)
            finally:
                os.close(target)
            return _joined(directory, pair, *blenders.versions)
    return None


def _rendered(worker: RemoteScene, request: StepRequest) -> bool:
    try:
        return worker.step(request, deadline=PICTURE_SECONDS)["ok"]
    except WorkerFault:
        return False  # the report is useful even without pictures


def _joined(directory: Path, pair: PicturePair, *versions: str) -> PicturePair:
    from PIL import Image, ImageChops, ImageDraw  # imported here, because only comparisons of pictures need it

    with Image.open(directory / pair.old) as ours, Image.open(directory / pair.new) as theirs:
        old, new = ours.convert("RGB"), theirs.convert("RGB")
    difference = ImageChops.difference(old, new)
    largest = difference.split()[0]
    for channel in difference.split()[1:]:
        largest = ImageChops.lighter(largest, channel)
    differing = sum(largest.histogram()[VISIBLE_DIFFERENCE:]) / (largest.width * largest.height)
    shown = difference.point([min(255, value * DIFFERENCE_FACTOR) for value in range(256)] * 3)
    sheet = Image.new("RGB", (old.width * 3, old.height + CAPTION_PIXELS), "black")
    draw = ImageDraw.Draw(sheet)
    captions = (
        *(f"Blender {version}" for version in versions),
        f"difference, {DIFFERENCE_FACTOR} times as bright ({differing:.1%} of the pixels)",
    )
    for index, (picture, caption) in enumerate(zip((old, new, shown), captions, strict=True)):
        sheet.paste(picture, (index * old.width, CAPTION_PIXELS))
        draw.text((index * old.width + 4, 3), caption, fill="white")
    sheet.save(directory / pair.side_by_side)
    return PicturePair(pair.old, pair.new, pair.side_by_side, round(differing, 6))
