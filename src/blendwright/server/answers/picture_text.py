"""The text about pictures in an answer, as short as possible."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blendwright.server.pictures.pictures import picture_size
from blendwright.server.pictures.quality import LookQuality
from blendwright.tools.render.rendering import ended_early_note
from blendwright.values.outcome import Outcome

# Fields of a comparison that the picture itself shows.
OMITTED_KEYS = frozenset({"ok", "artifact", "width", "height", "pixels_sha256", "notes"})
# The share of the requested samples above which a picture is as good as with all of them.
AS_GOOD_AS_ALL = 7 / 8
# The factor by which an estimate of seconds may be too low.
ESTIMATE_MARGIN = 1.25
MIN_SHARE = 0.001
MEANINGS = (
    "difference: mean of colours, 0 to 1; differing: share of pixels that visibly differ; "
    "silhouette_iou: area in both outlines, as a share of the area in either"
)


@dataclass(frozen=True, slots=True)
class LookPicture:
    """A picture of a look: its caption, the quality that made it, and the outcome of its render."""

    caption: str
    made: LookQuality
    outcome: Outcome
    data: bytes

    @property
    def result(self) -> Mapping[str, Any]:
        """Return the result of the render, empty if the render returned none."""
        return self.outcome.result or {}

    @property
    def samples(self) -> int:
        """Return the samples per pixel that the render took. A render that ended early has fewer than requested."""
        return self.result.get("samples") or self.made.samples


@dataclass(frozen=True, slots=True)
class TimeNeeded:
    """The seconds that a look needs for full quality, the seconds that it was allowed, and the most that any look may
    take.
    """

    seconds: float
    allowed: float
    most: float


def description_of(pictures: Sequence[LookPicture], wanted: LookQuality, needed: TimeNeeded) -> dict[str, Any]:
    """Return what the pictures show and their quality. All pictures have the size of the smallest one.

    `wanted` is the requested quality. `reduced` reports what is lower than requested and how to get full quality.
    """
    size = min(picture_size(picture.data) for picture in pictures)
    description: dict[str, Any] = {
        "views": [picture.caption for picture in pictures],
        "engine": wanted.engine,
        "each": list(size),
    }
    fewest_samples = min(picture.samples for picture in pictures)
    if wanted.sampled:
        description["samples"] = fewest_samples

    notes: dict[str, None] = {}
    for picture in pictures:
        notes.update(dict.fromkeys(picture.result.get("notes") or ()))
    for picture in pictures:
        notes.pop(ended_early_note(picture.samples, picture.made.samples), None)
    if notes:
        description["notes"] = list(notes)

    lowest = min((picture.made for picture in pictures), key=lambda quality: quality.work)
    lowered = list(_lowered(wanted, lowest, size, fewest_samples))
    if lowered:
        description["reduced"] = f"{', '.join(lowered)}: {_advice(needed)}"
    if wanted.show != "SHADED":
        description["show"] = wanted.show
        description["seen"] = {picture.caption: _seen(picture, size[0]) for picture in pictures}
    return description


def _lowered(wanted: LookQuality, made: LookQuality, size: tuple[int, int], samples: int) -> Iterable[str]:
    """Yield each property that is visibly lower than requested."""
    smaller = made.width < wanted.width
    if wanted.sampled and (samples <= wanted.samples * AS_GOOD_AS_ALL or (smaller and samples < wanted.samples)):
        yield f"samples {samples} of {wanted.samples}"
    if smaller:
        width, height = wanted.width, wanted.height
        has_render_shape = size != (made.width, made.height)
        if has_render_shape:
            scale = wanted.width / made.width
            width, height = round(size[0] * scale), round(size[1] * scale)
        yield f"size {size[0]}x{size[1]} of {width}x{height}"
    if wanted.smooth and not made.smooth:
        yield "edges not smooth"


def _advice(needed: TimeNeeded) -> str:
    seconds = needed.seconds * ESTIMATE_MARGIN
    if seconds <= needed.allowed:
        return "call again for full quality"
    # Round up to a number that a person would write.
    if seconds < 10:
        step = 1
    elif seconds < 60:
        step = 5
    else:
        step = 10
    rounded = math.ceil(seconds / step) * step
    if rounded > needed.most:
        return f"full quality would take about {rounded} s, longer than a look may take"
    return f"for full quality pass seconds: {rounded}"


def _seen(picture: LookPicture, width: int) -> dict[str, Any]:
    """Return which objects a picture shows and where.

    For captions of names it lists the share of each object. For masks and depths it adds the box in pixels of the
    montage panel and the colour or distance.
    """
    result, show = picture.result, picture.made.show
    visible_objects: Sequence[Mapping[str, Any]] = result.get("seen") or ()
    report: dict[str, Any]
    if show == "NAMES":
        report = {
            "objects": ", ".join(f"{visible['object']} {_share(visible['share'])}" for visible in visible_objects)
        }
    else:
        scale = width / picture_size(picture.data)[0]
        if show == "MASK":
            key = "color"
        else:
            key = "nearest"
        report = {
            "objects": {
                visible["object"]: [
                    _share(visible["share"]),
                    [round(side * scale) for side in visible["box"]],
                    visible[key],
                ]
                for visible in visible_objects
            }
        }
    if result.get("unseen"):
        report["unseen"] = result["unseen"]
    return report | ({"depths_m": result["depths"]} if show == "DEPTH" else {})


def _share(share: float) -> str:
    if share >= MIN_SHARE:
        return f"{share:.1%}"
    return "<0.1%"


def comparison_of(compared: Mapping[str, Outcome]) -> dict[str, Any]:
    """Return the figures of each comparison by caption, and the meaning of the figures."""
    rows: dict[str, dict[str, Any]] = {}
    notes: dict[str, None] = {}
    for caption, outcome in compared.items():
        result = outcome.result or {}
        rows[caption] = {key: value for key, value in result.items() if key not in OMITTED_KEYS}
        notes.update(dict.fromkeys(result.get("notes") or ()))

    first = next(iter(rows.values()))
    commits = {key: first[key] for key in ("before", "after") if key in first}
    if len(rows) > 1:
        for row in rows.values():
            for key in commits:
                row.pop(key)
        figures: dict[str, Any] = {**commits, "compared": rows}
    else:
        figures = first

    comparison = {**figures, "meaning": MEANINGS}
    if notes:
        comparison["notes"] = list(notes)
    return comparison
