"""What must be true of the scene that a task asks for. Each check yields sentences about what is wrong; none means that it passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

Facts = dict[str, Any]
Objects = dict[str, dict[str, Any]]


def _named(facts: Facts, *stems: str) -> Objects:
    """Meshes whose names have one of these stems, in any case."""
    objects: Objects = facts["objects"]
    return {
        name: one
        for name, one in objects.items()
        if one["type"] == "MESH" and any(stem in name.lower() for stem in stems)
    }


def _near(value: float, wanted: float, tolerance: float = 0.02) -> bool:
    return abs(value - wanted) <= tolerance


def _seen(facts: Facts, names: Objects) -> Iterator[str]:
    if facts["camera"] is None:
        yield "the scene has no camera"
    elif outside := sorted(name for name, one in names.items() if not one["in_frame"]):
        yield f"the camera does not see all of {', '.join(outside[:3])}"


def _light(facts: Facts, kind: str | None = None) -> Iterator[str]:
    lights = [one["light"] for one in facts["objects"].values() if one["light"]]
    if not any(light[1] > 0 and kind in (None, light[0]) for light in lights):
        yield f"there is no {kind or 'light'} that shines"


def _colors(objects: Objects) -> set[tuple[float, ...]]:
    return {
        tuple(round(part, 3) for part in one["materials"][0]["color"]) for one in objects.values() if one["materials"]
    }


def brick_arch(facts: Facts) -> Iterator[str]:
    key = facts["objects"].get("Keystone")
    bricks = {
        name: one
        for name, one in _named(facts, "").items()
        if max(one["dimensions"]) < 1.2 and name != "Keystone" and one["materials"]
    }
    if key is None or not key["materials"]:
        yield "there is no Keystone with a material"
        return
    curve = {name: one for name, one in bricks.items() if one["location"][2] > 2.0}
    pillars = {name: one for name, one in bricks.items() if one["location"][2] <= 2.0}
    if len(curve) != 14:
        yield f"the arch has {len(curve)} bricks beside the keystone, not 14"
    for name, one in curve.items():
        x, _, z = one["location"]
        if not _near(math.hypot(x, z - 2.0), 1.3, 0.15):
            yield f"{name} is not on the half circle"
    for side in (-1, 1):
        own = [one for one in pillars.values() if one["location"][0] * side > 0]
        if not own:
            yield "a pillar is missing"
            continue
        low = [min(one["low"][axis] for one in own) for axis in range(3)]
        high = [max(one["high"][axis] for one in own) for axis in range(3)]
        inner = low[0] if side > 0 else -high[0]
        if not (_near(low[2], 0, 0.03) and _near(high[2], 2.0, 0.03)):
            yield "a pillar is not 2 m high on the ground"
        if not (_near(high[0] - low[0], 0.6) and _near(high[1] - low[1], 0.6) and _near(inner, 1.0)):
            yield "a pillar is not 0.6 m square beside a gap of 2 m"
        if len({round(one["location"][2], 2) for one in own}) != 10:
            yield "a pillar does not have ten courses"
    if not (_near(key["location"][0], 0) and key["location"][2] > 3.1):
        yield "the keystone is not in the middle of the arch"
    if curve and math.prod(key["dimensions"]) <= max(math.prod(one["dimensions"]) for one in curve.values()):
        yield "the keystone is not bigger than the others"
    reds = _colors(bricks)
    if len(reds) < 2 or not all(red > 1.5 * max(green, blue) for red, green, blue in reds):
        yield "the bricks are not of two reds or more"
    elif sum(key["materials"][0]["color"]) <= max(map(sum, reds)):
        yield "the keystone is not lighter"
    if not any(one["high"][2] < 0.05 and one["dimensions"][0] > 3.5 for one in _named(facts, "").values()):
        yield "there is no ground"
    yield from _light(facts, "SUN")
    yield from _seen(facts, {**bricks, "Keystone": key})


def parametric_stairs(facts: Facts) -> Iterator[str]:
    objects: Objects = facts["objects"]
    if objects.get("Stairs", {}).get("type") != "EMPTY":
        yield "there is no empty called Stairs"
    steps = _named(facts, "step_")
    wanted = [f"Step_{number:02}" for number in range(1, 15)]
    if sorted(steps) != wanted:
        yield f"the steps are {len(steps)}, not Step_01 to Step_14"
        return
    for number, name in enumerate(wanted, start=1):
        one = steps[name]
        middle = (one["low"][1] + one["high"][1]) / 2
        if not _near(one["high"][2], 0.18 * number, 0.005):
            yield f"the top of {name} is not at {0.18 * number:.2f} m"
        if not _near(middle, 0.28 * (number - 0.5), 0.03) or not _near(one["high"][1] - one["low"][1], 0.28, 0.06):
            yield f"{name} is not where its run is"
        if not (_near(one["high"][0], 0.6) and _near(one["low"][0], -0.6)):
            yield f"{name} is not 1.2 m wide and centred"
    posts, rails = _named(facts, "post"), _named(facts, "rail")
    if len(posts) < 7 or not rails:
        yield "posts or rail are missing"
        return
    if any(one["location"][0] < 0.4 for one in posts.values()):
        yield "a post is not on the right side"
    for name, one in posts.items():
        if not any(_near(one["low"][2], step["high"][2], 0.03) for step in steps.values()):
            yield f"{name} does not stand on a step"
        if not _near(one["high"][2] - one["low"][2], 0.9, 0.15):
            yield f"{name} is not about 0.9 m high"
    ends = [(min if low else max)(one["low" if low else "high"][1] for one in rails.values()) for low in (True, False)]
    spread = [one["location"][1] for one in posts.values()]
    if ends[0] > min(spread) or ends[1] < max(spread):
        yield "the rail does not run along all the posts"
    if any(one["parent"] != "Stairs" for one in {**steps, **posts, **rails}.values()):
        yield "not everything belongs to Stairs"
    if not all(one["materials"] and one["materials"][0]["metallic"] > 0.5 for one in rails.values()):
        yield "the rail is not of metal"
    if not all(one["materials"] and one["materials"][0]["metallic"] < 0.5 for one in steps.values()):
        yield "the steps are not of wood"
    yield from _light(facts)
    yield from _seen(facts, {**steps, **posts, **rails})


def reading_corner(facts: Facts) -> Iterator[str]:
    chair, table, lamp = _named(facts, "chair"), _named(facts, "table"), _named(facts, "lamp")
    shelf, walls, rug = _named(facts, "shelf"), _named(facts, "wall"), _named(facts, "rug", "carpet")
    books = _named(facts, "book")
    floor = [one for one in _named(facts, "floor").values() if _near(one["high"][2], 0, 0.01)]
    for what, found in {
        "chair": chair,
        "table": table,
        "lamp": lamp,
        "shelf": shelf,
        "rug": rug,
        "floor": floor,
    }.items():
        if not found:
            yield f"there is no {what}"
            return
    if len(walls) != 2:
        yield "there are not two walls"
    legs, seats = [one for name, one in chair.items() if "leg" in name.lower()], _named(facts, "seat")
    if len(legs) != 4 or len([name for name in chair if "arm_" in name.lower()]) < 2:
        yield "the chair does not have four legs and two arms"
    if not any(_near(one["high"][2], 0.45, 0.06) for one in seats.values()):
        yield "the seat is not at about 0.45 m"
    if not _near(max(one["high"][2] for one in shelf.values()), 1.8, 0.15):
        yield "the shelf is not about 1.8 m high"
    table_top = max(one["high"][2] for one in table.values())
    standing = {name: one for name, one in books.items() if name not in _stacked(books, table_top)}
    if len(_stacked(books, table_top)) < 3:
        yield "there is no stack of three books on the table"
    if len(standing) < 12 or len(_colors(standing)) < 3:
        yield "the shelf does not hold a dozen books of different colours"
    boards = sorted(one["high"][2] for one in shelf.values() if one["dimensions"][2] < 0.06)
    if len(boards) < 3:
        yield "the bookshelf has less than three shelves"
    for name, one in standing.items():
        if not any(_near(one["low"][2], board, 0.01) for board in boards):
            yield f"{name} does not stand on a shelf"
    rug_top = max(one["high"][2] for one in rug.values())
    for what, group in {"chair": chair, "table": table, "lamp": lamp, "shelf": shelf}.items():
        bottom = min(one["low"][2] for one in group.values())
        if not -0.005 <= bottom <= rug_top + 0.005:
            yield f"the {what} floats or stands in the floor"
    if not any(one["light"] and one["light"][2] > one["light"][4] for one in facts["objects"].values()):
        yield "no warm light shines"
    yield from _seen(facts, {**chair, **table, **lamp, **shelf})


def _stacked(books: Objects, table_top: float) -> set[str]:
    """Books that lie on each other, beginning on the table."""
    found: set[str] = set()
    height = table_top
    while True:
        above = [
            (one["high"][2], name)
            for name, one in books.items()
            if name not in found and _near(one["low"][2], height, 0.003)
        ]
        above = [entry for entry in above if entry[0] - height < 0.1]
        if not above:
            return found
        height, name = min(above)
        found.add(name)


CHECKS: dict[str, Callable[[Facts], Iterator[str]]] = {
    "brick_arch": brick_arch,
    "parametric_stairs": parametric_stairs,
    "reading_corner": reading_corner,
}
