"""What a JSON value holds, whatever it is: for reading documents that nobody has checked yet."""

from __future__ import annotations

from typing import Any, cast


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of an object; none where it is something else."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    return {}


def items_of(value: Any) -> list[Any]:
    """The items of a list; none where it is something else."""
    if isinstance(value, list):
        return cast("list[Any]", value)
    return []
