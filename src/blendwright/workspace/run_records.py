"""The plans that ran in a workspace, one file each, for whoever looks at a run while it goes on or afterwards.

The journal has what was done; what a plan meant to do, what waits for what, and the report of its end are here. It is a convenience: a
record that cannot be written is left out, the oldest ones go, and nothing reads them to decide anything.

A workspace may come from somebody else: its directory of records is opened as itself, never through a link, only files with names as they
are given here are looked at or removed, and only plain ones are read.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from blendwright.util.no_follow import open_directory, open_file_in
from blendwright.values.plan import Operation, Plan, Schedule
from blendwright.values.report import OperationReport, RunReport

DIRECTORY = "runs"
MOST_KEPT = 100
# When it began, in milliseconds, and what tells it from another that began then.
NAME = re.compile(r"([0-9]{13}-[0-9a-f]{8})\.jsonl")
# No run writes more; what is larger is not read.
LARGEST_RECORD = 32 * 1024 * 1024
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
        self._directory = workspace.resolve() / DIRECTORY

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
        run = RunInProgress(self._directory, f"{int(started * 1000):013d}-{secrets.token_hex(4)}.jsonl")
        first = {
            "request_id": plan.request_id,
            "dialect": plan.dialect,
            "boundary": plan.boundary,
            "started": started,
            "pid": os.getpid(),
            "operations": operations,
            "document": _document(plan),
        }
        with contextlib.suppress(OSError, TypeError), open_directory(self._directory, make=0o700) as directory:
            _append(directory, run.name, first, os.O_CREAT | os.O_EXCL)
            for old in _names(directory)[:-MOST_KEPT]:
                os.unlink(old, dir_fd=directory)
        return run


@dataclass(frozen=True, slots=True)
class RunInProgress:
    """A run whose beginning is written, to a file of this name."""

    directory: Path
    name: str

    def end(self, report: RunReport) -> None:
        with contextlib.suppress(OSError, TypeError), open_directory(self.directory) as directory:
            if len(report.operations) <= MOST_OPERATIONS:
                operations = report.operations
            else:
                operations = ()
            fields = {**report.outline(), "operations": [_ended(one) for one in operations]}
            _append(directory, self.name, fields)


def run_records(workspace: str | Path, *, limit: int = MOST_KEPT) -> list[RunRecord]:
    """The newest first."""
    with contextlib.suppress(OSError), open_directory(Path(workspace).resolve() / DIRECTORY) as directory:
        records = [_read(directory, name) for name in reversed(_names(directory)[-limit:])]
        return [record for record in records if record is not None]
    return []


def run_record(workspace: str | Path, id: str) -> RunRecord | None:
    """One of them by its id."""
    with contextlib.suppress(OSError), open_directory(Path(workspace).resolve() / DIRECTORY) as directory:
        return _read(directory, f"{id}.jsonl")
    return None


def _names(directory: int) -> list[str]:
    """Those of records, the oldest first."""
    listed = os.open(".", os.O_RDONLY | getattr(os, "O_DIRECTORY", 0), dir_fd=directory)
    try:
        return sorted(filter(NAME.fullmatch, os.listdir(listed)))  # noqa: PTH208 - of a descriptor
    finally:
        os.close(listed)


def _read(directory: int, name: str) -> RunRecord | None:
    named = NAME.fullmatch(name)
    if named is None:
        return None
    try:
        with open_file_in(directory, name) as opened:
            content = opened.read(LARGEST_RECORD + 1)
        lines = content.split(b"\n")
        if len(content) > LARGEST_RECORD:
            return None
        fields = orjson.loads(lines[0])
        if len(lines) > 2:
            report = orjson.loads(lines[1])
        else:
            report = None
        return RunRecord(id=named[1], report=report, **fields)
    except (OSError, ValueError, TypeError):
        return None  # it is being written, was cut short, or is none


def _append(directory: int, name: str, fields: Mapping[str, Any], flags: int = 0) -> None:
    """In one piece, so that whoever reads meanwhile sees a whole line or none."""
    flags |= os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o600, dir_fd=directory)
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
        if len(orjson.dumps(document)) <= LARGEST_DOCUMENT:
            return document
        return None
    except TypeError:
        return None
