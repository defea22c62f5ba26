"""Reads a file that a call wrote in a process of its own, before the file leaves: what another Blender finds in it is what counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blendwright.engine.code.sandbox_run import CodeLimits
from blendwright.engine.files.access import FileAccess, Staged
from blendwright.engine.invocation import Invocation
from blendwright.engine.scene.host import ProcessScene
from blendwright.values.errors import WorkerFault
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


def read_written_file(
    scene: ProcessScene,
    files: FileAccess,
    call: Invocation,
    result: Mapping[str, Any],
    staged: Staged,
    limits: CodeLimits,
) -> tuple[Mapping[str, Any], tuple[Finding, ...]]:
    """The result with what was found, and what is wrong with the file. Raises WorkerError where the process that reads it is lost."""
    asked = call.tool.reads_back(call.model)
    if asked is None:
        return result, ()
    form, profile = asked
    # It reads a copy of the file and nothing else: what the file only names is not in it.
    worker = scene.fresh_worker(bare=True, seconds=limits.left())
    try:
        brought = files.bring_over(staged, worker.require_process().scratch)
        ((place, target),) = brought.outputs.items()
        name = f"{place.parent.name}/{place.name}/{target.name}"
        found = worker.read_back(name, form, profile, deadline=limits.left(), cancel=limits.cancel)
    except WorkerFault as error:
        message = f"another Blender cannot read the file that was written: {error.message}"
        cure = "Try another format, or leave the profile out."
        return result, (Finding(Fault.VERIFICATION_FAILED, message, "/path", cure),)
    finally:
        worker.abandon()
    changed, findings = call.tool.read_back(call.model, result, found)
    return changed, tuple(findings)
