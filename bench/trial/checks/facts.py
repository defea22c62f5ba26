"""Reading the facts of a scene: what checks of several tasks ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Facts = dict[str, Any]
Objects = dict[str, dict[str, Any]]


def named(facts: Facts, *stems: str) -> Objects:
    """Meshes, and curves that may stand for them, that reach somewhere and whose names have one of these stems, in any case."""
    objects: Objects = facts["objects"]
    return {
        name: one
        for name, one in objects.items()
        if one["type"] in ("MESH", "CURVE") and one["low"] is not None and any(stem in name.lower() for stem in stems)
    }


def near(value: float, wanted: float, tolerance: float = 0.02) -> bool:
    return abs(value - wanted) <= tolerance


def seen(facts: Facts, names: Objects) -> Iterator[str]:
    if facts["camera"] is None:
        yield "the scene has no camera"
    elif outside := sorted(name for name, one in names.items() if not one["in_frame"]):
        yield f"the camera does not see all of {', '.join(outside[:3])}"


def light(facts: Facts, kind: str | None = None) -> Iterator[str]:
    lights = [one["light"] for one in facts["objects"].values() if one["light"]]
    if not any(light[1] > 0 and kind in (None, light[0]) for light in lights):
        yield f"there is no {kind or 'light'} that shines"


def colors(objects: Objects) -> set[tuple[float, ...]]:
    return {
        tuple(round(part, 3) for part in one["materials"][0]["color"]) for one in objects.values() if one["materials"]
    }
