"""Parts of a scene that an audit compares: objects with an extent, their surfaces, and pairs of near objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.surfaces import SurfaceFacts, Surfaces
from blendwright.tools.bounding_boxes import MAX_COORDINATE, BoundingBox, Reach, around

NO_SURFACE = SurfaceFacts()


@dataclass(frozen=True, slots=True)
class Part:
    """An object with an extent. If it creates instances, the object's surface does not show the full extent."""

    obj: Block
    name: str
    facts: SurfaceFacts
    box: BoundingBox
    instances: bool

    @property
    def has_faces(self) -> bool:
        return self.facts.faces > 0


def parts_of(scene: Scene, objects: Sequence[Block], surfaces: Surfaces) -> list[Part]:
    """Return a part for each object that has an extent. Objects too large for single precision are left out."""
    reach = Reach(scene)
    parts: list[Part] = []
    for obj in objects:
        facts = surfaces.facts(obj)
        if facts is not None:
            corners = reach.instance_corners(obj)
        else:
            corners = reach.corners(obj)

        bounds = surfaces.bounds(obj)
        if bounds and not corners:
            box = BoundingBox(*bounds)
        elif bounds:
            box = around([*bounds, *corners])
        else:
            box = around(corners)
        if box is not None and all(-MAX_COORDINATE <= value <= MAX_COORDINATE for value in (*box.low, *box.high)):
            parts.append(Part(obj, obj.name, facts or NO_SURFACE, box, bool(corners)))
    return parts


def near_pairs(parts: Sequence[Part], within: float) -> Iterator[tuple[Part, Part]]:
    """Yield each pair of parts whose boxes are within a distance of each other, once, ordered by name.

    The sweep runs along the axis on which the parts are spread most.
    """
    if not parts:
        return
    axis = max(range(3), key=lambda candidate: _spread(parts, candidate))
    first, second = [candidate for candidate in range(3) if candidate != axis]
    ordered = sorted(parts, key=lambda part: (part.box.low[axis], part.name))
    active: list[Part] = []
    for part in ordered:
        low, high = part.box.low, part.box.high
        start, low_first, high_first = low[axis] - within, low[first] - within, high[first] + within
        low_second, high_second = low[second] - within, high[second] + within
        active = [earlier for earlier in active if earlier.box.high[axis] >= start]
        for earlier in active:
            box = earlier.box
            if (
                box.high[first] >= low_first
                and box.low[first] <= high_first
                and box.high[second] >= low_second
                and box.low[second] <= high_second
            ):
                if earlier.name < part.name:
                    yield earlier, part
                else:
                    yield part, earlier
        active.append(part)


def _spread(parts: Sequence[Part], axis: int) -> float:
    """Return how well an axis separates the parts: the range of their positions divided by their mean length."""
    lows = [part.box.low[axis] for part in parts]
    length = (sum(part.box.high[axis] for part in parts) - sum(lows)) / len(parts)
    return (max(lows) - min(lows)) / (length or 1.0)


def way_out(mover: BoundingBox, stays: BoundingBox) -> tuple[float, int]:
    """Return the shortest signed distance by which one box must move to leave another, and the axis of the move.

    The result is (0.0, 0) if the boxes are apart.
    """
    forward: list[tuple[float, int]] = []
    backward: list[tuple[float, int]] = []
    for axis in (2, 0, 1):
        up, down = stays.high[axis] - mover.low[axis], stays.low[axis] - mover.high[axis]
        if up <= 0.0 or down >= 0.0:
            return (0.0, 0)
        forward.append((up, axis))
        backward.append((down, axis))
    return min([*forward, *backward], key=lambda move: abs(move[0]))
