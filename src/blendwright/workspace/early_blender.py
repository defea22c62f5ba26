"""Blender, started for `run` and `call` while the program still loads: a short plan then takes as long as Blender takes to start.

It is a guess: the Blender of this environment with the usual limits. The workspace adopts the process only if it would have started
the same one; otherwise the process is ended, and only time of another processor core was lost. The workspace is not touched: the process
has its scratch in the user's cache directory. Measured: 0.4 to 0.5 s of each short `run` (decision 197).

Imports little, because this comes before everything else.
"""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from blendwright.util.interrupts import accept_interrupts, hold_interrupts

if TYPE_CHECKING:
    from blendwright.bridge.spawn import EarlyWorker

COMMANDS = frozenset({"run", "call"})
WORKSPACE = "--workspace"
DEFAULT = ".blendwright"
# Options of command lines that need no Blender, or another one.
OTHERWISE = frozenset({"--help", "--attach", "--blender", "--contract"})
# The directory for scratch, in the user's cache directory.
CACHE_FOLDER = "early"
# The binding of a workspace to a window, whose Blender is another one.
WINDOW = "window.json"
# Settings that decide which Blender is started, and with what limits.
DECIDING = frozenset({"use", "memory_mb", "scratch_mb"})

_started: tuple[str, EarlyWorker] | None = None


@contextlib.contextmanager
def blender_started(arguments: Sequence[str]) -> Generator[None]:
    """Start Blender if this command line is expected to need it, and end it with the command if no workspace adopted it."""
    global _started
    workspace = expected_workspace(arguments)
    if workspace is None:
        early = None
    else:
        early = start_early(workspace)
    if workspace is None or early is None:
        _started = None
    else:
        _started = (workspace, early)
    try:
        yield
    finally:
        _started = None
        if early is not None and not early.adopted:
            hold_interrupts()  # the command has ended, and nobody is left to answer one
            try:
                early.discard()
            finally:
                with contextlib.suppress(KeyboardInterrupt):
                    accept_interrupts()


def early_blender(workspace: str) -> EarlyWorker | None:
    """Return the process that was started for this workspace."""
    if _started is None or _started[0] != workspace:
        return None
    return _started[1]


def expected_workspace(arguments: Sequence[str]) -> str | None:
    """Return the workspace that a command line will open with the usual Blender, or None. Typer reads the command line later."""
    if not arguments or arguments[0] not in COMMANDS:
        return None
    workspace = DEFAULT
    for position, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name in OTHERWISE:
            return None
        if name == WORKSPACE:
            if equals:
                workspace = value
            else:
                workspace = next(iter(arguments[position + 1 : position + 2]), DEFAULT)
    return workspace


def start_early(workspace: str) -> EarlyWorker | None:
    """Start Blender, or return None where another one is expected or none can be started. Opening the workspace reports what is wrong."""
    # Here, because other commands load none of this.
    from blendwright.bridge.environments.series import own_blender
    from blendwright.bridge.sources.python_environment import PythonEnvironment
    from blendwright.bridge.spawn import EarlyWorker, WorkerSettings, spawn
    from blendwright.tools.registry_cache import user_directory
    from blendwright.workspace.locations import SETTINGS, user_file, workspace_directory
    from blendwright.workspace.scratch import SessionScratch

    try:
        directory, cache = workspace_directory(workspace), user_directory()
        if cache is None or own_blender() is None or (directory / WINDOW).exists():
            return None
        if _decides(directory / SETTINGS) or _decides(user_file()):
            return None
        scratch = SessionScratch(cache / CACHE_FOLDER)
        try:
            settings, blender = WorkerSettings(scratch.path), PythonEnvironment()
            return EarlyWorker(spawn(blender.command, settings), blender.command([]), settings, scratch.remove)
        except BaseException:
            scratch.remove()
            raise
    except Exception:  # an outermost place: nothing that goes wrong with a guess is worth a message
        return None


def _decides(file: Path) -> bool:
    """Whether a settings file says which Blender to start. Whether it is sound shows when the workspace is opened."""
    return file.exists() and not DECIDING.isdisjoint(_names(tomllib.loads(file.read_text("utf-8"))))


def _names(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of all settings, in whichever table."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _names(cast("Mapping[str, Any]", value))
        else:
            yield name
