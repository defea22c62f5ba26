from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from bench.trial.checks.facts import Facts, Objects, near

MOST_TRIANGLES = 2000
# Fewer are no planks in a frame.
LEAST_TRIANGLES = 100


def game_asset(facts: Facts) -> Iterator[str]:
    objects: Objects = facts["objects"]
    meshes = {name: one for name, one in objects.items() if one["type"] == "MESH"}
    if list(meshes) != ["Crate"]:
        yield f"the meshes are {', '.join(sorted(meshes)[:5]) or 'none'}, not one called Crate"
        return
    crate = meshes["Crate"]
    low, high = crate["low"], crate["high"]
    if not all(near(high[axis] - low[axis], 1.0, 0.03) for axis in range(3)):
        yield "the crate is not a cube of 1 m"
    if not near(low[2], 0, 0.005):
        yield "the crate does not stand on the ground"
    middle = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]]
    if not all(near(crate["location"][axis], middle[axis], 0.01) for axis in range(3)):
        yield "the origin is not at the bottom in the middle"
    if not (
        all(near(part, 1, 1e-4) for part in crate["scale"]) and all(near(part, 0, 1e-4) for part in crate["rotation"])
    ):
        yield "scale or rotation are left over"
    shape = crate["mesh"]
    if not LEAST_TRIANGLES <= shape["triangles"] <= MOST_TRIANGLES:
        yield f"the crate has {shape['triangles']} triangles"
    if shape["mapped"] < 0.95:
        yield f"only {shape['mapped']:.0%} of the faces have a place on the UV map"
    yield from _materials(shape, low, high)


def _materials(shape: dict[str, Any], low: list[float], high: list[float]) -> Iterator[str]:
    if sorted(shape["faces"]) != ["Metal", "Wood"]:
        yield f"the faces are of {', '.join(sorted(shape['faces'])) or 'no material'}, not of Wood and Metal"
        return
    for corner in product(*zip(low, high, strict=True)):
        if not any(
            sum((a - b) ** 2 for a, b in zip(corner, face, strict=True)) < 0.3**2 for face in shape["faces"]["Metal"]
        ):
            yield "a corner has no metal"
            return
