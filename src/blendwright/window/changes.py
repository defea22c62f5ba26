"""Changes of a person in a window: their description, and their commit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from blendwright.engine.invocation import new_id
from blendwright.engine.scene.external_files import External
from blendwright.records.audit import AuditDetails
from blendwright.records.checkpoints import StagedCheckpoint
from blendwright.records.commits import CommitKind, NewCommit
from blendwright.util.invisible_text import escape_invisible
from blendwright.values.findings import cut

MAX_NAMED_CHANGES = 8


def described(changes: Sequence[Sequence[str]]) -> str:
    """Return one line about the changes, for example `Cube changed (objects), Lamp created (objects) and 3 more`."""
    text = ", ".join(f"{_shown(change[1])} {change[-1]} ({change[0]})" for change in changes[:MAX_NAMED_CHANGES])
    if len(changes) > MAX_NAMED_CHANGES:
        text += f" and {len(changes) - MAX_NAMED_CHANGES} more"
    return text


def _shown(name: str) -> str:
    """Return a name from a person as one safe line."""
    return cut(escape_invisible(" ".join(name.split())))


def taken_in(
    kind: CommitKind,
    tool: str,
    file: str,
    before: str,
    checkpoint: StagedCheckpoint,
    changes: Sequence[Sequence[str]],
    externals: Sequence[External] = (),
) -> NewCommit:
    """Return the commit of a scene that a person made."""
    mutation = new_id()
    name = _shown(Path(file).name)
    if kind == "baseline":
        request_id = "workspace"
        operation_id = "baseline"
        safety_level = "safe_write"
    else:
        request_id = new_id()
        operation_id = "edit"
        safety_level = "destructive"
    receipt = {
        "status": "succeeded",
        "by": "person",
        "file": name,
        "file_sha256": checkpoint.sha256,
        "changes": [[*change] for change in changes],
        "summary": described(changes),
        "blender_mutation_id": mutation,
        "scene_hash_before": before,
        "scene_hash_after": checkpoint.scene_hash,
        "externals": [external.to_json() for external in externals],
    }
    return NewCommit(
        operation_key=None,
        request_id=request_id,
        operation_id=operation_id,
        tool=tool,
        tool_version=1,
        args={"window": name, "summary": described(changes)},
        hash_before=before,
        hash_after=checkpoint.scene_hash,
        replayable=False,
        receipt=receipt,
        audit=AuditDetails(new_id(), safety_level, mutation),
        kind=kind,
        checkpoint=checkpoint,
    )
