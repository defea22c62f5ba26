"""An early start of Blender for `run` and `call`, while the program still loads. A short plan then takes as long as
Blender's start.

The early start is a guess: the Blender of this environment with the usual limits. The workspace adopts the process
only if it would have started the same one. Otherwise the command ends the process, which costs only time of another
processor core. The start does not touch the workspace: the scratch of the process is in the user's cache directory.
It saves 0.4 to 0.5 s of each short `run` (decision 197).

The module imports little, because it runs before everything else.
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
# Options with which a command needs no Blender, or another one.
EXCLUDING_OPTIONS = frozenset({"--help", "--attach", "--blender", "--contract"})
# The folder for scratch, in the user's cache directory.
CACHE_FOLDER = "early"
# The file that binds a workspace to a window, which has a Blender of its own.
WINDOW = "window.json"
# Settings that decide which Blender starts and with which limits.
DECIDING_SETTINGS = frozenset({"use", "memory_mb", "scratch_mb"})

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
            hold_interrupts()  # the command has ended, so no code is left to handle an interrupt
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
    """Return the workspace that a command line will open with the usual Blender, or None.

    Typer parses the command line later.
    """
    if not arguments or arguments[0] not in COMMANDS:
        return None
    workspace = DEFAULT
    for position, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name in EXCLUDING_OPTIONS:
            return None
        if name == WORKSPACE:
            if equals:
                workspace = value
            else:
                workspace = next(iter(arguments[position + 1 : position + 2]), DEFAULT)
    return workspace


def start_early(workspace: str) -> EarlyWorker | None:
    """Start Blender. Return None if the workspace probably needs another Blender, or the start fails: opening the
    workspace reports errors.
    """
    # Imported here, because other commands do not need these modules.
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
    except Exception:  # an outermost place: a failed guess must not disturb the command
        return None


def _decides(file: Path) -> bool:
    """Return whether a settings file affects the choice of Blender.

    Opening the workspace later checks the whole file.
    """
    return file.exists() and not DECIDING_SETTINGS.isdisjoint(_names(tomllib.loads(file.read_text("utf-8"))))


def _names(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of all settings, including settings in nested tables."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _names(cast("Mapping[str, Any]", value))
        else:
            yield name
