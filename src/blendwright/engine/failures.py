"""What a broken-off step is called: the worker's errors in the words of the one taxonomy, with a cure."""

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

# What the wire says of a request or an answer that does not fit a frame.
TOO_MUCH = frozenset({"oversized_request", "oversized_answer"})

RENDER_LESS = (
    "Take a faster engine (WORKBENCH), fewer samples or a smaller picture, or allow more time; "
    "render.still has its engine and size from scene.set_render."
)


def unsent(error: WorkerError | RebuildFailed) -> bool:
    """Whether the worker never saw the request, or is dead anyhow."""
    return isinstance(error, Cancelled) or (isinstance(error, WorkerFault) and error.code == "oversized_request")


def finding_of(error: WorkerError | RebuildFailed, tool: AnyTool | None = None) -> Finding:
    """What is said of it, with a cure that fits the tool where that decides. A worker that somebody else killed would have gone on."""
    fault, cure = _reason(error, tool)
    killed = error.details.get("signal") == signal.SIGKILL and "reason" not in error.details
    return Finding(fault, error.message, "", error.cure or cure, "killed_from_outside" if killed else None)


def _reason(error: WorkerError | RebuildFailed, tool: AnyTool | None) -> tuple[Fault, str]:
    if isinstance(error, DeadlinePassed):
        renders = tool is not None and "render" in tool.requires.capabilities
        return Fault.TOOL_TIMEOUT, RENDER_LESS if renders else "Ask for less at once, or allow more time."
    if isinstance(error, Cancelled):
        return Fault.CANCELLED, "Call again when it is wanted after all."
    if isinstance(error, (WorkerLost, ProtocolBreach)):
        return Fault.WORKER_LOST, "Call again; if it happens again with these arguments, change them."
    if isinstance(error, WorkerFault) and error.code in TOO_MUCH:
        return Fault.LIMIT_EXCEEDED, "Ask for less at once."
    if isinstance(error, RebuildFailed):
        return Fault.ROLLBACK_FAILED, "Start again from a saved file."
    return Fault.INTERNAL_ERROR, "Report it, with the worker's log."
