"""The difference of two commits: both scenes rebuilt, each in a Blender of its own, and compared property by property."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from blendwright.app.read_workspace import InspectionScene
from blendwright.records.commits import Commit
from blendwright.records.journal_port import JournalReader
from blendwright.run.differences import Difference, Picture, compare, take
from blendwright.run.replaying import rebuild
from blendwright.run.snapshots import to_look_into, with_modifier_settings
from blendwright.wire.remote_scene import RemoteScene


def difference(journal: JournalReader, stage: InspectionScene, before: Commit, after: Commit) -> Difference:
    """Raises RebuildFailed with both hashes when a scene is not what the journal says."""
    with ThreadPoolExecutor(2) as starting:
        first, second = (start.result() for start in [starting.submit(stage.worker) for _ in range(2)])
    old, new = _taken(journal, first, before), _taken(journal, second, after)
    names = to_look_into(old, new)
    return compare(with_modifier_settings(old, names, first), with_modifier_settings(new, names, second))


def _taken(journal: JournalReader, worker: RemoteScene, commit: Commit) -> Picture:
    rebuild(worker, journal, commit.number)
    return take(worker)
