"""The commit that moves a workspace to another Blender. From there on, its scenes have the hashes of that Blender.

It follows HEAD like any other commit, and has a checkpoint that the new Blender saved. The earlier commits stay and
remain reachable with the old Blender.
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
    """Commit the scene of a file that the new Blender saved, with the hash that it has there.

    `report` describes the comparison.
    """
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
        # Destructive, because the scene loses data that the new Blender does not know.
        audit=AuditDetails(new_id(), "destructive", mutation),
        kind="rebaseline",
        checkpoint=checkpoint,
    )
    crash_points.reach("upgrade.before_commit")
    journal.commit([entry])
    crash_points.reach("upgrade.committed")
    return require_head(journal)
