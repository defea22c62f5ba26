"""Blender, started for a workspace that is not open yet, while the program still loads: a short plan at a terminal then takes as long as
Blender does, and not as long as both one after the other.

Started is what a new workspace gets: the Blender of this environment with the usual limits. For one that is there already, the last
session left a note whether it worked with such a one; a note that is wrong costs a start in vain and nothing else, since a worker that
is not what the session would have started is ended. Nothing is read from the scene or the journal, and where no workspace comes of it
everything that was made goes again. Loads little, since it comes before everything else.
"""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from blendwright.app.places import SETTINGS, is_workspace, user_file, workspace_directory
from blendwright.app.session_scratch import ROOT_LOCK, SessionScratch
from blendwright.bridge import early_worker
from blendwright.bridge.early_worker import EarlyWorker
from blendwright.bridge.environments.series import own_blender
from blendwright.journal.file_modes import make_private_workspace
from blendwright.values.errors import BlendwrightError

if TYPE_CHECKING:
    from blendwright.wire.worker_port import WorkerPool

SCRATCH = "scratch"
# In the scratch of a workspace: its last session worked with a Blender such as is started here.
NOTE = ".own-blender"
# The binding to a window, whose Blender is another one.
WINDOW = "window.json"
# Settings that decide which Blender is started, and with what.
DECIDING = frozenset({"blender", "memory_mb", "scratch_mb"})


@dataclass(slots=True)
class EarlyBlender:
    """The scratch of a session to come, with a worker in it. Whoever opens the workspace takes both; otherwise they are dropped."""

    directory: Path
    scratch: SessionScratch
    worker: EarlyWorker
    made: tuple[Path, ...]
    """Directories that were not there before, the innermost first."""
    taken: bool = False

    def give_to(self, pool: WorkerPool) -> None:
        """The session has the scratch already; from here on all of it is the session's."""
        from blendwright.bridge.pool import Pool

        if isinstance(pool, Pool):
            pool.adopt(self.worker)
        else:
            self.worker.discard()
        self.taken = True

    def drop(self) -> None:
        """End it, unless it was taken, and leave everything as it was."""
        if self.taken:
            return
        self.taken = True
        self.worker.discard()
        self.scratch.remove()
        _remove_made(self.made)


def start_early(workspace: str) -> EarlyBlender | None:
    """None where another Blender is to be expected, or none can be started: whoever opens the workspace finds out what is wrong."""
    made: list[Path] = []
    try:
        directory = workspace_directory(workspace)
        if not _is_expected(directory):
            return None
        scratch = directory / SCRATCH
        made += [path for path in (scratch, directory, *directory.parents) if not path.exists()]
        make_private_workspace(directory)
        session = SessionScratch(scratch)
        try:
            return EarlyBlender(directory, session, early_worker.start(session.path), tuple(made))
        except BaseException:
            session.remove()
            raise
    except (BlendwrightError, OSError):
        _remove_made(made)
        return None


def note_blender(scratch: Path, pool: WorkerPool) -> None:
    """Leave a note for the next start, in the scratch of the workspace."""
    from blendwright.bridge.pool import Pool

    with contextlib.suppress(OSError, BlendwrightError):
        if isinstance(pool, Pool) and pool.starts_plainly:
            (scratch / NOTE).touch()
        else:
            (scratch / NOTE).unlink(missing_ok=True)


def _is_expected(directory: Path) -> bool:
    if own_blender() is None or (directory / WINDOW).exists():
        return False
    # A directory that is no workspace yet may be somebody's project: it is not touched before there is a plan that can run.
    if directory.exists() and not (is_workspace(directory) and (directory / SCRATCH / NOTE).exists()):
        return False
    return DECIDING.isdisjoint(name for file in (user_file(), directory / SETTINGS) for name in _names_in(file))


def _names_in(file: Path) -> Iterator[str]:
    """The names of all settings and tables in a file. Whether they are sound shows when the workspace is opened."""
    if file.is_file():
        try:
            yield from _names(tomllib.loads(file.read_text("utf-8")))
        except ValueError:
            yield from DECIDING


def _names(table: Mapping[str, Any]) -> Iterator[str]:
    for name, value in table.items():
        yield name
        if isinstance(value, dict):
            yield from _names(cast("Mapping[str, Any]", value))


def _remove_made(made: Sequence[Path]) -> None:
    """Directories in which nothing was put since."""
    for path in made:
        with contextlib.suppress(OSError):
            (path / ROOT_LOCK).unlink(missing_ok=True)
            path.rmdir()
