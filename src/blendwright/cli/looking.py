"""What commands that only look at a scene share: one read-only tool is asked, and its result is shown or the program ends."""

from __future__ import annotations

import tempfile
from typing import Any

import blendwright
from blendwright.app.read_workspace import read_journal
from blendwright.cli.call import exit_code
from blendwright.cli.output import fail


def look(tool: str, args: dict[str, Any], workspace: str, scene: str | None, blender: str | None) -> dict[str, Any]:
    """What the tool says of the scene of the workspace, or of a file. Ends the program when it cannot be had."""
    with tempfile.TemporaryDirectory() as aside:
        if scene is None:
            with read_journal(workspace):
                pass  # there is one: looking begins none
        place = workspace if scene is None else aside
        with blendwright.open(place, scene=scene, blender=blender, spare=False) as opened:
            outcome = opened.outcome(tool, args)
    if not outcome.ok or outcome.result is None:
        cure = outcome.findings[0].cure if outcome.findings else None
        fail("failed", outcome.message, cure, exit_code(outcome))
    return dict(outcome.result)
