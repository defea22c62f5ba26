"""Pictures as a host can take them: small enough to arrive, with the way to the whole one.

The SDK's client gives up on events over a megabyte, and a picture travels as text that is a third longer: all pictures of an answer
together stay under MAX_PICTURE_BYTES. A small PNG is sent as it is, one with transparency as WebP, anything else as JPEG. Encoding is done
here, in the core, so that workers need no library for it.
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
# A PNG up to this size is sent as it is: its colours are exact, and little would be won.
SMALL_PNG_BYTES = 40_000
MAX_PIXELS = 8192 * 8192
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
QUALITIES = (88, 75, 60, 40)
# Each round of shrinking leaves half of the pixels.
SMALLER = math.sqrt(0.5)
# How many pictures that a plan made are sent with its answer, the last ones; the others are named.
MAX_SENT_PICTURES = 4
CAPTION = 18
CAPTION_COLOR = (235, 235, 235)


@dataclass(frozen=True, slots=True)
class Captioned:
    """A PNG of a montage and what is written above it."""

    data: bytes
    caption: str


def sendable(png: bytes, largest: int = MAX_PICTURE_BYTES) -> Picture | None:
    """A PNG in the form in which it is sent; None for one that has more pixels than anything here renders, or that is broken: code may
    have left it."""
    if math.prod(picture_size(png)) > MAX_PIXELS:
        return None
    if len(png) <= min(SMALL_PNG_BYTES, largest):
        return Picture(png, "image/png")
    from PIL import Image  # loaded only when a picture is large

    try:
        with Image.open(io.BytesIO(png), formats=("PNG",)) as opened:
            picture = opened.convert("RGBA" if _is_transparent(opened) else "RGB")
    except (OSError, ValueError, SyntaxError):
        return None
    while True:
        for quality in QUALITIES:
            sent = _encoded(picture, quality)
            if len(sent.data) <= largest:
                return sent
        size = (max(1, int(picture.width * SMALLER)), max(1, int(picture.height * SMALLER)))
        picture = picture.resize(size, Image.Resampling.LANCZOS)


def _encoded(picture: Image.Image, quality: int) -> Picture:
    written = io.BytesIO()
    if picture.mode == "RGBA":
        picture.save(written, "WEBP", quality=quality)
        return Picture(written.getvalue(), "image/webp")
    picture.save(written, "JPEG", quality=quality, optimize=True)
    return Picture(written.getvalue(), "image/jpeg")


def _is_transparent(picture: Image.Image) -> bool:
    """Whether it can be seen through anywhere; an alpha of which nothing is made is no reason for another form."""
    if "A" not in picture.getbands():
        return False
    lowest: Any = picture.getchannel("A").getextrema()
    return lowest[0] < 255


def montage(pictures: Sequence[Captioned], *, columns: int | None = None, exact: bool = False) -> bytes:
    """PNG files as one PNG, row by row, each under its caption; as near to a square as may be, unless `columns` says otherwise.
    Each has the place of the smallest one. `exact`: what has to be smaller for that keeps its colours, rather than its looks."""
    from PIL import Image, ImageDraw

    read = [Image.open(io.BytesIO(each.data)).convert("RGB") for each in pictures]
    place = min(each.size for each in read)
    if exact:
        resampling = Image.Resampling.NEAREST
    else:
        resampling = Image.Resampling.LANCZOS
    width, height = place[0], place[1] + CAPTION
    columns = columns or math.ceil(math.sqrt(len(read)))
    whole = Image.new("RGB", (width * columns, height * math.ceil(len(read) / columns)))
    draw = ImageDraw.Draw(whole)
    for number, (picture, named) in enumerate(zip(read, pictures, strict=True)):
        left, top = number % columns * width, number // columns * height
        draw.text((left + 4, top + 3), named.caption, fill=CAPTION_COLOR)
        whole.paste(picture if picture.size == place else picture.resize(place, resampling), (left, top + CAPTION))
    written = io.BytesIO()
    whole.save(written, "PNG")
    return written.getvalue()


def picture_size(png: bytes) -> tuple[int, int]:
    """Width and height, from the head of the file."""
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


def with_pictures(response: ToolResponse, artifacts: Path) -> ToolResponse:
    """A response with the pictures that its call has made, as they are sent, and where the whole ones are.

    `artifacts` is the workspace's directory of them, whose files are resources too. Reads files: not for the thread of the event loop."""
    held = {each.path for each in response.images}
    paths = [Path(path) for path in response.outcome.artifacts if path.lower().endswith(".png")]
    # Pictures in a folder of artifacts are data, most of them no colours.
    found = (_read(path) for path in paths if path not in held and path.parent.parent != artifacts)
    made = [*(each for each in found if each is not None), *response.images]
    if not made:
        return response
    sent = made[-MAX_SENT_PICTURES:]
    pictures = [sendable(each.data, MAX_PICTURE_BYTES // len(sent)) for each in sent]
    told = [_told(each, pictures[number - len(made)] if number >= len(made) - len(sent) else None, artifacts)
            for number, each in enumerate(made)]  # fmt: skip
    if response.detail == "summary":
        told = [_briefly_told(each) for each in told]
    result: Mapping[str, Any] = {**(response.outcome.result or {}), "pictures": told}
    return replace(response, outcome=response.outcome.with_(result=result), images=tuple(filter(None, pictures)))


def pictures_made(operations: Sequence[OperationReport]) -> tuple[str, ...]:
    """The files that the operations of a plan have made."""
    return tuple(path for each in operations if each.details is not None for path in each.details.artifacts)


def from_outcome(outcome: Outcome) -> Picture:
    """The picture of a render that succeeded."""
    path = Path(outcome.artifacts[0])
    return Picture(read_file(path), "image/png", path)


def _read(path: Path) -> Picture | None:
    try:
        data = read_file(path)
    except OSError:
        return None  # it was made, and somebody has taken it away since
    if data.startswith(PNG_SIGNATURE):
        return Picture(data, "image/png", path)
    return None


def _told(whole: Picture, sent: Picture | None, artifacts: Path) -> dict[str, Any]:
    """Where the whole picture is, and in which form it was sent."""
    width, height = picture_size(whole.data)
    told: dict[str, Any] = {"width": width, "height": height, "bytes": len(whole.data)}
    if whole.path is not None:
        told["path"] = str(whole.path)
        if whole.path.parent == artifacts:
            told["resource"] = f"blendwright://artifacts/{whole.path.name}"
    if sent is None:
        told["sent"] = None
    else:
        told["sent"] = {"mime_type": sent.mime_type, "bytes": len(sent.data)}
    return told


def _briefly_told(told: Mapping[str, Any]) -> dict[str, Any]:
    """Its size and where it is; whoever has the picture sees the form that it was sent in."""
    left_out = {"bytes", "sent" if told["sent"] is not None else "", "resource" if "path" in told else ""}
    return {key: value for key, value in told.items() if key not in left_out}
