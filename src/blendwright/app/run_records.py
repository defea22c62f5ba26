"""The plans that ran in a workspace, one file each, for whoever looks at a run while it goes on or afterwards.

The journal has what was done; what a plan meant to do, what waits for what, and the report of its end are here. It is a convenience: a
record that cannot be written is left out, the oldest ones go, and nothing reads them to decide anything.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from blendwright.values.plan import Operation, Plan, Schedule
from blendwright.values.report import OperationReport, RunReport

DIRECTORY = "runs"
MOST_KEPT = 100
# A larger plan is kept without its arguments, and cannot be run again from its record.
LARGEST_DOCUMENT = 4 * 1024 * 1024
# Of a longer plan nobody looks at every operation: its record has none.
MOST_OPERATIONS = 2_000
# Documents of other dialects say more than their operations do.
REPEATABLE = ("operations", "program")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run. `operations` are in the order in which they run; `document` is the plan to give again, None where there is none;
    `report` is None while it goes on, and for one that was broken off. `pid` is the process that ran it."""

    id: str
    request_id: str
    dialect: str
    boundary: str
    started: float
    pid: int
    operations: Sequence[Mapping[str, Any]]
    document: Mapping[str, Any] | None
    report: Mapping[str, Any] | None


class RunRecords:
    """Writes those of one workspace."""

    def __init__(self, workspace: Path) -> None:
        self._directory = workspace / DIRECTORY

    def begin(self, schedule: Schedule) -> RunInProgress:
        """Before the first operation runs."""
        implied, order = schedule.implied_by, schedule.order
        if len(order) > MOST_OPERATIONS:
            return self._written(replace(schedule.plan, operations=(), written=None), ())
        return self._written(schedule.plan, [_operation(one, implied) for one in order])

    def add_refused(self, plan: Plan, report: RunReport) -> None:
        """A plan of which nothing ran, or one whose only operation failed."""
        self._written(plan, [_operation(one, {}) for one in plan.written or plan.operations]).end(report)

    def _written(self, plan: Plan, operations: Sequence[Mapping[str, Any]]) -> RunInProgress:
        started = time.time()
        path = self._directory / f"{int(started * 1000):013d}-{secrets.token_hex(4)}.jsonl"
        first = {
            "request_id": plan.request_id,
            "dialect": plan.dialect,
            "boundary": plan.boundary,
            "started": started,
            "pid": os.getpid(),
            "operations": operations,
            "document": _document(plan),
        }
        with contextlib.suppress(OSError, TypeError):
            self._directory.mkdir(mode=0o700, exist_ok=True)
            _append(path, first)
            for old in sorted(self._directory.glob("*.jsonl"))[:-MOST_KEPT]:
                old.unlink(missing_ok=True)
        return RunInProgress(path)


@dataclass(frozen=True, slots=True)
class RunInProgress:
    """A run whose beginning is written."""

    path: Path

    def end(self, report: RunReport) -> None:
        with contextlib.suppress(OSError, TypeError):
            operations = report.operations if len(report.operations) <= MOST_OPERATIONS else ()
            _append(self.path, {**report.outline(), "operations": [_ended(one) for one in operations]})


def run_records(workspace: str | Path, *, limit: int = MOST_KEPT) -> list[RunRecord]:
    """The newest first."""
    directory = Path(workspace).resolve() / DIRECTORY
    records = (_read(path) for path in sorted(directory.glob("*.jsonl"), reverse=True)[:limit])
    return [record for record in records if record is not None]


def run_record(workspace: str | Path, id: str) -> RunRecord | None:
    """One of them by its id."""
    known = {path.stem: path for path in (Path(workspace).resolve() / DIRECTORY).glob("*.jsonl")}
    return _read(known[id]) if id in known else None


def _read(path: Path) -> RunRecord | None:
    try:
        lines = path.read_bytes().split(b"\n")
        fields = orjson.loads(lines[0])
        report = orjson.loads(lines[1]) if len(lines) > 2 else None
        return RunRecord(id=path.stem, report=report, **fields)
    except (OSError, ValueError, TypeError):
        return None  # it is being written, or was cut short


def _append(path: Path, fields: Mapping[str, Any]) -> None:
    """In one piece, so that whoever reads meanwhile sees a whole line or none."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS))
    finally:
        os.close(descriptor)


def _operation(one: Operation, implied_by: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    site, caller = one.site, one.id if one.origin is None else one.origin.operation_id
    return {
        "id": one.id,
        "tool": one.tool,
        "depends_on": list(one.depends_on),
        "implied": dict(implied_by.get(caller, {})),
        "safety_level": one.safety_level,
        "macro": None if one.origin is None else one.origin.operation_id,
        "file": None if site is None else site.file,
        "line": None if site is None else site.line,
    }


def _ended(one: OperationReport) -> dict[str, Any]:
    """What its audit record does not say; the receipt is in the journal."""
    return {
        "id": one.operation_id,
        "tool": one.tool,
        "status": one.status,
        "fault": None if one.fault is None else one.fault.value,
        "message": one.message,
        "findings": [finding.to_json() for finding in one.findings],
        "blocked": one.blocked,
        "commit": one.commit,
        "timings": dict(one.timings),
    }


def _document(plan: Plan) -> dict[str, Any] | None:
    """The plan as one of the operations dialect: under the same ids, so that what is done is not done again."""
    if plan.dialect not in REPEATABLE or plan.single_call or not plan.operations:
        return None
    document = {
        "request_id": plan.request_id,
        "operations": [
            {
                "operation_id": one.id,
                "tool_name": one.tool,
                "args": dict(one.args),
                "depends_on": list(one.depends_on),
                "safety_level": one.safety_level,
            }
            for one in plan.written or plan.operations
        ],
    }
    try:
        return document if len(orjson.dumps(document)) <= LARGEST_DOCUMENT else None
    except TypeError:
        return None
