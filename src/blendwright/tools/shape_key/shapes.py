"""Shape keys of a mesh object: found or told to be missing, their points, and a summary."""

from __future__ import annotations

from array import array
from collections.abc import Generator, Sequence

from pydantic import Field

from blendwright.tool_api import Block, Findings, Result, Scene
from blendwright.tools.animation_data import channel_conflicts
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

# Single precision, after some arithmetic.
LOOSE = 1e-5


class ShapeKeyReport(Result):
    name: str = Field(description="Name of the shape key.")
    value: float = Field(description="How much of it shows.")
    minimum: float = Field(description="Least value.")
    maximum: float = Field(description="Greatest value.")
    relative_to: str = Field(description="Shape key that it is the difference to.")


class ShapeKeysChanged(Result):
    object: str = Field(description="Name of the object.")
    shape_keys: list[ShapeKeyReport] = Field(description="All its shape keys, the basis first.")
    changed: bool = Field(description="False when everything was as asked already.")


def key_blocks(obj: Block) -> Sequence[Block]:
    """The shape keys of a mesh object, the basis first."""
    keys: Block = obj.data.shape_keys
    if keys is None:
        return ()
    return keys.key_blocks


def find_key(obj: Block, name: str) -> Block | None:
    return next((key for key in key_blocks(obj) if key.name == name), None)


def existing_key(obj: Block, name: str, at: str) -> Generator[Finding, None, Block | None]:
    """For `check`: the shape key of that name; a finding and None where there is none."""
    found = find_key(obj, name)
    if found is None:
        names = [key.name for key in key_blocks(obj)]
        listed = "It has " + (", ".join(f"'{there}'" for there in names[:10]) or "none; use shape_key.create") + "."
        cure = did_you_mean(name, names, otherwise=listed)
        yield Finding(Fault.TARGET_NOT_FOUND, f"'{obj.name}' has no shape key named '{name}'", at, cure)
    return found


def held_values(scene: Scene, key: Block, at: str) -> Findings:
    """A finding where keyframes or a driver have the value of a shape key."""
    yield from channel_conflicts(scene, key.id_data, key.path_from_id("value"), at)


def points_of(key: Block) -> array[float]:
    """Where a shape key has the vertices, three numbers for each."""
    points = array("f", bytes(12 * len(key.data)))
    key.data.foreach_get("co", points)
    return points


def vertices_of(mesh: Block) -> array[float]:
    """Where a mesh itself has the vertices."""
    points = array("f", bytes(12 * len(mesh.vertices)))
    mesh.vertices.foreach_get("co", points)
    return points


def same_points(one: Sequence[float], other: Sequence[float]) -> bool:
    if one:
        reach = LOOSE * max(1.0, *(abs(value) for value in one), *(abs(value) for value in other))
    else:
        reach = 0.0
    return len(one) == len(other) and all(abs(a - b) <= reach for a, b in zip(one, other, strict=True))


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
