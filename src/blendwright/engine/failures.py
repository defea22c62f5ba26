"""Findings for calls that a worker could not complete: worker errors as faults of the taxonomy, each with a fix."""

from __future__ import annotations

import signal

from blendwright.tool_api.tool import AnyTool
from blendwright.values.errors import (
    Cancelled,
    DeadlinePassed,
    ProtocolBreach,
    RebuildFailed,
    WorkerError,
    WorkerFault,
    WorkerLost,
)
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

# Error codes of the wire for a request or answer that exceeds a frame.
OVERSIZED_CODES = frozenset({"oversized_request", "oversized_answer"})

RENDER_LESS = (
    "Use a faster engine (WORKBENCH), fewer samples or a smaller picture, or allow more time. "
    "scene.set_render sets the engine and the size of render.still."
)


def unsent(error: WorkerError | RebuildFailed) -> bool:
    """Return True when the worker never received the request, or was stopped by a cancellation."""
    return isinstance(error, Cancelled) or (isinstance(error, WorkerFault) and error.code == "oversized_request")


def finding_of(error: WorkerError | RebuildFailed, tool: AnyTool | None = None) -> Finding:
    """Return the finding for a worker error, with a fix for this tool.

    If another program killed the worker, the finding has the rule "killed_from_outside".
    """
    fault, cure = _reason(error, tool)
    if error.details.get("signal") == signal.SIGKILL and "reason" not in error.details:
        rule = "killed_from_outside"
    else:
        rule = None
    return Finding(fault, error.message, "", error.cure or cure, rule)


def _reason(error: WorkerError | RebuildFailed, tool: AnyTool | None) -> tuple[Fault, str]:
    if isinstance(error, DeadlinePassed):
        renders = tool is not None and "render" in tool.requires.capabilities
        if renders:
            return Fault.TOOL_TIMEOUT, RENDER_LESS
        return Fault.TOOL_TIMEOUT, "Request less at once, or allow more time."
    if isinstance(error, Cancelled):
        return Fault.CANCELLED, "Call it again if you still want the result."
    if isinstance(error, (WorkerLost, ProtocolBreach)):
        return Fault.WORKER_LOST, "Call it again. If it happens again with these arguments, change them."
    if isinstance(error, WorkerFault) and error.code in OVERSIZED_CODES:
        return Fault.LIMIT_EXCEEDED, "Request less at once."
    if isinstance(error, RebuildFailed):
        return Fault.ROLLBACK_FAILED, "Start again from a saved file."
    return Fault.INTERNAL_ERROR, "Report this error together with the worker's log."
