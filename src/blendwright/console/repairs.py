"""The repair of a plan: it removes the operations that the repair drops, and applies a person's changes of arguments."""

from __future__ import annotations

from typing import Any, cast

from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.workspace.run_records import RunRecord


def repaired(record: RunRecord, changes: Any) -> dict[str, Any]:
    """Return the plan to run. `changes` are new arguments by operation id, which the person entered. Raise Refusal if they are invalid.

    A changed operation stays in the plan, even if the repair would drop it."""
    document = record.document
    assert document is not None
    new_args = _checked(changes)
    operation_ids = {operation["operation_id"] for operation in document["operations"]}
    unknown_ids = new_args.keys() - operation_ids
    if unknown_ids:
        message = f"the plan has no operation '{min(unknown_ids)[:100]}'"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Change only operations of this plan.")

    dropped_ids: set[str] = set()
    if record.report is not None:
        dropped_ids = {step["operation_id"] for step in record.report["repair"] if step["action"] == "drop"}
        dropped_ids -= new_args.keys()
    operations: list[dict[str, Any]] = []
    for operation in document["operations"]:
        id = operation["operation_id"]
        if id not in dropped_ids:
            depends_on = [other_id for other_id in operation["depends_on"] if other_id not in dropped_ids]
            operations.append({**operation, "depends_on": depends_on, "args": new_args.get(id, operation["args"])})
    return {**document, "operations": operations}


def _checked(changes: Any) -> dict[str, dict[str, Any]]:
    """Return the changes, or raise Refusal unless they are objects by operation id."""
    if isinstance(changes, dict):
        arguments = cast("dict[str, Any]", changes)
        if all(isinstance(value, dict) for value in arguments.values()):
            return arguments
    message = "changes must be an object that maps operation ids to arguments"
    raise Refusal.of(Fault.ARGS_INVALID, message, "Write a JSON object for each operation.")
