"""How commands open a workspace and ask about a scene, and stop cleanly when interrupted."""

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
    """Open a workspace for this command, and say what had to be put in order for it."""
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
    """What a read-only tool answers about the scene of a workspace, or of a file. Ends the program when it fails."""
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
    """Ctrl-C once: stop cleanly. A second time: as ever."""

    def interrupted(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        # Not here: a handler runs in the middle of whatever the main thread does, which may hold the locks that this needs.
        threading.Thread(target=cancel.cancel).start()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
