"""What is told of the pictures of a look beside them, as shortly as it can be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blendwright.server.pictures.pictures import picture_size
from blendwright.server.pictures.quality import LookQuality
from blendwright.tools.render.rendering import ended_early_note
from blendwright.values.outcome import Outcome

# Names of what the picture itself says.
OMITTED_KEYS = frozenset({"ok", "artifact", "width", "height", "pixels_sha256", "notes"})
# More samples than this part of those that were asked for are as good as all.
AS_GOOD_AS_ALL = 7 / 8
# An estimate is out by so much at times.
SAFELY = 1.25
SMALLEST_SHARE = 0.001
MEANINGS = (
    "difference: mean of colours, 0 to 1; differing: share of pixels that visibly differ; "
    "silhouette_iou: area that both outlines share, of what either has"
)


@dataclass(frozen=True, slots=True)
class LookPicture:
    """One picture of a look: what it is called, what it was made with, and what its render answered."""

    caption: str
    made: LookQuality
    outcome: Outcome
    data: bytes

    @property
    def result(self) -> Mapping[str, Any]:
        return self.outcome.result or {}

    @property
    def samples(self) -> int:
        """One that had to end early has fewer than it was meant to have."""
        return self.result.get("samples") or self.made.samples


@dataclass(frozen=True, slots=True)
class TimeNeeded:
    """How long all that was asked for would take, how long it was allowed to, and how long a look ever is."""

    seconds: float
    allowed: float
    most: float


def description_of(pictures: Sequence[LookPicture], wanted: LookQuality, needed: TimeNeeded) -> dict[str, Any]:
    """What the pictures show and what they were made with. All of them have the size of the smallest."""
    size = min(picture_size(each.data) for each in pictures)
    about: dict[str, Any] = {
        "views": [each.caption for each in pictures],
        "engine": wanted.engine,
        "each": list(size),
    }
    fewest = min(each.samples for each in pictures)
    if wanted.sampled:
        about["samples"] = fewest
    early = {ended_early_note(each.samples, each.made.samples) for each in pictures}
    notes = dict.fromkeys(note for each in pictures for note in each.result.get("notes") or () if note not in early)
    if notes:
        about["notes"] = list(notes)
    least = min((each.made for each in pictures), key=lambda made: made.work)
    lowered = list(_lowered(wanted, least, size, fewest))
    if lowered:
        about["reduced"] = f"{', '.join(lowered)}: {_cure(needed)}"
    if wanted.show != "SHADED":
        about["show"] = wanted.show
        about["seen"] = {each.caption: _seen(each, size[0]) for each in pictures}
    return about


def _lowered(wanted: LookQuality, made: LookQuality, size: tuple[int, int], samples: int) -> Iterable[str]:
    """What is less than was asked for, where that can be seen."""
    smaller = made.width < wanted.width
    if wanted.sampled and (samples <= wanted.samples * AS_GOOD_AS_ALL or (smaller and samples < wanted.samples)):
        yield f"samples {samples} of {wanted.samples}"
    if smaller:
        shaped = size != (made.width, made.height)  # as the scene's render is
        if shaped:
            whole = [round(side * wanted.width / made.width) for side in size]
        else:
            whole = [wanted.width, wanted.height]
        yield f"size {size[0]}x{size[1]} of {whole[0]}x{whole[1]}"
    if wanted.smooth and not made.smooth:
        yield "edges not smooth"


def _cure(needed: TimeNeeded) -> str:
    seconds = needed.seconds * SAFELY
    if seconds <= needed.allowed:
        return "look again for all of it"
    # Numbers that one would write.
    if seconds < 10:
        step = 1
    elif seconds < 60:
        step = 5
    else:
        step = 10
    rounded = math.ceil(seconds / step) * step
    if rounded > needed.most:
        return f"all of it would take about {rounded} s, longer than a look may"
    return f"for all of it give seconds: {rounded}"


def _seen(picture: LookPicture, width: int) -> dict[str, Any]:
    """What is seen where. Names are in the picture: their shares say which are hard to find. A mask and depths need a box and a colour or
    a distance for each, in the pixels of a panel."""
    result, show = picture.result, picture.made.show
    found: Sequence[Mapping[str, Any]] = result.get("seen") or ()
    told: dict[str, Any]
    if show == "NAMES":
        told = {"objects": ", ".join(f"{one['object']} {_share(one['share'])}" for one in found)}
    else:
        scale = width / picture_size(picture.data)[0]
        if show == "MASK":
            key = "color"
        else:
            key = "nearest"
        told = {
            "objects": {
                one["object"]: [_share(one["share"]), [round(side * scale) for side in one["box"]], one[key]]
                for one in found
            }
        }
    if result.get("unseen"):
        told["unseen"] = result["unseen"]
    return told | ({"depths_m": result["depths"]} if show == "DEPTH" else {})


def _share(share: float) -> str:
    if share >= SMALLEST_SHARE:
        return f"{share:.1%}"
    return "<0.1%"


def comparison_of(compared: Mapping[str, Outcome]) -> dict[str, Any]:
    """How far pictures agree, by what they are called: a row of figures for each, and what these mean."""
    every = {caption: outcome.result or {} for caption, outcome in compared.items()}
    rows = {
        caption: {key: each for key, each in told.items() if key not in OMITTED_KEYS} for caption, told in every.items()
    }
    first = next(iter(rows.values()))
    commits = {key: first[key] for key in ("before", "after") if key in first}
    notes = dict.fromkeys(note for told in every.values() for note in told.get("notes") or ())
    if len(rows) > 1:
        for row in rows.values():
            for key in commits:
                row.pop(key)
        figures: dict[str, Any] = {**commits, "compared": rows}
    else:
        figures = first
    return {**figures, "meaning": MEANINGS, **({"notes": list(notes)} if notes else {})}
