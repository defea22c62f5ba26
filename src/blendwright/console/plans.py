"""Runs of plans as the page shows them: what is to be done, what waits for what, and how far it is."""

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
    report = record.report
    counts = Counter[str](one["status"] for one in (() if report is None else report["operations"]))
    return {
        "id": record.id,
        "request": record.request_id,
        "dialect": record.dialect,
        "boundary": record.boundary,
        "started": record.started,
        "operations": len(record.operations),
        "state": _state(workspace, record),
        "counts": dict(counts),
        "ms": None if report is None else report["timings"].get("run_ms"),
        "repairable": report is not None and bool(report["repair"]) and record.document is not None,
    }


def run_details(workspace: Path, id: str) -> dict[str, Any]:
    """With everything that became of its operations so far. Raises Refusal for a run that is not kept."""
    record = run_record(workspace, id)
    if record is None:
        raise Refusal.of(Fault.TARGET_NOT_FOUND, "that run is not kept any more", "Choose another one.")
    hidden = load_policy(workspace).policy.audit.redact
    arguments = {
        one["operation_id"]: redacted(one["args"], hidden) for one in (record.document or {}).get("operations", ())
    }
    states = _states(workspace, record)
    programs = programs_of(workspace, record.request_id)
    report = record.report or {}
    return {
        **run_summary(workspace, record),
        "operations": [
            {**one, "args": arguments.get(one["id"]), **states.get(one["id"], {"status": "waiting"})}
            for one in record.operations
        ],
        "findings": report.get("findings", []),
        "repair": report.get("repair", []),
        "notes": report.get("notes", []),
        "program": None
        if not programs
        else {"text": programs[-1].program, "params": redacted(programs[-1].params, hidden)},
        "repeatable": record.document is not None,
    }


def asked_in(record: RunRecord, asked: ApprovalRequest) -> bool:
    """Whether it was this run that asked: other plans may have the same request id. The journal gives a question one id for each hash of
    an operation, and the finding of the run names it."""
    if record.report is None or record.request_id != asked.request_id:
        return False
    return any(
        finding.get("rule") == "approval_missing" and f" approve {asked.id} " in (finding["cure"] or "")
        for one in record.report["operations"]
        if one["id"] == asked.operation_id
        for finding in one["findings"]
    )


def _state(workspace: Path, record: RunRecord) -> str:
    if record.report is not None:
        return str(record.report["status"])
    holder = workspace_holder(workspace)
    if holder is not None and holder["pid"] == record.pid:
        return "running"
    return "broken_off"


def _states(workspace: Path, record: RunRecord) -> dict[str, Mapping[str, Any]]:
    """By operation. While it runs, what the audit has of it."""
    if record.report is not None:
        ended: Sequence[Mapping[str, Any]] = record.report["operations"]
        return {
            one["id"]: {**{name: one[name] for name in ("status", "fault", "message", "findings", "blocked", "commit")},
                        "ms": round(sum(one["timings"].values()), 3)}
            for one in ended
        }  # fmt: skip
    since = datetime.fromtimestamp(record.started, UTC).isoformat().replace("+00:00", "Z")
    told = audit_of_request(workspace, record.request_id)
    return {one["operation"]: one for one in told if one["time"] >= since[:23]}
