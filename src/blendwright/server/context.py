"""What the handler of a tool call may use: the workspace and its queue, the catalogue, the jobs; and who calls."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from blendwright.app.open_scene import OpenScene
from blendwright.macros import Macro
from blendwright.policy.approvals import ApprovalPrompt, Approver
from blendwright.policy.session_contract import Proposal
from blendwright.run.options import RunOptions
from blendwright.server.jobs import Jobs
from blendwright.server.workspace_queue import WorkspaceQueue
from blendwright.tool_api.tool import AnyTool
from blendwright.values.cancel import CancelToken
from blendwright.values.outcome import Outcome

T = TypeVar("T")
Report = Callable[[float, float | None, str], None]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request. `client` tells clients apart where several share a workspace; `progress` may be called in any thread.

    `proposal` is the contract that its host proposes; `approver` is its user, where the host can ask one.
    """

    client: str
    progress: Report
    proposal: Proposal = field(default_factory=Proposal)
    approver: ApprovalPrompt | None = None
    cancel: CancelToken = field(default_factory=CancelToken)

    @property
    def options(self) -> RunOptions:
        """What its calls and plans are run with: its user is asked, and it can cancel them."""
        return RunOptions(cancel=self.cancel, approver=Approver(self.approver))


@dataclass(frozen=True, slots=True)
class ServerContext:
    """One served workspace."""

    workspace: Path
    queue: WorkspaceQueue
    tools: Mapping[str, AnyTool]
    macros: Mapping[str, Macro]
    jobs: Jobs
    blender: str | None = None
    """Which Blender, where it is not the usual one."""
    side_executor: Executor = field(default_factory=lambda: ThreadPoolExecutor(1, "aside"))
    """For work with Blender processes of its own, one at a time: each takes memory and cores."""
    sessions: dict[Proposal, OpenScene] = field(default_factory=dict[Proposal, OpenScene])
    """The workspace under the contract with each kind of host; only the queue's thread touches these."""

    def submit(self, caller: Caller, work: Callable[[OpenScene], T]) -> Future[T]:
        """Have something done with the workspace, in turn, under the contract with the caller's host."""

        def under_contract(opened: OpenScene) -> T:
            if caller.proposal not in self.sessions:
                self.sessions[caller.proposal] = opened.as_host(caller.proposal)
            return work(self.sessions[caller.proposal])

        return self.queue.submit(caller.client, under_contract, caller.cancel)

    async def run(self, caller: Caller, work: Callable[[OpenScene], T]) -> T:
        """The same, waiting for it. A request that is cancelled stops its work too."""
        return await _cancellable(caller, self.submit(caller, work))

    async def call_tool(self, caller: Caller, tool: str, args: Mapping[str, Any]) -> Outcome:
        """Call one tool of the catalogue on the scene."""
        return await self.run(caller, lambda opened: opened.outcome(tool, args, caller.options))

    async def run_aside(self, caller: Caller, work: Callable[[], T]) -> T:
        """Have something done that leaves the open workspace alone. It must end when the caller's token is cancelled."""
        return await _cancellable(caller, self.side_executor.submit(work))


async def _cancellable(caller: Caller, done: Future[T]) -> T:
    try:
        return await asyncio.wrap_future(done)
    except asyncio.CancelledError:
        # In a thread of its own: listeners may have to wait for locks, and nothing can be awaited any more.
        threading.Thread(target=caller.cancel.cancel).start()
        raise
