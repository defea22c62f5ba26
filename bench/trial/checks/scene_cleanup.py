from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bench.trial.checks.facts import Facts, Objects, near

# What stands where in the scene that the task begins with, by its place along X.
KINDS = {"chair": (-2.5, -0.8), "table": (-0.8, 1.2), "lamp": (1.2, 2.8)}
DEFAULT_NAMES = re.compile(r"(Cube|Cylinder|Cone|Sphere|Plane|Point|Empty)\b|.*\.\d{3}$")
# Which objects are expected in which collection; a lamp is furniture, and a light too.
PLACES = {"LIGHT": {"lights"}, "CAMERA": {"cameras"}}


def scene_cleanup(facts: Facts) -> Iterator[str]:
    start: Facts = facts["start"]
    objects: Objects = facts["objects"]
    for name, one in objects.items():
        if DEFAULT_NAMES.match(name):
            yield f"{name} has no proper name"
        if not all(near(part, 1, 1e-3) for part in one["scale"]):
            yield f"the scale of {name} is not applied"
        wanted = PLACES.get(one["type"], {"furniture"})
        wanted = {"furniture", "lights"} if name.lower().startswith("lamp") and one["type"] == "MESH" else wanted
        if {collection.lower() for collection in one["collections"]} & wanted == set() or len(one["collections"]) > 1:
            yield f"{name} is not in the collection {' or '.join(sorted(wanted))} alone"
        kind = _kind(one)
        if one["type"] == "MESH" and kind and not name.lower().startswith(kind):
            yield f"{name} is a part of the {kind}"
    yield from _looks(objects, start["objects"])
    yield from _leftovers(facts, start)


def _kind(one: dict[str, Any]) -> str | None:
    middle = (one["low"][0] + one["high"][0]) / 2 if one["low"] else one["location"][0]
    return next((kind for kind, (low, high) in KINDS.items() if low < middle < high), None)


def _looks(objects: Objects, before: Objects) -> Iterator[str]:
    """Whether each thing that was seen is there still, of the same size and colour at the same place."""
    left = [one for one in objects.values() if not one["hidden"]]
    for name, one in before.items():
        if one["hidden"]:
            continue
        same = next((other for other in left if _alike(one, other)), None)
        if same is None:
            yield f"what was {name} looks different or is gone"
        else:
            left.remove(same)
    if left:
        yield f"{len(left)} objects are new"


def _alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    places = ("low", "high") if one["low"] else ("location",)
    return (
        one["type"] == other["type"]
        and (other["low"] is not None or one["low"] is None)
        and all(near(a, b, 0.002) for place in places for a, b in zip(one[place], other[place], strict=True))
        and [material["color"] for material in one["materials"]]
        == [material["color"] for material in other["materials"]]
        and one["triangles"] == other["triangles"]
    )


def _leftovers(facts: Facts, start: Facts) -> Iterator[str]:
    hidden = [name for name, one in facts["objects"].items() if one["hidden"]]
    if len(hidden) != 1:
        yield f"{len(hidden)} hidden objects are left; one is used, by the hole of the table"
    materials: dict[str, int] = facts["materials"]
    if unused := sorted(name for name, users in materials.items() if users == 0):
        yield f"nobody uses the material {unused[0]}"
    wood = [name for name in materials if name.lower().startswith("wood")]
    if len(wood) != 1:
        yield f"there are {len(wood)} wood materials"
    if facts["camera"] is None:
        yield "the scene has no camera any more"
