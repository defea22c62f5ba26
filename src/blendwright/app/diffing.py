"""The difference of two commits: both scenes rebuilt, each in a Blender of its own, and compared property by property."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from blendwright.app.read_workspace import InspectionWorkers
from blendwright.journal import JournalView
from blendwright.records.commits import Commit
from blendwright.run.differences import Difference, SceneSnapshot, compare, take_snapshot
from blendwright.run.rebuild import rebuild_commit
from blendwright.run.snapshots import objects_to_inspect, with_modifier_settings
from blendwright.wire.remote_scene import RemoteScene


def difference(journal: JournalView, workers: InspectionWorkers, before: Commit, after: Commit) -> Difference:
    """Raises RebuildFailed with both hashes when a scene is not what the journal says."""
    with ThreadPoolExecutor(2) as starting:
        first, second = (start.result() for start in [starting.submit(workers.worker) for _ in range(2)])
    old, new = _snapshot(journal, first, before), _snapshot(journal, second, after)
    names = objects_to_inspect(old, new)
    return compare(with_modifier_settings(old, names, first), with_modifier_settings(new, names, second))


def _snapshot(journal: JournalView, worker: RemoteScene, commit: Commit) -> SceneSnapshot:
    rebuild_commit(worker, journal, commit.number)
    return take_snapshot(worker)
