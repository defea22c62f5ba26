"""Counters of events. They are plain numbers; metrics are made from them on request.

The module also has what logs, metrics and traces share: names of ids and fields, the successful statuses, and the
counts of an event.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from blendwright.journal import JournalView
from blendwright.journal.statistics import Statistics
from blendwright.values import events

SUCCESSES = frozenset({"succeeded", "skipped_idempotent"})
PHASES = (("plan", "plan_us"), ("execute", "execute_us"), ("verify", "verify_us"))
# The fields of an audit record that identify an operation and its outcome, by their names outside the journal.
RECORD_FIELDS = {
    "gemini_request_id": "request_id",
    "operation_id": "operation_id",
    "mcp_call_id": "mcp_call_id",
    "blender_mutation_id": "blender_mutation_id",
    "tool_name": "tool_name",
    "safety_level": "safety_level",
    "status": "status",
    "error_code": "error_code",
    "scene_hash_before": "scene_hash_before",
    "scene_hash_after": "scene_hash_after",
}
COUNTS = {
    "commits": "Commits to the journal.",
    "rollbacks": "Plans that were rolled back.",
    "quarantines": "Times that journal and scene disagreed.",
}
# Counts that only a running process knows.
LIVE_COUNTS = {
    "recoveries": "Openings that repaired the workspace.",
    "worker_restarts": "Scenes rebuilt in another worker.",
    "workers_lost": "Workers that died or were ended because of a call.",
    "checkpoints": "Scenes saved.",
    "checkpoint_bytes": "Bytes of saved scenes.",
}


def counts_of(event: events.Event) -> Mapping[str, int]:
    """Return the increments of COUNTS and LIVE_COUNTS for an event."""
    match event:
        case events.Committed():
            return {"commits": len(event.commits) - event.commits.count(None)}
        case events.RolledBack():
            return {"rollbacks": 1}
        case events.CheckpointSaved():
            return {"checkpoints": 1, "checkpoint_bytes": event.size}
        case events.SceneBuilt():
            return {"worker_restarts": int(event.again)}
        case events.WorkerTrouble():
            return {"workers_lost": int(event.lost)}
        case events.WorkspaceOpened():
            return {"recoveries": int(bool(event.recovered))}
        case events.Quarantined():
            return {"quarantines": 1}
        case _:
            return {}


def named_ids(ids: events.CallIds) -> dict[str, str | None]:
    return {
        "gemini_request_id": ids.request_id,
        "operation_id": ids.operation_id,
        "mcp_call_id": ids.mcp_call_id,
    }


# Upper bounds of histogram buckets, in seconds. A simple operation takes a tenth of a millisecond, a render takes minutes.
OPERATION_BOUNDS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
RUN_BOUNDS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
RECORDS_PER_PAGE = 5000

Record = Mapping[str, Any]


class Durations:
    """A histogram of durations. Each bucket keeps its latest record as an example."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.examples: list[tuple[Record, float] | None] = [None] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, seconds: float, record: Record | None = None) -> None:
        bucket = bisect_left(self.bounds, seconds)
        self.counts[bucket] += 1
        self.sum += seconds
        if record is not None:
            self.examples[bucket] = (record, seconds)


class EventCounters:
    """An observer that counts events, for one open workspace or for the content of one journal."""

    def __init__(self) -> None:
        self.operations: Counter[tuple[str, str]] = Counter()
        self.examples: dict[tuple[str, str], Record] = {}
        self.failures: Counter[tuple[str, str]] = Counter()
        self.refusals: Counter[str] = Counter()
        self.durations: defaultdict[str, Durations] = defaultdict(lambda: Durations(OPERATION_BOUNDS))
        self.phases: Counter[str] = Counter()
        self.runs: Counter[tuple[str, str]] = Counter()
        self.run_durations = Durations(RUN_BOUNDS)
        self.rebuild_durations = Durations(RUN_BOUNDS)
        self.counts: Counter[str] = Counter()
        self.moves: Counter[str] = Counter()
        self.stored: Statistics | None = None

    def __call__(self, event: events.Event) -> None:
        for name, count in counts_of(event).items():
            self.counts[name] += count
        match event:
            case events.Committed() | events.RolledBack():
                for record in event.records:
                    self.add(record)
            case events.RunEnded():
                self._ended(event)
            case events.RunBrokenOff():
                self.runs[event.dialect, "broken_off"] += 1
            case events.CallEnded():
                if not event.recorded and event.outcome.fault is not None:
                    self.refusals[event.outcome.fault.value] += 1
            case events.SceneBuilt():
                self.rebuild_durations.add(event.seconds)
            case events.HeadMoved():
                self.moves[event.kind] += 1
            case _:
                pass

    def add(self, record: Record) -> None:
        """Count one audit record."""
        tool, code = record["tool_name"], record["error_code"]
        key = tool, record["status"]
        self.operations[key] += 1
        self.examples[key] = record
        if code is not None:
            self.failures[tool, code] += 1
        if record["plan_us"] is None:
            return
        total_us = 0
        for phase, field in PHASES:
            phase_us = record[field] or 0
            self.phases[phase] += phase_us
            total_us += phase_us
        self.durations[tool].add(total_us / 1e6, record)

    def _ended(self, event: events.RunEnded) -> None:
        report = event.report
        self.runs[report.dialect, report.status] += 1
        if "run_ms" in report.timings:
            self.run_durations.add(report.timings["run_ms"] / 1000)
        if report.status == "refused":
            self.refusals.update(finding.fault.value for finding in report.all_findings())


def count_journal(journal: JournalView) -> EventCounters:
    """Return counters for the content of a journal, whichever processes wrote it.

    They have no counts of runs and workers.
    """
    counters = EventCounters()
    last = 0
    while page := journal.audit.records(after=last, limit=RECORDS_PER_PAGE):
        for record in page:
            counters.add(record.record)
        last = page[-1].sequence
    stored = journal.statistics()
    counters.stored = stored
    counters.counts["commits"] = sum(stored.commits.values())
    counters.counts["rollbacks"] = stored.moves.get("rollback", 0)
    counters.counts["quarantines"] = stored.quarantines
    counters.moves.update({kind: count for kind, count in stored.moves.items() if kind in ("checkout", "undo", "redo")})
    return counters
