"""The context of tool handlers: the workspace and its queue, the catalogue, the background jobs, and the caller.

A job is a run that outlives the request that started it. It lets a client query and stop the run. The journal records
the run like any other; the server forgets the job when it ends.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from blendwright.engine.heartbeat import Waiting
from blendwright.engine.invocation import new_id
from blendwright.engine.options import RunOptions
from blendwright.macros import Macro
from blendwright.policy.host_profile import HostStatement
from blendwright.policy.policy import Costs
from blendwright.policy.session_contract import Proposal
from blendwright.server.answers.plan_report import Detail, EarlierAnswer
from blendwright.server.answers.response import ToolResponse, error_failure, failure
from blendwright.server.pictures.quality import LookPace
from blendwright.server.pictures.scene_files import SceneFiles
from blendwright.server.programs.edits import SentPrograms
from blendwright.server.programs.turns import ProgramTurns
from blendwright.server.transport.elicitation import AsidePrompt
from blendwright.server.workspace_queue import WorkspaceQueue
from blendwright.tool_api.tool import AnyTool
from blendwright.util.cancel import CancelToken
from blendwright.values.approval import Approver, SessionPrompt
from blendwright.values.errors import BlendwrightError, Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.outcome import Outcome
from blendwright.workspace.open_scene import OpenScene

_log = logging.getLogger(__name__)

# The most finished jobs that the server remembers. The journal has all runs.
MAX_FINISHED_JOBS = 200
# The most unfinished jobs of one client and of all clients. Each keeps its plan in memory.
MAX_UNFINISHED_JOBS_OF_CLIENT, MAX_UNFINISHED_JOBS = 16, 64

# The most plans, and the most previews, whose answers the server remembers.
MAX_REMEMBERED_ANSWERS = 8

# The token of every job that has ended.
_NOTHING_TO_CANCEL = CancelToken()

JobState = Literal["waiting", "running", "finished", "failed", "cancelled"]
T = TypeVar("T")
Report = Callable[[float, float | None, str], None]


class Latest(OrderedDict[str, T]):
    """A mapping that keeps only its latest few entries."""

    def keep(self, key: str, value: T) -> None:
        self[key] = value
        self.move_to_end(key)
        if len(self) > MAX_REMEMBERED_ANSWERS:
            self.popitem(last=False)


@dataclass(slots=True)
class Job:
    """A background run."""

    id: str
    request_id: str
    total: int
    cancel: CancelToken
    client: str = ""
    started: float = field(default_factory=time.time)
    done: int = 0
    """The number of the caller's operations that succeeded."""
    current: str = ""
    response: Future[ToolResponse] | None = None
    """The response to come. None before the run starts and after the answer is packed."""
    _packed: bytes | None = None

    @property
    def ended(self) -> bool:
        response = self.response
        return self._packed is not None or (response is not None and response.done())

    @property
    def state(self) -> JobState:
        response, outcome = self.response, self.outcome
        if outcome is None:
            if response is not None and response.running():
                return "running"
            return "waiting"
        if outcome.ok:
            return "finished"
        if outcome.cancelled:
            return "cancelled"
        return "failed"

    @property
    def outcome(self) -> Outcome | None:
        """Return the outcome of the plan, or None until the run has ended."""
        return self._answer()[0]

    @property
    def detail(self) -> Detail:
        """Return the length of the answer that the caller chose."""
        return self._answer()[1]

    def _answer(self) -> tuple[Outcome | None, Detail]:
        # Read the response first. Another thread may pack it now, and sets `_packed` before it clears `response`.
        response = self.response
        if self._packed is not None:
            return pickle.loads(zlib.decompress(self._packed))
        if response is None or not response.done():
            return None, "summary"
        if response.cancelled():
            finding = Finding(Fault.CANCELLED, "the run was cancelled before it began", "", "Run the plan again.")
            nothing: dict[str, Any] = {"kept": [], "totals": {"kept": 0, "not_run": self.total}}
            outcome = failure(finding).outcome.with_(seeds={}, partial=nothing, request_id=self.request_id)
            return outcome, "summary"
        error = response.exception()
        if error is not None:
            return error_failure(error).outcome, "summary"
        return response.result().outcome, response.result().detail

    def pack(self) -> None:
        """Replace the response of an ended job by its compressed answer.

        An answer about thousands of operations has tens of thousands of objects, and the server remembers hundreds of
        answers.
        """
        if self._packed is None and self.ended:
            self._packed = zlib.compress(pickle.dumps(self._answer()))
            self.response, self.cancel = None, _NOTHING_TO_CANCEL

    def stop(self) -> None:
        """Cancel a run that waits for its turn, or signal a running one to stop."""
        response = self.response
        if response is None or not response.cancel():
            self.cancel.cancel()

    def attach(self, response: Future[ToolResponse]) -> None:
        """Set the run that this job represents."""
        self.response = response
        response.add_done_callback(self._log_defect)

    def _log_defect(self, response: Future[ToolResponse]) -> None:
        if response.cancelled():
            return
        error = response.exception()
        if error is not None and not isinstance(error, BlendwrightError):
            _log.error("job %s failed", self.id, exc_info=error)

    def to_json(self) -> dict[str, Any]:
        current = self.current
        if self.ended:
            current = ""
        return {
            "job_id": self.id,
            "request_id": self.request_id,
            "state": self.state,
            "operations_done": self.done,
            "operations_total": self.total,
            "current": current,
            "started": self.started,
        }


class Jobs:
    """The jobs of a server, oldest first."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, request_id: str, total: int, cancel: CancelToken, client: str = "") -> Job:
        """Add a job and return it. Raises Refusal when too many jobs have not ended yet."""
        job = Job(new_id(), request_id, total, cancel, client)
        with self._lock:
            self._require_room(client)
            self._jobs[job.id] = job
            finished = [key for key, old in self._jobs.items() if old.ended]
            for key in finished[:-MAX_FINISHED_JOBS]:
                del self._jobs[key]
            for key in finished[-MAX_FINISHED_JOBS:]:
                self._jobs[key].pack()
        return job

    def _require_room(self, client: str) -> None:
        unfinished = [job for job in self._jobs.values() if not job.ended]
        unfinished_of_client = sum(job.client == client for job in unfinished)
        if unfinished_of_client >= MAX_UNFINISHED_JOBS_OF_CLIENT:
            message = f"{unfinished_of_client} background runs of this client have not ended, which is the limit"
        elif len(unfinished) >= MAX_UNFINISHED_JOBS:
            message = f"{len(unfinished)} background runs have not ended, which is the limit"
        else:
            return
        fix = "Wait for one with job_status (wait_s), stop one with job_cancel, or run the plan without background."
        raise Refusal([Finding(Fault.LIMIT_EXCEEDED, message, "/background", fix)])

    def find(self, job_id: str) -> Job | None:
        with self._lock:
            return self._jobs.get(job_id)

    def all(self) -> list[Job]:
        with self._lock:
            return list(self._jobs.values())

    def newest(self, client: str) -> Job | None:
        """Return the job that a call without job_id means, or None without jobs.

        Unfinished jobs come before ended ones, then jobs of this client before jobs of other clients, then newer
        before older ones.
        """
        return max(self.all(), key=lambda job: (not job.ended, job.client == client, job.started), default=None)


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request.

    `client` distinguishes the clients of a workspace. `progress` is callable from any thread. `proposal` is the
    contract that the host proposes, derived from the `statements` about it. `approver` asks the host's user, or is
    None if the host cannot ask.
    """

    client: str
    progress: Report
    proposal: Proposal = field(default_factory=Proposal)
    statements: tuple[HostStatement, ...] = ()
    approver: SessionPrompt | None = None
    cancel: CancelToken = field(default_factory=CancelToken)
    shows_apps: bool = False


@dataclass(frozen=True, slots=True)
class ServerContext:
    """The context of one served workspace."""

    workspace: Path
    queue: WorkspaceQueue
    tools: Mapping[str, AnyTool]
    macros: Mapping[str, Macro]
    jobs: Jobs
    blender: str | None = None
    """The version or path of the Blender to use, or None for the default."""
    statements: tuple[HostStatement, ...] = ()
    """The limits of hosts from the command line and the host profile file."""
    roots: tuple[str, ...] | None = None
    """The roots for files, or None for the roots of the policy."""
    costs: Costs = field(default_factory=Costs)
    """The limits of work under the workspace's policy, for the descriptions of tools."""
    side_executor: Executor = field(default_factory=lambda: ThreadPoolExecutor(1, "aside"))
    """Runs work that starts Blender processes. It runs one at a time, because each takes memory and cores."""
    sessions: dict[Proposal, OpenScene] = field(default_factory=dict[Proposal, OpenScene])
    """The workspace under the contract with each kind of host. Only the queue's thread uses it."""

    program_turns: ProgramTurns = field(default_factory=ProgramTurns)
    """Evaluates programs, a few at a time."""
    sent_programs: SentPrograms = field(default_factory=SentPrograms)
    """Programs that clients sent before, for later edits."""
    sent_code: SentPrograms = field(default_factory=SentPrograms)
    """Python code that clients sent before, for later edits."""
    plan_answers: Latest[EarlierAnswer] = field(default_factory=Latest[EarlierAnswer])
    """The content of answers by request id, so that a replacing plan reports only what is new. Only the queue's thread uses it."""
    previews: Latest[tuple[str, EarlierAnswer]] = field(default_factory=Latest[tuple[str, EarlierAnswer]])
    """The last preview of each client: the resulting scene hash and the answer. Only the queue's thread uses it."""
    look_pace: LookPace = field(default_factory=LookPace)
    """The measured cost of pictures of this scene."""
    scene_files: SceneFiles = field(default_factory=SceneFiles)
    """Files for the pages that show the scene."""

    @property
    def artifacts(self) -> Path:
        """Return the workspace's directory of pictures, with symbolic links resolved."""
        return (self.workspace / "artifacts").resolve()

    def options(self, caller: Caller) -> RunOptions:
        """Return the run options for a caller: how to ask its user, how to cancel, and how to report long calls.

        While a user is asked, the queue serves other clients.
        """
        # Without an approver of the host, the engine asks at an open window, if there is one.
        approver = None
        if caller.approver is not None:
            approver = Approver(AsidePrompt(caller.approver, self.queue, caller.client))

        def report(waiting: Waiting) -> None:
            caller.progress(min(waiting.seconds, waiting.limit), waiting.limit, str(waiting))

        return RunOptions(cancel=caller.cancel, approver=approver, waiting=report)

    def submit(self, caller: Caller, work: Callable[[OpenScene], T]) -> Future[T]:
        """Queue work on the workspace under the contract with the caller's host, and return its future result."""

        def under_contract(opened: OpenScene) -> T:
            if caller.proposal not in self.sessions:
                self.sessions[caller.proposal] = opened.as_host(caller.proposal)
            return work(self.sessions[caller.proposal])

        return self.queue.submit(caller.client, under_contract, caller.cancel)

    async def run(self, caller: Caller, work: Callable[[OpenScene], T]) -> T:
        """Queue work on the workspace and wait for its result. Cancelling the request also cancels the work."""
        return await _cancellable(caller, self.submit(caller, work))

    async def call_tool(self, caller: Caller, tool: str, args: Mapping[str, Any]) -> Outcome:
        """Call one tool of the catalogue on the scene and return its outcome."""
        return await self.run(caller, lambda opened: opened.outcome(tool, args, self.options(caller)))

    async def run_aside(self, caller: Caller, work: Callable[[], T]) -> T:
        """Run work that does not use the open workspace and wait for its result. The work must end when the caller's
        token is cancelled.
        """
        return await _cancellable(caller, self.side_executor.submit(work))


async def _cancellable(caller: Caller, done: Future[T]) -> T:
    try:
        return await asyncio.wrap_future(done)
    except asyncio.CancelledError:
        # Cancel in another thread, because listeners may wait for locks and this coroutine can no longer await.
        threading.Thread(target=caller.cancel.cancel).start()
        raise
