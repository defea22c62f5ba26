"""Masks that select a part of a surface by height, direction, region or attribute.

Every condition is linear over a triangle, so this module cuts triangles along it. The remaining part fulfils all conditions
exactly, and random points never have to be rejected, however small that part is.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, AttributeName, BoundedFloat, Vector3, optional
from blendwright.tool_api.scene import Block, Point
from blendwright.tool_api.tool import Findings
from blendwright.tools.checks import conflict, invalid

Range = Annotated[tuple[BoundedFloat, BoundedFloat], Field(strict=False)]
# A corner of a triangle: its world position, and the value of the attribute there.
Corner = tuple[float, float, float, float]
# A function that returns a positive number or zero if a condition holds at a corner.
Condition = Callable[[Corner], float]

# Numeric types of attributes, with the type codes of their arrays.
NUMBERS = {"FLOAT": "f", "INT": "i", "BOOLEAN": "b", "INT8": "b"}
NOT_NUMBERS = "Name a vertex group, or an attribute of numbers or booleans on points, faces or face corners."


class Region(Args):
    low: Vector3 = Field(description="Corner with the smallest coordinates, in the world.")
    high: Vector3 = Field(description="Corner with the largest coordinates, in the world.")


class Mask(Args):
    """Conditions that select a part of a surface; all must hold."""

    height: Range | None = optional("Lowest and highest height (world Z) in metres.")
    direction: Vector3 | None = optional("Select surfaces that point in this direction; [0, 0, 1] is up.")
    max_angle_deg: float = Field(
        default=45.0, ge=0.0, le=180.0, description="Largest angle between the surface normal and the direction."
    )
    region: Region | None = optional("Select the part inside this box in the world.")
    attribute: AttributeName | None = optional("Attribute or vertex group of the target; must reach min_value.")
    min_value: BoundedFloat = Field(default=0.5, description="Smallest selected value of the attribute.")

    @model_validator(mode="after")
    def _check_conditions(self) -> Mask:
        if self.height is None and self.direction is None and self.region is None and self.attribute is None:
            raise PydanticCustomError("mask_empty", "give a condition: height, direction, region or attribute")
        if self.height is not None and self.height[0] > self.height[1]:
            raise PydanticCustomError("mask_height", "'height' must start with the smaller value")
        region = self.region
        if region is not None and any(low > high for low, high in zip(region.low, region.high, strict=True)):
            raise PydanticCustomError("mask_region", "'low' of the region must not exceed 'high'")
        if self.direction is not None and math.hypot(*self.direction) < 1e-9:
            raise PydanticCustomError("mask_direction", "'direction' must not be zero")
        return self

    def faces(self, normal: Point) -> bool:
        """Return True if a surface with this normal points in the direction, within the angle."""
        if self.direction is None:
            return True
        length = math.hypot(*self.direction) * math.hypot(*normal)
        dot = sum(part * component for part, component in zip(self.direction, normal, strict=True))
        # The tolerance includes faces at exactly the largest angle in spite of rounding errors.
        return length > 0.0 and dot / length >= math.cos(math.radians(self.max_angle_deg)) - 1e-6

    def conditions(self) -> Iterator[Condition]:
        """Yield the linear conditions: height, region and attribute."""
        ranges: list[tuple[int, float, float]] = []
        if self.height is not None:
            ranges.append((2, *self.height))
        if self.region is not None:
            ranges += zip((0, 1, 2), self.region.low, self.region.high, strict=True)
        for axis, low, high in ranges:
            yield lambda corner, axis=axis, low=low: corner[axis] - low
            yield lambda corner, axis=axis, high=high: high - corner[axis]
        if self.attribute is not None:
            yield lambda corner: corner[3] - self.min_value


def cut(corners: Sequence[Corner], conditions: Sequence[Condition]) -> list[Corner]:
    """Return the part of a convex polygon where all conditions hold, as a polygon. It is empty if there is no such part."""
    polygon = list(corners)
    for condition in conditions:
        remaining: list[Corner] = []
        for start, end in zip(polygon, [*polygon[1:], *polygon[:1]], strict=True):
            at_start, at_end = condition(start), condition(end)
            if at_start >= 0.0:
                remaining.append(start)
            if (at_start < 0.0 < at_end) or (at_end < 0.0 < at_start):
                share = at_start / (at_start - at_end)
                x, y, z, value = (a + (b - a) * share for a, b in zip(start, end, strict=True))
                remaining.append((x, y, z, value))
        polygon = remaining
    if len(polygon) > 2:
        return polygon
    return []


def attribute_problems(obj: Block, mesh: Block, name: str, at: str) -> Findings:
    """Yield findings that explain why an attribute or vertex group cannot be a mask."""
    attribute = mesh.attributes.get(name)
    if attribute is None:
        if obj.vertex_groups.get(name) is None:
            names = set(obj.vertex_groups.keys())
            names |= {attribute.name for attribute in mesh.attributes if attribute.name[:1] != "."}
            cure = f"Known names: {', '.join(sorted(names))}."
            yield invalid(f"'{obj.name}' has no attribute or vertex group '{name}'", at, cure)
    elif attribute.data_type not in NUMBERS or attribute.domain == "EDGE":
        message = f"attribute '{name}' is of type {attribute.data_type} on {attribute.domain}"
        yield conflict(message, at, NOT_NUMBERS)


def corner_values(obj: Block, mesh: Block, name: str) -> list[float]:
    """Return the value of an attribute or vertex group at each corner of each loop triangle, which must be calculated."""
    triangles = 3 * len(mesh.loop_triangles)
    attribute = mesh.attributes.get(name)
    if attribute is None:
        index = obj.vertex_groups[name].index
        values: Sequence[float] = [_weight(vertex, index) for vertex in mesh.vertices]
        domain = "POINT"
    else:
        flat = array(NUMBERS[attribute.data_type], [0]) * len(attribute.data)
        attribute.data.foreach_get("value", flat)
        values, domain = flat.tolist(), attribute.domain
    if domain == "FACE":
        return [values[triangle.polygon_index] for triangle in mesh.loop_triangles for _ in range(3)]
    numbers = array("i", bytes(4 * triangles))
    if domain == "CORNER":
        mesh.loop_triangles.foreach_get("loops", numbers)
    else:
        mesh.loop_triangles.foreach_get("vertices", numbers)
    return [values[number] for number in numbers]


def _weight(vertex: Block, group_index: int) -> float:
    for membership in vertex.groups:
        if membership.group == group_index:
            return membership.weight
    return 0.0
