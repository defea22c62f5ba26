"""Attaching a workspace to an open window and detaching it, for every front end."""

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
    """The windows that offer a connection, the newest first."""
    return open_windows()


def attach(
    workspace: str | Path,
    which: str | None = None,
    *,
    blender: str | Path | None = None,
    restore: bool = False,
    keep: bool = False,
) -> Attached:
    """Bind a workspace to a window and compare the two.

    Without an option the window's scene counts: what is different in it becomes a commit of the person. `restore` brings the journal's
    scene into the window instead. `keep` says, where the two have parted, that the window's scene is the one to go on with.
    Raises Refusal and EnvironmentUnfit; the workspace is then bound as it was.
    """
    directory = workspace_directory(workspace)
    binding = WindowBinding(directory)
    before = binding.read()
    window = choose_window(which)
    if before is not None and before.diverged and not (restore or keep):
        raise EnvironmentUnfit(before.diverged, cure="Say how to go on: blendwright attach --restore, or --keep.")
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
            moved = head_before is None or head.number != head_before.number
            return Attached(window, head.number, str(head.receipt.get("summary", "")) if moved else "", restored)
    except BaseException:
        if before is None:
            binding.remove()
        else:
            binding.write(before)
        raise


def _restore(directory: Path, window: OpenWindow, blender: str | Path | None) -> Path:
    """Write the journal's scene to a file of its own and open that in the window."""
    # The person may have saved what was restored before, and worked on in it.
    names = (directory / f"restored-{window.pid}{suffix}.blend" for suffix in ("", *(f"-{n}" for n in range(2, 1000))))
    file = next(path for path in names if not os.path.lexists(path))
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
    """Unbind a workspace; its last scene stays what HEAD says. Raises Refusal where it is bound to none."""
    bound = WindowBinding(workspace_directory(workspace)).remove()
    if bound is None:
        raise Refusal.of(
            Fault.TARGET_NOT_FOUND, "the workspace is attached to no window", "Attach it: blendwright attach"
        )
    return bound


def attach_if_open(workspace: str | Path, which: str, *, blender: str | Path | None = None) -> Attached | None:
    """For servers: `auto` takes the open window where there is exactly one, and does without where there is none."""
    if which == AUTO and not open_windows():
        return None
    return attach(workspace, which, blender=blender)
