"""A plan with its repair applied: what is to be dropped is dropped, and a person's own changes stand in for the rest."""

from __future__ import annotations

from typing import Any, cast

from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.workspace.run_records import RunRecord


def repaired(record: RunRecord, changes: Any) -> dict[str, Any]:
    """The document to run. `changes` are new arguments by operation id, as a person wrote them. Raises Refusal for what is no change."""
    document = record.document
    assert document is not None
    if not isinstance(changes, dict) or not all(
        isinstance(value, dict) for value in cast("dict[str, Any]", changes).values()
    ):
        raise Refusal.of(Fault.ARGS_INVALID, "changes are arguments by operation", "Write a JSON object for each.")
    given = cast("dict[str, dict[str, Any]]", changes)
    known = {one["operation_id"] for one in document["operations"]}
    if not given.keys() <= known:
        raise Refusal.of(Fault.ARGS_INVALID, "a change names an operation that the plan does not have")
    if record.report is None:
        repair = ()
    else:
        repair = record.report["repair"]
    dropped = {one["operation_id"] for one in repair if one["action"] == "drop"} - given.keys()
    kept: list[dict[str, Any]] = []
    for one in document["operations"]:
        if one["operation_id"] not in dropped:
            depends_on = [id for id in one["depends_on"] if id not in dropped]
            kept.append({**one, "depends_on": depends_on, "args": given.get(one["operation_id"], one["args"])})
    return {**document, "operations": kept}
