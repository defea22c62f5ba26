"""What a preview that shows names, depths or a mask tells of the objects in it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from blendwright.tool_api.arguments import Result, optional
from blendwright.tool_api.pictures import Sight
from blendwright.tools.render.rendering import Rendered

Show = Literal["SHADED", "NAMES", "DEPTH", "MASK"]
# So many are told of; the picture shows the others too.
MOST_OBJECTS = 40
MOST_UNSEEN = 20


class ObjectSeen(Result):
    """An object in a picture."""

    object: str = Field(description="Its name.")
    share: float = Field(description="Its share of the picture's pixels.")
    box: tuple[int, int, int, int] = Field(description="Left, top, right and bottom in pixels.")
    nearest: float = Field(description="How near it comes, in metres from the camera.")
    color: str = Field(description="Its colour in a mask.")


class Previewed(Rendered):
    """A picture that was taken, and what is seen in it where that was looked at."""

    seen: list[ObjectSeen] | None = optional(
        f"The objects in it, the largest first, at most {MOST_OBJECTS}; not told of SHADED."
    )
    unseen: list[str] | None = optional(
        f"Objects that renders show and this picture does not, at most {MOST_UNSEEN}: outside of it, or behind others."
    )
    depths: tuple[float, float] | None = optional("The nearest and the farthest depth in it, in metres.")


def closer_look(found: Sight) -> dict[str, Any]:
    """The fields of `Previewed` for what was seen."""
    return {
        "seen": [
            ObjectSeen(
                object=each.name,
                share=round(each.share, 4),
                box=each.box,
                nearest=round(each.nearest, 3),
                color=each.color,
            )
            for each in found.objects[:MOST_OBJECTS]
        ],
        "unseen": list(found.unseen[:MOST_UNSEEN]),
        "depths": None if found.depths is None else (round(found.depths[0], 3), round(found.depths[1], 3)),
    }
