"""Pictures that were asked for at a place outside the workspace."""

from __future__ import annotations

import shutil
from pathlib import Path

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.outcome import Outcome


def delivered(taken: Outcome, target: Path) -> Outcome:
    """The outcome of taking a picture, with the picture at `target`; or with what kept it from getting there."""
    if not taken.ok:
        return taken
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(taken.artifacts[0], target)
    except OSError as error:
        message = f"{target} cannot be written: {error.strerror}"
        finding = Finding(Fault.EXECUTION_FAILED, message, "", "Name another place.")
        return taken.with_(fault=finding.fault, message=finding.message, findings=(finding,), artifacts=())
    return taken.with_(artifacts=(str(target),))
