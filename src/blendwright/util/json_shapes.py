"""What a JSON value holds, whatever it is: for reading documents that nobody has checked yet."""

from __future__ import annotations

from typing import Any, cast


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of an object; none where it is something else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items_of(value: Any) -> list[Any]:
    """The items of a list; none where it is something else."""
    return cast("list[Any]", value) if isinstance(value, list) else []
