"""Records of the plans that ran in a workspace, one file each, for viewers of running and finished plans.

The journal has the results. The record adds what the plan was meant to do, its dependencies, and its final report.
Records are a convenience: Blendwright skips a record that it cannot write, deletes the oldest ones, and never decides
anything by them.

A workspace may come from a stranger. This module opens the directory of records never through a link, handles only
files whose names it would give, and reads only regular files.
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
# The number of records that a workspace keeps.
MOST_KEPT = 100
# The start time in milliseconds, and random digits that distinguish runs of the same millisecond.
NAME = re.compile(r"([0-9]{13}-[0-9a-f]{8})\.jsonl")
# The maximum size of a record in bytes. Runs write less, and a larger file is not read.
LARGEST_RECORD = 32 * 1024 * 1024
# The maximum size of a plan in bytes. The record of a larger plan has no arguments, so it cannot run again.
MAX_DOCUMENT_BYTES = 4 * 1024 * 1024
# The number of operations above which a record lists none, because no viewer shows them all.
MOST_OPERATIONS = 2_000
# The dialects whose plans a record can repeat. Documents of other dialects say more than their operations.
REPEATABLE = ("operations", "program")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The record of one run. `operations` are in execution order, and `pid` is the process that ran them.

    `document` is the plan to repeat, or None. `report` is None while the plan runs, and after it was aborted.
    """

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
    """A writer of the run records of one workspace."""

    def __init__(self, workspace: Path) -> None:
        self._directory = workspace.resolve() / DIRECTORY

    def begin(self, schedule: Schedule) -> RunInProgress:
        """Write the record of a plan before its first operation runs."""
        implied, order = schedule.implied_by, schedule.order
        if len(order) > MOST_OPERATIONS:
            return self._written(replace(schedule.plan, operations=(), written=None), ())
        return self._written(schedule.plan, [_operation(operation, implied) for operation in order])

    def add_refused(self, plan: Plan, report: RunReport) -> None:
        """Write the record of a plan of which no operation ran, or whose only operation failed."""
        operations = [_operation(operation, {}) for operation in plan.written or plan.operations]
        self._written(plan, operations).end(report)

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
    """A run whose beginning is written, to the file `name`."""

    directory: Path
    name: str

    def end(self, report: RunReport) -> None:
        with contextlib.suppress(OSError, TypeError), open_directory(self.directory) as directory:
            if len(report.operations) <= MOST_OPERATIONS:
                operations = report.operations
            else:
                operations = ()
            fields = {**report.outline(), "operations": [_ended(operation) for operation in operations]}
            _append(directory, self.name, fields)


def run_records(workspace: str | Path, *, limit: int = MOST_KEPT) -> list[RunRecord]:
    """Return the latest run records, newest first."""
    with contextlib.suppress(OSError), open_directory(Path(workspace).resolve() / DIRECTORY) as directory:
        records = [_read(directory, name) for name in reversed(_names(directory)[-limit:])]
        return [record for record in records if record is not None]
    return []


def run_record(workspace: str | Path, id: str) -> RunRecord | None:
    """Return a run record by its id, or None when it does not exist."""
    with contextlib.suppress(OSError), open_directory(Path(workspace).resolve() / DIRECTORY) as directory:
        return _read(directory, f"{id}.jsonl")
    return None


def _names(directory: int) -> list[str]:
    """Return the file names of the records in an open directory, oldest first."""
    descriptor = os.open(".", os.O_RDONLY | getattr(os, "O_DIRECTORY", 0), dir_fd=directory)
    try:
        return sorted(filter(NAME.fullmatch, os.listdir(descriptor)))  # noqa: PTH208 - of a descriptor
    finally:
        os.close(descriptor)


def _read(directory: int, name: str) -> RunRecord | None:
    match = NAME.fullmatch(name)
    if match is None:
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
        return RunRecord(id=match[1], report=report, **fields)
    except (OSError, ValueError, TypeError):
        return None  # the record is incomplete, or the file is not a record


def _append(directory: int, name: str, fields: Mapping[str, Any], flags: int = 0) -> None:
    """Append one line in a single write, so that a concurrent reader never sees a part of it."""
    flags |= os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o600, dir_fd=directory)
    try:
        os.write(descriptor, orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS))
    finally:
        os.close(descriptor)


def _operation(operation: Operation, implied_by: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    caller, macro = operation.id, None
    if operation.origin is not None:
        caller = macro = operation.origin.operation_id
    file = line = None
    if operation.site is not None:
        file, line = operation.site.file, operation.site.line
    return {
        "id": operation.id,
        "tool": operation.tool,
        "depends_on": list(operation.depends_on),
        "implied": dict(implied_by.get(caller, {})),
        "safety_level": operation.safety_level,
        "macro": macro,
        "file": file,
        "line": line,
    }


def _ended(operation: OperationReport) -> dict[str, Any]:
    """Return the outcome of an operation, except what its audit record and its receipt have."""
    fault = None
    if operation.fault is not None:
        fault = operation.fault.value
    return {
        "id": operation.operation_id,
        "tool": operation.tool,
        "status": operation.status,
        "fault": fault,
        "message": operation.message,
        "findings": [finding.to_json() for finding in operation.findings],
        "blocked": operation.blocked,
        "commit": operation.commit,
        "timings": dict(operation.timings),
    }


def _document(plan: Plan) -> dict[str, Any] | None:
    """Return the plan as a document of the operations dialect, or None if it cannot be repeated.

    The document has the same ids, so that finished operations do not run again.
    """
    if plan.dialect not in REPEATABLE or plan.single_call or not plan.operations:
        return None
    document = {
        "request_id": plan.request_id,
        "operations": [
            {
                "operation_id": operation.id,
                "tool_name": operation.tool,
                "args": dict(operation.args),
                "depends_on": list(operation.depends_on),
                "safety_level": operation.safety_level,
            }
            for operation in plan.written or plan.operations
        ],
    }
    try:
        if len(orjson.dumps(document)) <= MAX_DOCUMENT_BYTES:
            return document
        return None
    except TypeError:
        return None
