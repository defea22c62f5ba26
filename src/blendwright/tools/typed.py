"""Whether an object is of the type that a tool is for."""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.tool_api.scene import Block
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


def wrong_type(obj: Block, types: Sequence[str], at: str) -> Sequence[Finding]:
    """A finding when an object is of another type."""
    if obj.type in types:
        return ()
    wanted = " or ".join(types)
    message = f"'{obj.name}' is of type {obj.type}, not {wanted}"
    return (Finding(Fault.SCENE_CONFLICT, message, at, f"Name an object of type {wanted}."),)
