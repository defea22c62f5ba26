"""What logs, metrics and traces say alike: the names of ids and fields, which statuses are successes, and what an event counts."""

from __future__ import annotations

from collections.abc import Mapping

from blendwright.values import events

SUCCESSES = frozenset({"succeeded", "skipped_idempotent"})
PHASES = (("plan", "plan_us"), ("execute", "execute_us"), ("verify", "verify_us"))
# The fields of an audit record that name an operation and its outcome, under the names that they have outside the journal.
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
    "rollbacks": "Plans that were taken back as a whole.",
    "quarantines": "Times that journal and scene disagreed.",
}
# Only a process that is alive knows these.
LIVE_COUNTS = {
    "recoveries": "Openings after which something had to be put in order.",
    "worker_restarts": "Scenes rebuilt in another worker.",
    "workers_lost": "Workers that died, or were ended because of a call.",
    "checkpoints": "Scenes saved.",
    "checkpoint_bytes": "Bytes of saved scenes.",
}


def counts_of(event: events.Event) -> Mapping[str, int]:
    """What an event adds to COUNTS and LIVE_COUNTS."""
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
