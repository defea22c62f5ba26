"""Which part of a surface counts: by height, direction, region or attribute.

Every condition is linear over a triangle, so triangles are cut along it: what is left is the part of the surface that fulfils
all, exactly. Nothing has to be drawn and thrown away, however small that part is.
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
# A corner of a triangle: where it is, and what the attribute is there.
Corner = tuple[float, float, float, float]
# Positive or zero where a condition holds.
Condition = Callable[[Corner], float]

NUMBERS = {"FLOAT": "f", "INT": "i", "BOOLEAN": "b", "INT8": "b"}
NOT_NUMBERS = "Name a vertex group, or an attribute of numbers or booleans on points, faces or face corners."


class Region(Args):
    low: Vector3 = Field(description="The corner with the least coordinates, in the world.")
    high: Vector3 = Field(description="The corner with the greatest coordinates.")


class Mask(Args):
    """Where on a surface; of several conditions all hold."""

    height: Range | None = optional("Least and greatest height (world Z) in metres.")
    direction: Vector3 | None = optional("Where the surface looks in this direction; [0, 0, 1] is up.")
    max_angle_deg: float = Field(
        default=45.0, ge=0.0, le=180.0, description="How far it may look away from the direction."
    )
    region: Region | None = optional("Inside this box in the world.")
    attribute: AttributeName | None = optional("Where this attribute or vertex group of the target is large enough.")
    min_value: BoundedFloat = Field(default=0.5, description="The least value of the attribute.")

    @model_validator(mode="after")
    def _sound(self) -> Mask:
        if self.height is None and self.direction is None and self.region is None and self.attribute is None:
            raise PydanticCustomError("mask_empty", "name a condition: height, direction, region or attribute")
        if self.height is not None and self.height[0] > self.height[1]:
            raise PydanticCustomError("mask_height", "'height' starts with the lesser value")
        region = self.region
        if region is not None and any(low > high for low, high in zip(region.low, region.high, strict=True)):
            raise PydanticCustomError("mask_region", "'low' of the region is beyond 'high'")
        if self.direction is not None and math.hypot(*self.direction) < 1e-9:
            raise PydanticCustomError("mask_direction", "'direction' must not be zero")
        return self

    def faces(self, normal: Point) -> bool:
        """Whether a surface with this normal looks in the direction."""
        if self.direction is None:
            return True
        length = math.hypot(*self.direction) * math.hypot(*normal)
        along = sum(one * other for one, other in zip(self.direction, normal, strict=True))
        # A face that looks just so far away counts, whatever the last digit says.
        return length > 0.0 and along / length >= math.cos(math.radians(self.max_angle_deg)) - 1e-6

    def conditions(self) -> Iterator[Condition]:
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
    """The part of a convex polygon where all conditions hold, as a polygon; empty where there is none."""
    polygon = list(corners)
    for condition in conditions:
        kept: list[Corner] = []
        for here, there in zip(polygon, [*polygon[1:], *polygon[:1]], strict=True):
            at, then = condition(here), condition(there)
            if at >= 0.0:
                kept.append(here)
            if (at < 0.0 < then) or (then < 0.0 < at):
                share = at / (at - then)
                x, y, z, value = (one + (other - one) * share for one, other in zip(here, there, strict=True))
                kept.append((x, y, z, value))
        polygon = kept
    if len(polygon) > 2:
        return polygon
    return []


def attribute_problems(obj: Block, mesh: Block, name: str, at: str) -> Findings:
    """Why an attribute cannot be a mask."""
    attribute = mesh.attributes.get(name)
    if attribute is None:
        if obj.vertex_groups.get(name) is None:
            there = ", ".join(
                sorted({*obj.vertex_groups.keys(), *(one.name for one in mesh.attributes if one.name[:1] != ".")})
            )
            yield invalid(f"'{obj.name}' has no attribute or vertex group '{name}'", at, f"There are: {there}.")
    elif attribute.data_type not in NUMBERS or attribute.domain == "EDGE":
        message = f"attribute '{name}' is of type {attribute.data_type} on {attribute.domain}"
        yield conflict(message, at, NOT_NUMBERS)


def corner_values(obj: Block, mesh: Block, name: str) -> list[float]:
    """The value of an attribute or vertex group at each corner of each triangle of the mesh, whose triangles are known."""
    triangles = 3 * len(mesh.loop_triangles)
    attribute = mesh.attributes.get(name)
    if attribute is None:
        index = obj.vertex_groups[name].index
        values: Sequence[float] = [
            next((one.weight for one in vertex.groups if one.group == index), 0.0) for vertex in mesh.vertices
        ]
        domain = "POINT"
    else:
        read = array(NUMBERS[attribute.data_type], [0]) * len(attribute.data)
        attribute.data.foreach_get("value", read)
        values, domain = read.tolist(), attribute.domain
    if domain == "FACE":
        return [values[triangle.polygon_index] for triangle in mesh.loop_triangles for _ in range(3)]
    numbers = array("i", bytes(4 * triangles))
    mesh.loop_triangles.foreach_get("loops" if domain == "CORNER" else "vertices", numbers)
    return [values[number] for number in numbers]
