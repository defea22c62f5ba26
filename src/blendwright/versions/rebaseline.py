"""The commit with which a workspace moves to another Blender: from there on its scenes have the hashes of that one.

It stands behind HEAD like any other commit and brings its scene as a checkpoint, saved by the new Blender. What lies before it stays, and
can be reached with the Blender that it was made with.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blendwright.engine.invocation import new_id
from blendwright.engine.moves.commit_names import require_head
from blendwright.journal import Journal
from blendwright.records.audit import AuditDetails
from blendwright.records.commits import Commit, NewCommit
from blendwright.util import crash_points

UPGRADE = "workspace.upgrade"


def rebaseline(
    journal: Journal, file: Path, scene_hash: str, args: Mapping[str, Any], report: Mapping[str, Any]
) -> Commit:
    """Go on with the scene of a file that the new Blender saved, and that hashes to this there. `report` says what was compared."""
    before = require_head(journal).hash_after
    checkpoint = journal.checkpoints.stage(file, scene_hash)
    crash_points.reach("upgrade.staged")
    mutation = new_id()
    receipt = {
        "status": "succeeded",
        **report,
        "blender_mutation_id": mutation,
        "scene_hash_before": before,
        "scene_hash_after": scene_hash,
    }
    entry = NewCommit(
        operation_key=None,
        request_id=new_id(),
        operation_id="upgrade",
        tool=UPGRADE,
        tool_version=1,
        args=args,
        hash_before=before,
        hash_after=scene_hash,
        replayable=False,
        receipt=receipt,
        # What the new Blender does not know is lost in its scene.
        audit=AuditDetails(new_id(), "destructive", mutation),
        kind="rebaseline",
        checkpoint=checkpoint,
    )
    crash_points.reach("upgrade.before_commit")
    journal.commit([entry])
    crash_points.reach("upgrade.committed")
    return require_head(journal)
