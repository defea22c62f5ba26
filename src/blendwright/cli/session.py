"""Functions with which commands open a workspace, call read-only tools, and stop cleanly after Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import blendwright
from blendwright.cli.output import Exit, fail, note_recovered
from blendwright.cli.proposal import command_line
from blendwright.util.cancel import CancelToken
from blendwright.values.approval import Approver
from blendwright.views.queries import call_reader
from blendwright.workspace.contracts import read_contract
from blendwright.workspace.early_blender import early_blender
from blendwright.workspace.scene_hosts import require_window_capability


def open_session(
    workspace: str,
    *,
    scene: str | None = None,
    blender: str | None = None,
    contract: Path | None = None,
    approver: Approver,
    attach: str | None = None,
) -> blendwright.OpenScene:
    """Open a workspace for a command, and print a note on standard error for each repair that opening it made."""
    if attach is not None:
        require_window_capability("--attach needs a window").attach_if_open(workspace, attach, blender=blender)
    opened = blendwright.open(
        workspace,
        scene=scene,
        blender=blender,
        spare=False,
        proposal=command_line(),
        contract=read_contract(contract),
        approver=approver,
        early=early_blender(workspace),
    )
    note_recovered(opened.recovered)
    return opened


def ask_tool(
    tool: str, args: Mapping[str, Any], workspace: str, scene: str | None, blender: str | None
) -> dict[str, Any]:
    """Return the result of a read-only tool for the scene of a workspace or a file. End the process when the call fails."""
    outcome = call_reader(tool, args, workspace, scene=scene, blender=blender)
    if not outcome.ok or outcome.result is None:
        if outcome.findings:
            cure = outcome.findings[0].cure
        else:
            cure = None
        fail("failed", outcome.message, cure, Exit.of_call(outcome))
    return dict(outcome.result)


@contextlib.contextmanager
def stops_on_interrupt(cancel: CancelToken) -> Generator[None]:
    """Cancel the run at the first Ctrl-C, so that it stops cleanly. A second Ctrl-C has its previous effect."""

    def interrupted(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        # Cancel in another thread: this handler interrupts the main thread, which may hold the locks that `cancel` needs.
        threading.Thread(target=cancel.cancel).start()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
