"""When a run has to end: by its time, or because somebody cancels it."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from blendwright.run.rebuild import WINDOW
from blendwright.values.cancel import CancelToken
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


@dataclass(slots=True)
class RunDeadline:
    """`call_seconds` is for one operation; `ends` is the moment, on the monotonic clock, for all of them."""

    call_seconds: float
    ends: float
    cancel: CancelToken | None
    at_once: int = WINDOW

    @property
    def cancelled(self) -> bool:
        return self.cancel is not None and self.cancel.cancelled

    def extend(self, seconds: float) -> None:
        self.ends += seconds

    def over(self) -> Finding | None:
        """Why nothing more may be begun."""
        if self.cancelled:
            return Finding(Fault.CANCELLED, "the run was cancelled", "", "Run the plan again to complete it.")
        if monotonic() >= self.ends:
            message = "the time of the run is over"
            return Finding(Fault.TOOL_TIMEOUT, message, "", "Allow more time; what is done will not be done again.")
        return None
