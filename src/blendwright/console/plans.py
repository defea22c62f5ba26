"""Runs of plans for the page: their operations, the dependencies between them, and their progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from blendwright.policy.redaction import redacted
from blendwright.values.approval import ApprovalRequest
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.views.live_feed import audit_of_request
from blendwright.views.queries import programs_of
from blendwright.views.timeline import workspace_holder
from blendwright.workspace.policy_files import load_policy
from blendwright.workspace.run_records import RunRecord, run_record


def run_summary(workspace: Path, record: RunRecord) -> dict[str, Any]:
    """Return one run as a line of a list."""
    report = record.report
    counts = Counter[str]()
    run_ms: float | None = None
    is_repairable = False
    if report is not None:
        counts.update(operation["status"] for operation in report["operations"])
        run_ms = report["timings"].get("run_ms")
        is_repairable = bool(report["repair"]) and record.document is not None
    return {
        "id": record.id,
        "request": record.request_id,
        "dialect": record.dialect,
        "boundary": record.boundary,
        "started": record.started,
        "operations": len(record.operations),
        "state": _state(workspace, record),
        "counts": dict(counts),
        "ms": run_ms,
        "repairable": is_repairable,
    }


def run_details(workspace: Path, id: str) -> dict[str, Any]:
    """Return one run with the current state of all its operations. Raise Refusal if the run is no longer stored."""
    record = run_record(workspace, id)
    if record is None:
        raise Refusal.of(Fault.TARGET_NOT_FOUND, "this run is no longer stored", "Choose another run.")
    hidden = load_policy(workspace).policy.audit.redact
    arguments: dict[str, Any] = {}
    for operation in (record.document or {}).get("operations", ()):
        arguments[operation["operation_id"]] = redacted(operation["args"], hidden)

    states = _states(workspace, record)
    operations: list[dict[str, Any]] = []
    for operation in record.operations:
        id, waiting = operation["id"], {"status": "waiting"}
        operations.append({**operation, "args": arguments.get(id), **states.get(id, waiting)})

    program: dict[str, Any] | None = None
    programs = programs_of(workspace, record.request_id)
    if programs:
        program = {"text": programs[-1].program, "params": redacted(programs[-1].params, hidden)}
    report = record.report or {}
    return {
        **run_summary(workspace, record),
        "operations": operations,
        "findings": report.get("findings", []),
        "repair": report.get("repair", []),
        "notes": report.get("notes", []),
        "program": program,
        "repeatable": record.document is not None,
    }


def asked_in(record: RunRecord, request: ApprovalRequest) -> bool:
    """Return whether this run made an approval request.

    Several plans may have the same request id. Therefore one finding of the run must contain the approval's id."""
    if record.report is None or record.request_id != request.request_id:
        return False
    for operation in record.report["operations"]:
        if operation["id"] != request.operation_id:
            continue
        for finding in operation["findings"]:
            if finding.get("rule") == "approval_missing" and f" approve {request.id} " in (finding["cure"] or ""):
                return True
    return False


def _state(workspace: Path, record: RunRecord) -> str:
    if record.report is not None:
        return str(record.report["status"])
    holder = workspace_holder(workspace)
    if holder is not None and holder["pid"] == record.pid:
        return "running"
    return "broken_off"


def _states(workspace: Path, record: RunRecord) -> dict[str, Mapping[str, Any]]:
    """Return the state of each operation by id. During a run, take it from the audit."""
    states: dict[str, Mapping[str, Any]] = {}
    if record.report is not None:
        names = ("status", "fault", "message", "findings", "blocked", "commit")
        operations: Sequence[Mapping[str, Any]] = record.report["operations"]
        for operation in operations:
            state = {name: operation[name] for name in names}
            states[operation["id"]] = {**state, "ms": round(sum(operation["timings"].values()), 3)}
        return states

    started = datetime.fromtimestamp(record.started, UTC).isoformat().replace("+00:00", "Z")
    for entry in audit_of_request(workspace, record.request_id):
        if entry["time"] >= started[:23]:
            states[entry["operation"]] = entry
    return states
