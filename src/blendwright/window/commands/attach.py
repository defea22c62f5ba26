"""The commands `blendwright attach` and `blendwright detach`, for work in a Blender that a person has open."""

from __future__ import annotations

from typing import Annotated

import typer

from blendwright.cli.options import AsJson, Blender, Workspace
from blendwright.cli.output import SafeConsole, note_external_files, present
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.views.queries import external_files
from blendwright.window.attach import attach as attach_workspace
from blendwright.window.attach import detach as detach_workspace
from blendwright.window.attach import list_windows
from blendwright.window.binding import PRESS_CONNECT


def attach(
    which: Annotated[
        str | None, typer.Argument(metavar="PID", help="The window's process id, if several windows are open.")
    ] = None,
    restore: Annotated[
        bool,
        typer.Option("--restore", help="Load the workspace's scene into the window in place of the open scene."),
    ] = False,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="If the window and the workspace have diverged, continue with the window's scene."),
    ] = False,
    listing: Annotated[bool, typer.Option("--list", help="Only list the windows that offer a connection.")] = False,
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Work in an open Blender: bind the workspace to its window, whose scene becomes the current scene."""
    if listing:
        return _list(json)
    if restore and keep:
        raise Refusal.of(Fault.ARGS_INVALID, "--restore and --keep contradict each other", "Pass only one of them.")
    attached = attach_workspace(workspace, which, blender=blender, restore=restore, keep=keep)
    window = attached.window
    restored = None
    if attached.restored is not None:
        restored = str(attached.restored)
    document = {
        "ok": True, "pid": window.pid, "blender": window.blender, "file": window.file, "commit": attached.commit,
        "taken_in": attached.taken_in, "restored": restored,
    }  # fmt: skip

    def show(out: SafeConsole) -> None:
        out.labelled("attached", window.name, "bold green")
        if attached.restored is not None:
            out.show(f"  the window shows {attached.restored}; save it under your own name")
        if attached.taken_in:
            out.show(f"  committed from the window: {attached.taken_in}")
        out.show(f"  the scene is commit {attached.commit}; one Ctrl-Z in Blender undoes one plan")

    note_external_files(external_files(workspace)[1])
    return present(json, lambda: document, show)


def detach(workspace: Workspace = ".blendwright", json: AsJson = False) -> int:
    """Detach the workspace from the window: it continues without a window, with the scene of its last commit."""
    bound = detach_workspace(workspace)
    document = {"ok": True, "pid": bound.pid, "blender": bound.blender}
    return present(
        json, lambda: document, lambda out: out.labelled("detached", f"from the window with pid {bound.pid}", "bold")
    )


def _list(json: bool) -> int:
    windows = list_windows()
    document = {
        "windows": [
            {"pid": window.pid, "blender": window.blender, "python": window.python, "file": window.file}
            for window in windows
        ]
    }
    rows = [(str(window.pid), f"Blender {window.blender}", window.file or "not saved yet") for window in windows]
    return present(
        json, lambda: document, lambda out: out.listing(rows, none=f"no window is connected. {PRESS_CONNECT}")
    )
