"""Access to a workspace for reading or repairing: its journal, and Blenders that rebuild its scenes.

Reading takes no lock and writes nothing, so it works next to an open workspace and in quarantine. Repairing takes the
lock.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from blendwright.bridge.spawn import WorkerSettings
from blendwright.bridge.worker_source import WorkerSource
from blendwright.engine.scene.external_files import Externals
from blendwright.engine.scene.rebuild import take_worker
from blendwright.journal import Journal, JournalView
from blendwright.tools import catalog
from blendwright.values.events import WorkspaceClosed
from blendwright.wire.remote_scene import RemoteScene
from blendwright.wire.worker_port import WorkerPool
from blendwright.workspace.blender_choice import chosen_blender
from blendwright.workspace.observing.event_bus import EventBus, open_event_bus
from blendwright.workspace.policy_files import load_policy
from blendwright.workspace.scratch import SessionScratch, unfit_on_os_error
from blendwright.workspace.settings import heads_directory, workspace_roots


def read_journal(workspace: str | Path) -> contextlib.AbstractContextManager[JournalView]:
    """Return a context with the journal for reading. Raise EnvironmentUnfit when it does not exist."""
    return contextlib.closing(JournalView(Path(workspace).resolve()))


@contextlib.contextmanager
def repair_journal(workspace: str | Path) -> Generator[Journal]:
    """Yield the journal for writing, even in quarantine.

    Raise EnvironmentUnfit when it does not exist or another process holds it.
    """
    with read_journal(workspace):
        pass
    directory = Path(workspace).resolve()
    events = EventBus()
    policy = load_policy(directory).policy
    journal = Journal(
        directory,
        recovering=True,
        heads_outside=heads_directory(policy),
        head_command=policy.journal.audit_heads_command,
        observe=events,
    )
    open_event_bus(events, directory)
    try:
        yield journal
    finally:
        events(WorkspaceClosed())
        journal.close()


@dataclass(frozen=True, slots=True)
class InspectionWorkers:
    """A source of Blenders that rebuild scenes of a workspace. Each new worker starts without a scene."""

    pool: WorkerPool
    catalogue: str

    def worker(self) -> RemoteScene:
        return take_worker(self.pool, self.catalogue)


@contextlib.contextmanager
def inspection_workers(
    workspace: str | Path, *, blender: str | Path | WorkerSource | None = None
) -> Generator[InspectionWorkers]:
    """Yield a source of Blenders in the scratch of the workspace. The Blenders end with the context."""
    directory = Path(workspace).resolve()
    with unfit_on_os_error(f"Blender cannot use the directory {directory / 'scratch'}", "Make it writable."):
        scratch = SessionScratch(directory / "scratch")
    pool = chosen_blender(directory, blender).open_pool(WorkerSettings(scratch.path))
    try:
        with read_journal(directory) as journal:
            pool.allow(Externals(workspace_roots(directory)).readable(journal))
        yield InspectionWorkers(pool, catalog.fingerprint())
    finally:
        pool.close()
        scratch.remove()
