"""--export of `run` and `call`: the scene as a file when the work is done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import blendwright
from blendwright.policy.approvals import Approver
from blendwright.run.options import RunOptions
from blendwright.tool_api.effects import SafetyLevel
from blendwright.values.cancel import CancelToken
from blendwright.values.outcome import Outcome


def write_scene(
    opened: blendwright.OpenScene, file: Path, approver: Approver, cancel: CancelToken | None = None
) -> Outcome:
    """Whoever gives the option has read that it replaces what is there: nobody is asked about that again."""
    allowed = replace(approver, grants=approver.grants | {SafetyLevel.DESTRUCTIVE.value})
    args = {"path": str(file), "overwrite": file.expanduser().exists()}
    return opened.outcome("file.export", args, RunOptions(approver=allowed, cancel=cancel))
