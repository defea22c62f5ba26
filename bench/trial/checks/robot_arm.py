from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from bench.trial.checks.facts import Facts, Objects, light

# Each hangs on the one before it; the words are those that its name may have.
CHAIN = {
    "base": ("base",),
    "turntable": ("turntable",),
    "upper arm": ("upperarm",),
    "forearm": ("forearm", "lowerarm"),
    "wrist": ("wrist",),
    "finger": ("finger",),
}
# How far outside of the part before it a joint may be, in metres.
NEAR_JOINT = 0.06


def robot_arm(facts: Facts) -> Iterator[str]:
    objects: Objects = facts["objects"]
    parts = {part: _part(objects, words) for part, words in CHAIN.items()}
    fingers = sorted(_fingers(objects))
    if missing := [part for part, name in parts.items() if name is None]:
        yield f"there is no {missing[0]}"
        return
    if len(fingers) != 2:
        yield f"there are {len(fingers)} fingers, not two"
        return
    names = [str(parts[part]) for part in CHAIN]
    for before, name in zip(names, [*names[1:-1], *fingers[:1]], strict=False):
        if before not in _ancestors(objects, name):
            yield f"{name} does not hang on {before}"
            return
    if not set(_ancestors(objects, fingers[1])) >= {names[-2]}:
        yield f"{fingers[1]} does not hang on {names[-2]}"
        return
    yield from _joints(objects, names[:-1])
    yield from _moves(facts, names, fingers)
    yield from _paint(objects)
    yield from light(facts)
    if facts["camera"] is None:
        yield "the scene has no camera"
    elif outside := {
        name for frame in facts["motion"].values() for name, one in frame.items() if one["in_frame"] is False
    }:
        yield f"the camera does not always see {sorted(outside)[0]}"


def _plain(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalpha())


def _part(objects: Objects, words: tuple[str, ...]) -> str | None:
    """Of what has such a name, the one that everything else of it hangs on."""
    found = [name for name in objects if any(word in _plain(name) for word in words)]
    return min(found, key=lambda name: (len(_ancestors(objects, name)), len(name)), default=None)


def _fingers(objects: Objects) -> list[str]:
    found = [name for name in objects if "finger" in _plain(name)]
    return [name for name in found if not set(_ancestors(objects, name)) & set(found)]


def _ancestors(objects: Objects, name: str) -> list[str]:
    found: list[str] = []
    while (parent := objects[name]["parent"]) is not None and parent in objects:
        found.append(parent)
        name = parent
    return found


def _joints(objects: Objects, names: list[str]) -> Iterator[str]:
    """Whether each origin is where the part before it ends, and at an end of its own."""
    own = {name: _meshes_of(objects, name, names) for name in names}
    for before, name in pairwise(names):
        if not own[before] or not own[name]:
            yield f"{before if not own[before] else name} has no shape"
            continue
        low, high = _bounds(own[before])
        origin = objects[name]["location"]
        if not all(low[axis] - NEAR_JOINT <= origin[axis] <= high[axis] + NEAR_JOINT for axis in range(3)):
            yield f"the origin of {name} is not at its joint with {before}"
        if _plain(name).startswith(("upper", "fore", "lower")):
            low, high = _bounds(own[name])
            middle = [(low[axis] + high[axis]) / 2 for axis in range(3)]
            if math.dist(origin, middle) < 0.25 * max(high[axis] - low[axis] for axis in range(3)):
                yield f"the origin of {name} is in its middle"


def _meshes_of(objects: Objects, name: str, parts: list[str]) -> list[dict[str, Any]]:
    """The shapes of a part: its own, and what hangs on it but on no later part."""
    later = set(parts[parts.index(name) + 1 :])
    return [
        one
        for other, one in objects.items()
        if one["low"] is not None
        and (other == name or (name in _ancestors(objects, other) and other not in later and not later & set(_ancestors(objects, other))))
    ]  # fmt: skip


def _bounds(meshes: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    low = [min(one["low"][axis] for one in meshes) for axis in range(3)]
    return low, [max(one["high"][axis] for one in meshes) for axis in range(3)]


def _moves(facts: Facts, names: list[str], fingers: list[str]) -> Iterator[str]:
    if facts["frames"][1] - facts["frames"][0] not in (59, 60):
        yield f"the animation has the frames {facts['frames'][0]} to {facts['frames'][1]}, not 60"
    motion = list(facts["motion"].values())
    first, last = motion[0], motion[-1]
    turned = max(_angle(first[names[1]], frame[names[1]]) for frame in motion)
    if not 87 <= turned <= 93:
        yield f"the turntable turns by {turned:.0f} degrees, not by 90"
    if max(_angle(first[names[2]], frame[names[2]]) for frame in motion) < 10:
        yield "the upper arm does not bend"
    apart = [math.dist(*(frame[name]["middle"] for name in fingers)) for frame in motion]
    if apart[-1] > 0.8 * apart[0]:
        yield "the fingers do not close"
    elif apart[len(apart) // 2] < 0.9 * apart[0]:
        yield "the fingers close before the end"
    far = math.dist(first[names[4]]["middle"], last[names[4]]["middle"])
    if far < 0.2:
        yield "the wrist is not taken along"


def _angle(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Degrees between two rotations of a part, in the space of its parent."""
    same = abs(sum(a * b for a, b in zip(one["rotation"], other["rotation"], strict=True)))
    return math.degrees(2 * math.acos(min(1.0, same)))


def _paint(objects: Objects) -> Iterator[str]:
    materials = [material for one in objects.values() for material in one["materials"]]
    if not any(r > 0.4 and 0.1 * r < g < 0.75 * r and b < 0.5 * g for r, g, b in (each["color"] for each in materials)):
        yield "no part is painted orange"
    grey = (each for each in materials if max(each["color"]) < 0.25 and max(each["color"]) - min(each["color"]) < 0.05)
    if not any(each["metallic"] > 0.5 for each in grey):
        yield "no joint is of dark grey metal"
