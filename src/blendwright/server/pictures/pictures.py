"""Pictures in a form that hosts accept, with the location of the complete picture.

The SDK's client rejects events over a megabyte, and base64 makes a picture a third larger. Therefore all pictures of
an answer together stay below MAX_PICTURE_BYTES. A small PNG is sent unchanged, a transparent one as WebP, others as
JPEG. The core encodes them, so that workers need no image library.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blendwright.server.answers.response import Picture, ToolResponse
from blendwright.util.no_follow import read_file
from blendwright.values.outcome import Outcome
from blendwright.values.report import OperationReport

if TYPE_CHECKING:
    from PIL import Image

MAX_PICTURE_BYTES = 700_000
# The largest PNG in bytes that is sent unchanged. Its colours are exact, and encoding would save little.
SMALL_PNG_BYTES = 40_000
MAX_PIXELS = 8192 * 8192
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
QUALITIES = (88, 75, 60, 40)
# The factor for width and height in each round of shrinking, which halves the pixels.
SHRINK_FACTOR = math.sqrt(0.5)
# The most pictures of a plan that are sent with its answer: the last ones. The answer names the others.
MAX_SENT_PICTURES = 4
CAPTION = 18
CAPTION_COLOR = (235, 235, 235)


@dataclass(frozen=True, slots=True)
class Captioned:
    """A PNG of a montage and the caption above it."""

    data: bytes
    caption: str


def sendable(png: bytes, largest: int = MAX_PICTURE_BYTES) -> Picture | None:
    """Return the PNG in a form of at most `largest` bytes, or None if it is broken or has more pixels than
    Blendwright renders.

    Python code in a plan may have written a broken PNG.
    """
    if math.prod(picture_size(png)) > MAX_PIXELS:
        return None
    if len(png) <= min(SMALL_PNG_BYTES, largest):
        return Picture(png, "image/png")
    from PIL import Image  # loaded only when a picture is large

    try:
        with Image.open(io.BytesIO(png), formats=("PNG",)) as opened:
            mode = "RGB"
            if _is_transparent(opened):
                mode = "RGBA"
            picture = opened.convert(mode)
    except (OSError, ValueError, SyntaxError):
        return None
    while True:
        for quality in QUALITIES:
            sent = _encoded(picture, quality)
            if len(sent.data) <= largest:
                return sent
        size = (max(1, int(picture.width * SHRINK_FACTOR)), max(1, int(picture.height * SHRINK_FACTOR)))
        picture = picture.resize(size, Image.Resampling.LANCZOS)


def _encoded(picture: Image.Image, quality: int) -> Picture:
    written = io.BytesIO()
    if picture.mode == "RGBA":
        picture.save(written, "WEBP", quality=quality)
        return Picture(written.getvalue(), "image/webp")
    picture.save(written, "JPEG", quality=quality, optimize=True)
    return Picture(written.getvalue(), "image/jpeg")


def _is_transparent(picture: Image.Image) -> bool:
    """Return whether any pixel is transparent. An alpha channel alone is not enough."""
    if "A" not in picture.getbands():
        return False
    lowest: Any = picture.getchannel("A").getextrema()
    return lowest[0] < 255


def montage(pictures: Sequence[Captioned], *, columns: int | None = None, exact: bool = False) -> bytes:
    """Return PNG files as one PNG, row by row, each under its caption and at the size of the smallest one.

    Without `columns` the montage is nearly square. With `exact`, shrinking keeps colours exact instead of smooth.
    """
    from PIL import Image, ImageDraw

    decoded = [Image.open(io.BytesIO(picture.data)).convert("RGB") for picture in pictures]
    size = min(picture.size for picture in decoded)
    resampling = Image.Resampling.LANCZOS
    if exact:
        resampling = Image.Resampling.NEAREST

    width, height = size[0], size[1] + CAPTION
    columns = columns or math.ceil(math.sqrt(len(decoded)))
    sheet = Image.new("RGB", (width * columns, height * math.ceil(len(decoded) / columns)))
    draw = ImageDraw.Draw(sheet)
    for number, (picture, captioned) in enumerate(zip(decoded, pictures, strict=True)):
        x, y = number % columns * width, number // columns * height
        draw.text((x + 4, y + 3), captioned.caption, fill=CAPTION_COLOR)
        if picture.size != size:
            picture = picture.resize(size, resampling)
        sheet.paste(picture, (x, y + CAPTION))

    written = io.BytesIO()
    sheet.save(written, "PNG")
    return written.getvalue()


def picture_size(png: bytes) -> tuple[int, int]:
    """Return width and height from the header of a PNG."""
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


def with_pictures(response: ToolResponse, artifacts: Path) -> ToolResponse:
    """Return the response with the pictures that its call made, in the form that hosts receive, and their locations.

    `artifacts` is the workspace's directory of pictures, whose files are resources. This reads files, so do not call
    it in the event loop's thread.
    """
    known_paths = {picture.path for picture in response.images}
    pictures: list[Picture] = []
    for artifact in response.outcome.artifacts:
        path = Path(artifact)
        # Pictures in subfolders of the artifacts are data layers, not pictures to look at.
        if not artifact.lower().endswith(".png") or path in known_paths or path.parent.parent == artifacts:
            continue
        picture = _read(path)
        if picture is not None:
            pictures.append(picture)
    pictures += response.images
    if not pictures:
        return response

    unsent_count = max(0, len(pictures) - MAX_SENT_PICTURES)
    largest = MAX_PICTURE_BYTES // (len(pictures) - unsent_count)
    sent_pictures: list[Picture] = []
    descriptions: list[dict[str, Any]] = []
    for number, picture in enumerate(pictures):
        sent = None
        if number >= unsent_count:
            sent = sendable(picture.data, largest)
        if sent is not None:
            sent_pictures.append(sent)
        description = _description(picture, sent, artifacts)
        if response.detail == "summary":
            description = _brief_description(description)
        descriptions.append(description)

    result: Mapping[str, Any] = {**(response.outcome.result or {}), "pictures": descriptions}
    return replace(response, outcome=response.outcome.with_(result=result), images=tuple(sent_pictures))


def pictures_made(operations: Sequence[OperationReport]) -> tuple[str, ...]:
    """Return the files that the operations of a plan wrote."""
    paths: list[str] = []
    for operation in operations:
        if operation.details is not None:
            paths += operation.details.artifacts
    return tuple(paths)


def from_outcome(outcome: Outcome) -> Picture:
    """Return the picture of a successful render."""
    path = Path(outcome.artifacts[0])
    return Picture(read_file(path), "image/png", path)


def _read(path: Path) -> Picture | None:
    try:
        data = read_file(path)
    except OSError:
        return None  # removed in the meantime
    if data.startswith(PNG_SIGNATURE):
        return Picture(data, "image/png", path)
    return None


def _description(picture: Picture, sent: Picture | None, artifacts: Path) -> dict[str, Any]:
    """Return the size and location of the complete picture and the form in which it was sent."""
    width, height = picture_size(picture.data)
    description: dict[str, Any] = {"width": width, "height": height, "bytes": len(picture.data)}
    if picture.path is not None:
        description["path"] = str(picture.path)
        if picture.path.parent == artifacts:
            description["resource"] = f"blendwright://artifacts/{picture.path.name}"
    if sent is None:
        description["sent"] = None
    else:
        description["sent"] = {"mime_type": sent.mime_type, "bytes": len(sent.data)}
    return description


def _brief_description(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the size and location only. A host that received the picture knows its form."""
    omitted = {"bytes"}
    if description["sent"] is not None:
        omitted.add("sent")
    if "path" in description:
        omitted.add("resource")
    return {key: value for key, value in description.items() if key not in omitted}
