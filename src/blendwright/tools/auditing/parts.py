"""Parts of a scene that an audit compares: objects that have an extent, with their surfaces, and which of them are near each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.surfaces import SurfaceFacts, Surfaces
from blendwright.tools.bounding_boxes import MAX_COORDINATE, BoundingBox, Reach, around

NO_SURFACE = SurfaceFacts()


@dataclass(frozen=True, slots=True)
class Part:
    """An object with an extent. One that makes instances has no surface of its own that would say where it ends."""

    obj: Block
    name: str
    facts: SurfaceFacts
    box: BoundingBox
    instances: bool

    @property
    def has_faces(self) -> bool:
        return self.facts.faces > 0


def parts_of(scene: Scene, objects: Sequence[Block], surfaces: Surfaces) -> list[Part]:
    """Those of the objects that reach somewhere; what reaches too far to compute with is left out."""
    reach = Reach(scene)
    parts: list[Part] = []
    for obj in objects:
        facts = surfaces.facts(obj)
        if facts is not None:
            corners = reach.instance_corners(obj)
        else:
            corners = reach.corners(obj)
        own = surfaces.bounds(obj)
        if own and not corners:
            box = BoundingBox(*own)
        else:
            box = around([*(own or ()), *corners])
        if box is not None and all(-MAX_COORDINATE <= value <= MAX_COORDINATE for value in (*box.low, *box.high)):
            parts.append(Part(obj, obj.name, facts or NO_SURFACE, box, bool(corners)))
    return parts


def near_pairs(parts: Sequence[Part], within: float) -> Iterator[tuple[Part, Part]]:
    """Pairs whose boxes come closer than a distance, each once, along the axis on which the parts are spread most."""
    if not parts:
        return
    axis = max(range(3), key=lambda each: _spread(parts, each))
    first, second = (each for each in range(3) if each != axis)
    ordered = sorted(parts, key=lambda part: (part.box.low[axis], part.name))
    active: list[Part] = []
    for part in ordered:
        low, high = part.box.low, part.box.high
        start, left, right = low[axis] - within, low[first] - within, high[first] + within
        front, back = low[second] - within, high[second] + within
        active = [one for one in active if one.box.high[axis] >= start]
        for one in active:
            box = one.box
            if (
                box.high[first] >= left
                and box.low[first] <= right
                and box.high[second] >= front
                and box.low[second] <= back
            ):
                yield (one, part) if one.name < part.name else (part, one)
        active.append(part)


def _spread(parts: Sequence[Part], axis: int) -> float:
    """How well the parts can be told apart along an axis: where they lie, against how long they are."""
    lows = [part.box.low[axis] for part in parts]
    length = (sum(part.box.high[axis] for part in parts) - sum(lows)) / len(parts)
    return (max(lows) - min(lows)) / (length or 1.0)


def way_out(mover: BoundingBox, stays: BoundingBox) -> tuple[float, int]:
    """The shortest way along an axis by which one box leaves another: how far, with its sign, and the axis. Zero where they are apart."""
    ways = [(stays.high[axis] - mover.low[axis], axis) for axis in (2, 0, 1)]
    ways += [(stays.low[axis] - mover.high[axis], axis) for axis in (2, 0, 1)]
    away = any(mover.low[axis] >= stays.high[axis] or mover.high[axis] <= stays.low[axis] for axis in range(3))
    if away:
        return (0.0, 0)
    return min(ways, key=lambda way: abs(way[0]))
