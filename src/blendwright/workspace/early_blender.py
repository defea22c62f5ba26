"""Blender, started for a workspace that is not open yet, while the program still loads: a short plan at a terminal then takes as long as
Blender does, and not as long as both one after the other.

Started is what a new workspace gets: the Blender of this environment with the usual limits. For one that is there already, the last
session left a note whether it worked with such a one; a note that is wrong costs a start in vain and nothing else, since a worker that
is not what the session would have started is ended. The workspace itself is not touched, whosever it is: the worker has its scratch in
the user's cache directory. Loads little, since it comes before everything else.
"""

from __future__ import annotations

import contextlib
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from blendwright.bridge import early_worker
from blendwright.bridge.early_worker import EarlyWorker
from blendwright.bridge.environments.series import own_blender
from blendwright.tools import registry_cache
from blendwright.values.errors import BlendwrightError
from blendwright.workspace.locations import SETTINGS, is_workspace, user_file, workspace_directory
from blendwright.workspace.scratch import SessionScratch

if TYPE_CHECKING:
    from blendwright.wire.worker_port import WorkerPool

SCRATCH = "scratch"
# In the scratch of a workspace: its last session worked with a Blender such as is started here.
NOTE = ".own-blender"
# In the user's cache directory.
PLACE = "early"
# The binding to a window, whose Blender is another one.
WINDOW = "window.json"
# Settings that decide which Blender is started, and with what.
DECIDING = frozenset({"use", "memory_mb", "scratch_mb"})


@dataclass(slots=True)
class EarlyBlender:
    """A worker for a session to come. Whoever opens the workspace takes it; otherwise it is dropped."""

    directory: Path
    worker: EarlyWorker
    taken: bool = False

    def give_to(self, pool: WorkerPool) -> None:
        from blendwright.bridge.pool import Pool

        if isinstance(pool, Pool):
            self.taken = True
            pool.adopt(self.worker)

    def drop(self) -> None:
        """End it, unless it was taken."""
        if not self.taken:
            self.taken = True
            self.worker.discard()


def start_early(workspace: str) -> EarlyBlender | None:
    """None where another Blender is to be expected, or none can be started: whoever opens the workspace finds out what is wrong."""
    try:
        directory, cache = workspace_directory(workspace), registry_cache.user_directory()
        if cache is None or not _is_expected(directory):
            return None
        scratch = SessionScratch(cache / PLACE)
        try:
            return EarlyBlender(directory, early_worker.start(scratch.path, scratch.remove))
        except BaseException:
            scratch.remove()
            raise
    except Exception:  # an outermost place: nothing that goes wrong with a guess is worth a word
        return None


def note_blender(scratch: Path, pool: WorkerPool) -> None:
    """Leave a note for the next start, in the scratch of the workspace."""
    from blendwright.bridge.pool import Pool

    note = scratch / NOTE
    with contextlib.suppress(OSError, BlendwrightError):
        if isinstance(pool, Pool) and pool.starts_plainly:
            # A workspace may be somebody else's: no link in it is followed.
            os.close(os.open(note, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600))
        else:
            note.unlink(missing_ok=True)


def _is_expected(directory: Path) -> bool:
    if own_blender() is None or (directory / WINDOW).exists():
        return False
    if is_workspace(directory):
        return (directory / SCRATCH / NOTE).exists() and not _is_decided(user_file())
    return not (directory / SETTINGS).exists() and not _is_decided(user_file())


def _is_decided(file: Path) -> bool:
    """Whether settings of the user say something about it. Whether they are sound shows when the workspace is opened."""
    return file.exists() and not DECIDING.isdisjoint(_names(tomllib.loads(file.read_text("utf-8"))))


def _names(table: Mapping[str, Any]) -> Iterator[str]:
    """Of all settings, in whichever table."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _names(cast("Mapping[str, Any]", value))
        else:
            yield name
