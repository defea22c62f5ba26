"""What a person changed in a window: in words, and as a commit."""

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

MOST_NAMED = 8


def described(changes: Sequence[Sequence[str]]) -> str:
    """One line of what came, went and changed: `Cube changed (objects), Lamp created (objects) and 3 more`."""
    named = [f"{_shown(change[1])} {change[-1]} ({change[0]})" for change in changes[:MOST_NAMED]]
    more = len(changes) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def _shown(name: str) -> str:
    """A name of a person's, in one line."""
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
    """The commit of a scene that a person made."""
    mutation, name = new_id(), _shown(Path(file).name)
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
        request_id="workspace" if kind == "baseline" else new_id(),
        operation_id="baseline" if kind == "baseline" else "edit",
        tool=tool,
        tool_version=1,
        args={"window": name, "summary": described(changes)},
        hash_before=before,
        hash_after=checkpoint.scene_hash,
        replayable=False,
        receipt=receipt,
        audit=AuditDetails(new_id(), "safe_write" if kind == "baseline" else "destructive", mutation),
        kind=kind,
        checkpoint=checkpoint,
    )
