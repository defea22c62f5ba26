"""Functions that attach a workspace to an open window and detach it, for every front end."""

from __future__ import annotations

import os
from pathlib import Path

from blendwright.engine.files.scratch import SCENE_FILE
from blendwright.engine.moves.commit_names import require_head
from blendwright.engine.scene.rebuild import rebuild_commit
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.views.export import copy_whole
from blendwright.window.binding import AUTO, Attached, BoundWindow, WindowBinding, choose_window
from blendwright.window.connection.rendezvous import OpenWindow, open_windows
from blendwright.window.connection.window import connect
from blendwright.workspace.locations import is_workspace, workspace_directory
from blendwright.workspace.opening import open
from blendwright.workspace.reading import inspection_workers, read_journal


def list_windows() -> list[OpenWindow]:
    """Return the windows that offer a connection, newest first."""
    return open_windows()


def attach(
    workspace: str | Path,
    window_choice: str | None = None,
    *,
    blender: str | Path | None = None,
    restore: bool = False,
    keep: bool = False,
) -> Attached:
    """Bind a workspace to a window and compare their scenes.

    By default the window's scene counts, and its differences become a commit of the person. `restore` loads the
    journal's scene into the window instead. `keep` selects the window's scene after the two have diverged. Raises
    Refusal or EnvironmentUnfit; the previous binding then remains.
    """
    directory = workspace_directory(workspace)
    binding = WindowBinding(directory)
    before = binding.read()
    window = choose_window(window_choice)
    if before is not None and before.diverged and not (restore or keep):
        raise EnvironmentUnfit(before.diverged, cure="Choose one scene: blendwright attach --restore, or --keep.")
    if restore and not is_workspace(directory):
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"{directory} has no scene to restore", "Attach it without --restore.")
    directory.mkdir(parents=True, exist_ok=True)
    try:
        if restore:
            restored = _restore(directory, window, blender)
        else:
            restored = None
        binding.bind(window)
        with open(directory, blender=blender, spare=False) as scene:
            head_before = scene.journal.head
            with scene.turn("attach"):
                head = require_head(scene.journal)
            summary = ""
            if head_before is None or head.number != head_before.number:
                summary = str(head.receipt.get("summary", ""))
            return Attached(window, head.number, summary, restored)
    except BaseException:
        if before is None:
            binding.remove()
        else:
            binding.write(before)
        raise


def _restore(directory: Path, window: OpenWindow, blender: str | Path | None) -> Path:
    """Write the journal's scene to a new file, open it in the window, and return its path."""
    # Use a new name, because the person may have saved an earlier restored file and worked in it.
    file = directory / f"restored-{window.pid}.blend"
    number = 2
    while os.path.lexists(file):
        file = directory / f"restored-{window.pid}-{number}.blend"
        number += 1

    with read_journal(directory) as journal, inspection_workers(directory, blender=blender) as inspection:
        worker = inspection.worker()
        rebuild_commit(worker, journal, require_head(journal).number)
        worker.save(SCENE_FILE)
        copy_whole(worker.require_process().scratch / SCENE_FILE, file)
    connection = connect(window)
    try:
        connection.load(file)
    finally:
        connection.close()
    return file


def detach(workspace: str | Path) -> BoundWindow:
    """Unbind a workspace from its window; HEAD's scene remains. Raises Refusal when it is not bound."""
    bound = WindowBinding(workspace_directory(workspace)).remove()
    if bound is None:
        raise Refusal.of(
            Fault.TARGET_NOT_FOUND, "the workspace is not attached to a window", "Attach it: blendwright attach"
        )
    return bound


def attach_if_open(workspace: str | Path, window_choice: str, *, blender: str | Path | None = None) -> Attached | None:
    """Attach a workspace for a server. `auto` takes the only open window, or returns None when none is open."""
    if window_choice == AUTO and not open_windows():
        return None
    return attach(workspace, window_choice, blender=blender)
