"""A check of a written file: another Blender process reads it back before delivery, and that reading counts."""

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
    """Read the file that a call wrote in another Blender process.

    Return the result completed with the reading, and the findings about the file. Raises WorkerError when the
    reading process is lost.
    """
    request = call.tool.reads_back(call.model)
    if request is None:
        return result, ()
    form, profile = request

    # This process reads a copy of the file and nothing else, so files that the copy only refers to are missing.
    worker = scene.fresh_worker(bare=True, seconds=limits.left())
    try:
        brought = files.bring_over(staged, worker.require_process().scratch)
        ((directory, target),) = brought.outputs.items()
        name = f"{directory.parent.name}/{directory.name}/{target.name}"
        reading = worker.read_back(name, form, profile, deadline=limits.left(), cancel=limits.cancel)
    except WorkerFault as error:
        message = f"another Blender cannot read the file that was written: {error.message}"
        cure = "Choose another format, or omit the profile."
        return result, (Finding(Fault.VERIFICATION_FAILED, message, "/path", cure),)
    finally:
        worker.abandon()

    checked_result, findings = call.tool.read_back(call.model, result, reading)
    return checked_result, tuple(findings)
