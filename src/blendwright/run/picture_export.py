"""Copies a rendered picture to a path outside the workspace."""

from __future__ import annotations

import shutil
from pathlib import Path

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.outcome import Outcome


def deliver_picture(outcome: Outcome, target: Path) -> Outcome:
    """The outcome of a render with its picture at `target`, or with the finding that kept it from getting there."""
    if not outcome.ok:
        return outcome
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(outcome.artifacts[0], target)
    except OSError as error:
        message = f"{target} cannot be written: {error.strerror}"
        finding = Finding(Fault.EXECUTION_FAILED, message, "", "Name another place.")
        return outcome.with_(fault=finding.fault, message=finding.message, findings=(finding,), artifacts=())
    return outcome.with_(artifacts=(str(target),))
