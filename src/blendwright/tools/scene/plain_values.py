"""Conversion of Blender's values to plain data: exact floats without a negative zero, and limited custom properties."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, cast

from blendwright.tool_api.scene import Block
from blendwright.tools.scene import snapshot_model as model

CUT_MARK = "…"
# Largest nesting of groups and lists in a custom property.
MAX_DEPTH = 2
TYPES: dict[type, str] = {int: "int", float: "float", str: "string", bytes: "bytes"}
# Largest number of characters and numbers in all custom properties of one datablock together.
MAX_PER_BLOCK = 8000


def number(value: float) -> model.Number:
    """Return the exact value, with zero for a negative zero, and None for a number that is not finite."""
    if math.isfinite(value):
        return value + 0.0
    return None


def vector3(values: Iterable[float]) -> model.Vector3:
    x, y, z = values
    if math.isfinite(x + y + z):
        return x + 0.0, y + 0.0, z + 0.0
    return number(x), number(y), number(z)


def vector4(values: Iterable[float]) -> model.Vector4:
    x, y, z, w = values
    if math.isfinite(x + y + z + w):
        return x + 0.0, y + 0.0, z + 0.0, w + 0.0
    return number(x), number(y), number(z), number(w)


def custom_keys(block: Block) -> list[str]:
    """Return the sorted names of the user's own properties. Blender up to 4.5 also lists add-ons' settings; omit these."""
    keys = block.keys()
    if keys:
        return sorted(key for key in keys if key not in block.bl_rna.properties and key != "cycles")
    return []


def custom_properties(block: Block) -> tuple[list[model.CustomProperty], int]:
    """Return a datablock's custom properties within the limits, and the number of all its custom properties."""
    keys = custom_keys(block)
    budget = _Budget()
    return [_property(key, block[key], budget) for key in keys[: model.MAX_IN_LIST]], len(keys)


def _property(key: str, value: Any, budget: _Budget) -> model.CustomProperty:
    budget.cut = False
    plain = _plain(value, budget, 0)
    fields = {"name": key, "type": _type(value), "value": plain, "truncated": budget.cut}
    return model.CustomProperty.model_validate(fields)


def _type(value: Any) -> str:
    for cls, name in TYPES.items():
        if isinstance(value, cls):
            return name
    if hasattr(value, "id_type") or value is None:
        return "datablock"
    if hasattr(value, "to_dict"):
        return "group"
    return "list"


class _Budget:
    """The number of characters and numbers that the custom properties of one datablock may still use."""

    def __init__(self) -> None:
        self.remaining = MAX_PER_BLOCK
        self.cut = False

    def text(self, value: str) -> str:
        limit = min(model.MAX_CHARACTERS, max(self.remaining, 0))
        self.remaining -= len(value)
        if len(value) <= limit:
            return value
        self.cut = True
        return value[:limit] + CUT_MARK

    def items(self, values: list[Any]) -> list[Any]:
        limit = min(model.MAX_IN_LIST, max(self.remaining, 0))
        self.remaining -= len(values)
        if len(values) > limit:
            self.cut = True
        return values[:limit]


def _plain(value: Any, budget: _Budget, depth: int) -> Any:
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return number(value)
    if value is None:
        return None
    if isinstance(value, str):
        return budget.text(value)
    if isinstance(value, bytes):
        return budget.text(value.hex())
    if hasattr(value, "id_type"):
        return budget.text(f"{value.id_type}/{value.name}")
    if depth == MAX_DEPTH:
        budget.cut = True
        return None
    if hasattr(value, "to_dict"):
        return {budget.text(key): _plain(value[key], budget, depth + 1) for key in budget.items(sorted(value.keys()))}
    return [_plain(part, budget, depth + 1) for part in budget.items(list(cast("Iterable[Any]", value)))]
