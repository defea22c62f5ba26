"""What every answer of the server may use: the workspace's desk, the catalogue, the jobs; and who is asking."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from blendwright.app.open_scene import OpenScene
from blendwright.contracts.tool import AnyTool
from blendwright.contracts.worker_port import CancelToken
from blendwright.macros import Macro
from blendwright.server.desk import Desk
from blendwright.server.jobs import Jobs

T = TypeVar("T")
Report = Callable[[float, float | None, str], None]


@dataclass(frozen=True, slots=True)
class Caller:
    """One request. `client` tells clients apart where several share a workspace; `progress` may be called in any thread."""

    client: str
    progress: Report
    cancel: CancelToken = field(default_factory=CancelToken)


@dataclass(frozen=True, slots=True)
class House:
    """One served workspace."""

    workspace: Path
    desk: Desk
    tools: Mapping[str, AnyTool]
    macros: Mapping[str, Macro]
    jobs: Jobs

    async def ask(self, caller: Caller, work: Callable[[OpenScene], T]) -> T:
        """Have something done with the workspace, in turn. A request that is cancelled stops its work too."""
        done = self.desk.submit(caller.client, work, caller.cancel)
        try:
            return await asyncio.wrap_future(done)
        except asyncio.CancelledError:
            # In a thread of its own: listeners may have to wait for locks, and nothing can be awaited any more.
            threading.Thread(target=caller.cancel.cancel).start()
            raise
