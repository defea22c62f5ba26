"""Shape keys of a mesh object: finding them, reading their points, and reporting them."""

from __future__ import annotations

from array import array
from collections.abc import Generator, Sequence

from pydantic import Field

from blendwright.tool_api import Block, Findings, Result, Scene
from blendwright.tools.animation_data import channel_conflicts
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

# Largest difference of equal coordinates in single precision after some arithmetic, as a share of the largest one.
LOOSE = 1e-5


class ShapeKeyReport(Result):
    name: str = Field(description="Name of the shape key.")
    value: float = Field(description="Influence of the key.")
    minimum: float = Field(description="Smallest value.")
    maximum: float = Field(description="Largest value.")
    relative_to: str = Field(description="Shape key that this key is relative to.")


class ShapeKeysChanged(Result):
    object: str = Field(description="Name of the object.")
    shape_keys: list[ShapeKeyReport] = Field(description="All shape keys of its mesh, the basis first.")
    changed: bool = Field(description="False if everything already was as requested.")


def key_blocks(obj: Block) -> Sequence[Block]:
    """Return the shape keys of a mesh object, the basis first."""
    keys: Block = obj.data.shape_keys
    if keys is None:
        return ()
    return keys.key_blocks


def find_key(obj: Block, name: str) -> Block | None:
    return next((key for key in key_blocks(obj) if key.name == name), None)


def existing_key(obj: Block, name: str, at: str) -> Generator[Finding, None, Block | None]:
    """Return the shape key of that name. If it does not exist, yield a finding and return None. For use in `check`."""
    key = find_key(obj, name)
    if key is None:
        names = [block.name for block in key_blocks(obj)]
        quoted_names = ", ".join(f"'{existing}'" for existing in names[:10]) or "none; use shape_key.create"
        cure = did_you_mean(name, names, otherwise=f"It has {quoted_names}.")
        yield Finding(Fault.TARGET_NOT_FOUND, f"'{obj.name}' has no shape key named '{name}'", at, cure)
    return key


def held_values(scene: Scene, key: Block, at: str) -> Findings:
    """Yield a finding if keyframes or a driver determine the value of a shape key."""
    yield from channel_conflicts(scene, key.id_data, key.path_from_id("value"), at)


def points_of(key: Block) -> array[float]:
    """Return the vertex coordinates of a shape key, three numbers per vertex."""
    points = array("f", bytes(12 * len(key.data)))
    key.data.foreach_get("co", points)
    return points


def vertices_of(mesh: Block) -> array[float]:
    """Return the vertex coordinates of a mesh without its shape keys, three numbers per vertex."""
    points = array("f", bytes(12 * len(mesh.vertices)))
    mesh.vertices.foreach_get("co", points)
    return points


def same_points(first: Sequence[float], second: Sequence[float]) -> bool:
    """Return True if two flat sequences of coordinates are equal within rounding errors."""
    if len(first) != len(second):
        return False
    if not first:
        return True
    tolerance = LOOSE * max(1.0, *map(abs, first), *map(abs, second))
    return all(abs(a - b) <= tolerance for a, b in zip(first, second, strict=True))


def reports(obj: Block) -> list[ShapeKeyReport]:
    return [
        ShapeKeyReport(
            name=key.name,
            value=key.value,
            minimum=key.slider_min,
            maximum=key.slider_max,
            relative_to=key.relative_key.name,
        )
        for key in key_blocks(obj)
    ]
