"""A log line about each call, for a person who watches a server at a terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mcp_types as types


@dataclass(frozen=True, slots=True)
class CallEnded:
    """The end of a call. `size` is the bytes of the answer on the wire. A cancelled call is not ok."""

    tool: str
    seconds: float
    ok: bool
    size: int

    def line(self) -> str:
        """Return the log line, with aligned columns for tool names of up to 20 characters."""
        if self.seconds < 1:
            took = f"{self.seconds * 1000:.0f} ms"
        else:
            took = f"{self.seconds:.1f} s"
        status = "failed"
        if self.ok:
            status = "ok"
        return f"{self.tool:<20} {took:>8}  {status:<6}  {self.size / 1000:.1f} kB"


OnCall = Callable[[CallEnded], None]


def answer_size(answer: types.CallToolResult | types.InputRequiredResult | None) -> int:
    if answer is None:
        return 0
    return len(answer.model_dump_json(by_alias=True, exclude_none=True).encode())
