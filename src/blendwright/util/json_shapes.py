"""Access to the content of unchecked JSON values."""

from __future__ import annotations

from typing import Any, cast


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of an object, or an empty dict for any other value."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    return {}


def items_of(value: Any) -> list[Any]:
    """Return the items of a list, or an empty list for any other value."""
    if isinstance(value, list):
        return cast("list[Any]", value)
    return []
