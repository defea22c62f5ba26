"""A workspace that is looked at, or mended, instead of worked in: its journal and a Blender of its own to rebuild scenes in.

Looking takes no lock and writes nothing, so it works beside an open workspace and in a quarantined one. Mending takes the lock.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from blendwright.app.observing.watch import Watch, watch_workspace
from blendwright.app.policy_files import load_policy
from blendwright.app.session_scratch import SessionScratch
from blendwright.bridge.pool import Pool
from blendwright.bridge.spawn import SpawnOptions
from blendwright.contracts.events import WorkspaceClosed
from blendwright.contracts.journal_port import JournalPort, JournalReader
from blendwright.contracts.worker_port import WorkerPort
from blendwright.journal import Journal, JournalView
from blendwright.run.externals import Externals
from blendwright.run.replaying import fresh
from blendwright.tools import catalog
from blendwright.tools.registry import registry_fingerprint
from blendwright.values.errors import EnvironmentUnfit


@contextlib.contextmanager
def looking(workspace: str | Path) -> Generator[JournalReader]:
    """The journal, for those who only read. Raises EnvironmentUnfit when there is none."""
    view = JournalView(Path(workspace).resolve())
    try:
        yield view
    finally:
        view.close()


@contextlib.contextmanager
def mending(workspace: str | Path) -> Generator[JournalPort]:
    """The journal, writable also in quarantine. Raises EnvironmentUnfit when there is none or another process holds it."""
    with looking(workspace):
        pass
    place = Path(workspace).resolve()
    watch = Watch()
    journal = Journal(place, recovering=True, observe=watch)
    watch_workspace(watch, place)
    try:
        yield journal
    finally:
        watch(WorkspaceClosed())
        journal.close()


@dataclass(frozen=True, slots=True)
class Stage:
    """Starts Blenders that hold no scene of the workspace yet."""

    pool: Pool
    catalogue: str

    def worker(self) -> WorkerPort:
        return fresh(self.pool, self.catalogue)


@contextlib.contextmanager
def stage(workspace: str | Path, *, blender: str | Path | None = None) -> Generator[Stage]:
    """Blenders for rebuilding, in the scratch of the workspace; they end with the context."""
    place = Path(workspace).resolve()
    try:
        scratch = SessionScratch(place / "scratch")
    except OSError as error:
        raise EnvironmentUnfit(
            f"Blender needs room in {place / 'scratch'}: {error.strerror}", cure="Make it writable."
        ) from error
    pool = Pool(SpawnOptions(scratch.path, blender=None if blender is None else Path(blender)))
    try:
        with looking(place) as journal:
            pool.allow(Externals(load_policy(place).policy.policy.roots, workspace=place).readable(journal))
        yield Stage(pool, registry_fingerprint(type(tool) for tool in catalog.tools().values()))
    finally:
        pool.close()
        scratch.remove()
