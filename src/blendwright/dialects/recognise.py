"""Which dialect a document is in, read from its shape."""

from __future__ import annotations

from typing import Any, Literal, cast

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

Dialect = Literal["operations", "steps", "geonodes"]
# A steps payload has none of these beside its steps; a geonodes plan that lacks one of them is still meant as one.
OF_GEONODES = frozenset({"version", "done", "final_message", "meta"})


def recognise(document: Any) -> Dialect | Finding:
    """The dialect, or what was expected instead."""
    keys: set[Any] = set(cast("dict[Any, Any]", document)) if isinstance(document, dict) else set()
    if "operations" in keys:
        return "operations"
    if "steps" in keys and keys & OF_GEONODES:
        return "geonodes"
    if "steps" in keys:
        return "steps"
    message = "this is none of the plans that are known here"
    cure = (
        "Give an object with 'operations' and 'request_id' (operations), one with 'steps' (steps), or one with 'version', "
        "'steps', 'done' and 'final_message' (geonodes)."
    )
    return Finding(Fault.SCHEMA_INVALID, message, "", cure)
