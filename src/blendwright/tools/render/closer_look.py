"""Facts about the objects in a preview that shows names, depths or a mask."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from blendwright.tool_api.arguments import Result, optional
from blendwright.tool_api.pictures import Sight
from blendwright.tools.render.rendering import Rendered

Show = Literal["SHADED", "NAMES", "DEPTH", "MASK"]
# Largest numbers of objects in a result. The picture shows further objects too.
MAX_OBJECTS = 40
MAX_UNSEEN = 20


class ObjectSeen(Result):
    """An object that a picture shows."""

    object: str = Field(description="Name of the object.")
    share: float = Field(description="Its share of the picture's pixels, from 0 to 1.")
    box: tuple[int, int, int, int] = Field(description="Left, top, right and bottom in pixels.")
    nearest: float = Field(description="Smallest distance from the camera in metres.")
    color: str = Field(description="Its colour in a mask.")


class Previewed(Rendered):
    """A rendered picture, with the objects that it shows if the caller asked for NAMES, DEPTH or MASK."""

    seen: list[ObjectSeen] | None = optional(
        f"Objects that the picture shows, the largest first, at most {MAX_OBJECTS}; omitted for SHADED."
    )
    unseen: list[str] | None = optional(
        f"Objects that renders show and this picture does not, at most {MAX_UNSEEN}: outside the picture, or hidden by others."
    )
    depths: tuple[float, float] | None = optional("Smallest and largest depth in the picture, in metres.")


def closer_look(sight: Sight) -> dict[str, Any]:
    """Return the fields of `Previewed` for the objects in a picture."""
    seen: list[ObjectSeen] = []
    for item in sight.objects[:MAX_OBJECTS]:
        share, nearest = round(item.share, 4), round(item.nearest, 3)
        seen.append(ObjectSeen(object=item.name, share=share, box=item.box, nearest=nearest, color=item.color))
    depths: tuple[float, float] | None = None
    if sight.depths is not None:
        depths = (round(sight.depths[0], 3), round(sight.depths[1], 3))
    return {"seen": seen, "unseen": list(sight.unseen[:MAX_UNSEEN]), "depths": depths}
