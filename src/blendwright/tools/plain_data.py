"""Structures inside Blender as plain data, for answers: settings by name, datablocks by their names. Reads only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from blendwright.tool_api.scene import Block

# Said elsewhere, about the user interface, or about how long the last evaluation took.
LEFT_OUT = frozenset(
    {
        "rna_type",
        "name",
        "type",
        "show_expanded",
        "is_active",
        "is_override_data",
        "persistent_uid",
        "execution_time",
        "use_pin_to_last",
    }
)
PLAIN = ("BOOLEAN", "INT", "FLOAT", "STRING", "ENUM")


def plain_settings(struct: Block) -> dict[str, Any]:
    """The plain settings of a structure by name; a datablock that it points at is given by its name."""
    values: dict[str, Any] = {}
    for prop in sorted(struct.bl_rna.properties, key=lambda prop: prop.identifier):
        name: str = prop.identifier
        if name in LEFT_OUT or name.startswith("show_"):
            continue
        if prop.type in PLAIN:
            if not prop.is_readonly:
                values[name] = plain_value(getattr(struct, name))
        elif prop.type == "POINTER":
            value = getattr(struct, name)
            if value is None or hasattr(value, "users"):
                values[name] = None if value is None else value.name
    return values


def custom_properties(struct: Block) -> dict[str, Any]:
    """The custom properties of a structure by name."""
    runtime = {prop.identifier for prop in struct.bl_rna.properties if prop.is_runtime}
    return {key: plain_value(struct[key]) for key in sorted(struct.keys()) if key not in runtime}


def plain_value(value: Any) -> Any:
    """A value as JSON can say it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        # JSON has no infinity; Blender uses huge numbers for "no limit", which are finite.
        return value + 0.0 if value - value == 0.0 else None
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (set, frozenset)):
        return sorted(cast("Iterable[str]", value))
    if hasattr(value, "to_dict"):
        return _mapping(value.to_dict())
    if isinstance(value, Mapping):
        return _mapping(cast("Mapping[str, Any]", value))
    if hasattr(value, "users"):
        return value.name
    if hasattr(value, "to_list"):
        value = value.to_list()
    return [plain_value(item) for item in value]


def _mapping(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: plain_value(values[key]) for key in sorted(values)}
