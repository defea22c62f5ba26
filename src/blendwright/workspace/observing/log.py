"""The log of the core: every event as one JSON line, with all the ids that apply to it.

Lines about operations are their audit records, so log and audit cannot disagree. The log never contains arguments and
results. Messages may quote a value, except the value of an argument that the policy redacts.

Lines go to a file of limited size in the workspace, and to standard error if the user asks for that. The log never
stops the work: if the disk refuses a line, the line is lost. Each line is one write. If a kill left an incomplete
line, the next process that opens the file ends it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from blendwright.policy.redaction import redacted_message
from blendwright.values import events
from blendwright.workspace.observing.counters import PHASES, RECORD_FIELDS, SUCCESSES, named_ids

LEVELS = ("debug", "info", "warning", "error")
DIRECTORY = "logs"
NAME = "core.jsonl"
# The size of one log file: about ten thousand operations.
MAX_FILE_BYTES = 8 * 1024 * 1024
# The number of older files that the log keeps.
ROTATED_FILES = 3

# The environment variable with the lowest level to show on standard error. "off" disables the log.
VARIABLE = "BLENDWRIGHT_LOG"
OFF = "off"
# The number of faults that the log names for one run.
MAX_LOGGED_FAULTS = 20
LINE_FIELDS = (*RECORD_FIELDS.items(), *((field, field) for _, field in PHASES))


def shown_level(environment: Mapping[str, str] | None = None) -> str | None:
    """Return the level for standard error, "off" for no log at all, or None for the file alone.

    An unknown word means info.
    """
    if environment is None:
        environment = os.environ
    word = environment.get(VARIABLE, "").strip().lower()
    if not word:
        return None
    if word in (*LEVELS, OFF):
        return word
    return "info"


class _CurrentRun(threading.local):
    """The run of the current thread.

    Each run that waits for a person has a separate thread. `about` has the fields of every line of the run.
    """

    def __init__(self, about: Mapping[str, Any]) -> None:
        self.about = about
        self.request_id: str | None = None


class Log:
    """An observer that writes the log of one workspace."""

    def __init__(self, workspace: Path, *, shown: str | None = None, redact: Sequence[str] = ()) -> None:
        self._redact = tuple(redact)
        self._file = LogFile(workspace, shown=shown)
        self._about_workspace: Mapping[str, Any] = {"workspace": str(workspace)}
        self._run = _CurrentRun(self._about_workspace)

    def __call__(self, event: events.Event) -> None:
        self._log_event(event)
        self._file.flush()
        if isinstance(event, events.WorkspaceClosed):
            self._file.close()

    def _line(self, level: str, event_name: str, **fields: Any) -> None:
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        line = {**self._run.about, **fields, "event": event_name, "level": level, "timestamp": now}
        self._file.add(level, orjson.dumps(line, default=repr))

    def _log_event(self, event: events.Event) -> None:
        match event:
            case events.Committed():
                self._operations(event)
            case events.RolledBack():
                self._operations(event)
                self._line("warning", "plan rolled back", head=event.base, taken_back=len(event.records))
            case events.RunStarted():
                self._started(event)
            case events.RunEnded():
                self._ended(event)
            case events.RunBrokenOff():
                self._line("error", "run broken off", message=event.message)
                self._run.about, self._run.request_id = self._about_workspace, None
            case events.CallEnded():
                self._called(event)
            case events.WorkerTrouble():
                level, event_name = "warning", "tool raised"
                if event.lost:
                    level, event_name = "error", "worker lost"
                about: dict[str, Any] = {"pid": event.pid, "message": event.message, "worker_log": list(event.log)}
                self._line(level, event_name, **named_ids(event.ids), **about)
            case events.Defect():
                trace = traceback.format_exception(event.error)
                self._line("error", "defect", error=repr(event.error), trace=trace)
            case _:
                self._log_workspace_event(event)

    def _log_workspace_event(self, event: events.Event) -> None:
        match event:
            case events.WorkspaceOpened():
                if event.recovered:
                    level = "warning"
                else:
                    level = "info"
                self._line(level, "workspace opened", recovered=list(event.recovered), pid=os.getpid())
            case events.WorkspaceClosed():
                self._line("info", "workspace closed")
            case events.SceneBuilt():
                level, event_name = "info", "scene built"
                if event.again:
                    level, event_name = "warning", "scene rebuilt"
                duration_ms = round(event.seconds * 1000, 3)
                about = {"scene_hash": event.scene_hash, "redone": event.redone, "duration_ms": duration_ms}
                self._line(level, event_name, pid=event.pid, **about)
            case events.CheckpointSaved():
                about = {"commit": event.commit, "scene_hash": event.scene_hash, "bytes": event.size}
                self._line("info", "checkpoint saved", **about)
            case events.HeadMoved():
                self._line("info", "head moved", kind=event.kind, origin=event.origin, head=event.to)
            case events.Quarantined():
                about = {"reason": event.reason, "expected": event.expected, "found": event.found}
                self._line("error", "quarantined", **about)
            case events.Remark():
                self._line("warning", "remark", message=event.message)
            case events.QuarantineEnded():
                self._line("warning", "quarantine ended", how=event.how)
            case _:
                pass

    def _operations(self, event: events.Committed | events.RolledBack) -> None:
        about, running = self._run.about, self._run.request_id
        for record, commit in zip(event.records, event.commits, strict=True):
            # The fields of the run apply only to its own records. Other records committed in between get the fields of the workspace.
            if record["request_id"] != running and running is not None:
                about, running = self._about_workspace, None
            if record["status"] in SUCCESSES:
                level = "info"
            else:
                level = "warning"
            line = {
                **about,
                "timestamp": record["timestamp"],
                **{name: record[field] for name, field in LINE_FIELDS},
                "commit": commit,
                "audit_sequence": record["sequence"],
                "event": "operation",
                "level": level,
            }
            self._file.add(level, orjson.dumps(line))

    def _started(self, event: events.RunStarted) -> None:
        self._run.request_id = event.request_id
        run = {"gemini_request_id": event.request_id, "schedule_hash": event.schedule_hash}
        self._run.about = {**self._about_workspace, **run}
        self._line(
            "info",
            "run started",
            dialect=event.dialect,
            boundary=event.boundary,
            operations=event.operations,
            scene_hash=event.baseline,
        )

    def _ended(self, event: events.RunEnded) -> None:
        self._run.about, self._run.request_id = self._about_workspace, None
        report = event.report
        faults = [
            {
                "operation_id": operation.operation_id,
                "mcp_call_id": operation.mcp_call_id,
                "error_code": operation.fault.value,
                "message": redacted_message(operation.message, operation.findings, self._redact),
            }
            for operation in report.operations
            if operation.fault is not None
        ]
        faults += [
            {"error_code": finding.fault.value, "message": redacted_message(finding.message, (finding,), self._redact)}
            for finding in report.findings
        ]
        self._line(
            "info" if report.ok else "warning",
            "run ended",
            gemini_request_id=report.request_id,
            schedule_hash=report.schedule_hash,
            status=report.status,
            operations=dict(Counter(operation.status for operation in report.operations)),
            duration_ms=report.timings.get("run_ms"),
            faults=faults[:MAX_LOGGED_FAULTS],
        )

    def _called(self, event: events.CallEnded) -> None:
        outcome = event.outcome
        self._line(
            "info" if outcome.ok else "warning",
            "call ended",
            **named_ids(event.ids),
            blender_mutation_id=outcome.blender_mutation_id,
            tool_name=outcome.tool,
            error_code=None if outcome.fault is None else outcome.fault.value,
            message=redacted_message(outcome.message, outcome.findings, self._redact),
            phases_ms={phase.name: phase.ms for phase in outcome.trace},
        )


class LogFile:
    """A buffered log file: `add` collects lines and `flush` writes them. Only the holder of the workspace writes it."""

    def __init__(self, workspace: Path, *, shown: str | None = None, most_bytes: int = MAX_FILE_BYTES) -> None:
        """Open the log file. `shown` is the lowest level that also goes to standard error; None shows nothing there."""
        self.path = workspace / DIRECTORY / NAME
        self._max_bytes = most_bytes
        self._shown: frozenset[str] = frozenset()
        if shown is not None:
            self._shown = frozenset(LEVELS[LEVELS.index(shown) :])
        self._lines: list[bytes] = []
        self._to_show: list[bytes] = []
        self._size = 0
        self._descriptor: int | None = None
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._open()

    def flush(self) -> None:
        """Write the lines since the last flush in one write."""
        lines, self._lines = self._lines, []
        shown, self._to_show = self._to_show, []
        if lines and self._descriptor is not None:
            with contextlib.suppress(OSError):
                self._write(b"".join(lines))
        if shown:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.buffer.write(b"".join(shown))
                sys.stderr.buffer.flush()

    def close(self) -> None:
        self.flush()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def add(self, level: str, line: bytes) -> None:
        # `+=` makes a copy: the buffer that orjson returns is about eight times as large as its text.
        line += b"\n"
        self._lines.append(line)
        if level in self._shown:
            self._to_show.append(line)

    def _write(self, text: bytes) -> None:
        if self._size and self._size + len(text) > self._max_bytes:
            self._rotate()
        if self._descriptor is not None:
            self._size += os.write(self._descriptor, text)

    def _open(self) -> None:
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(descriptor).st_size
        if self._size and os.pread(descriptor, 1, self._size - 1) != b"\n":
            self._size += os.write(descriptor, b"\n")
        self._descriptor = descriptor

    def _rotate(self) -> None:
        """Rename core.jsonl to core.jsonl.1 and so on, delete the oldest file, and open a new one."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        for number in range(ROTATED_FILES, 0, -1):
            older = self._numbered(number - 1)
            if older.exists():
                older.replace(self._numbered(number))
        self._open()

    def _numbered(self, number: int) -> Path:
        if number == 0:
            return self.path
        return self.path.with_name(f"{NAME}.{number}")
