"""What the handler of a tool call may use: the workspace and its queue, the catalogue, the jobs; and who calls.

A job is a run that outlives the request that started it: a handle to query and to stop it. What it did is in the journal, like any run;
only the handle is forgotten when the server ends.
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

# Finished jobs that are still remembered; the journal remembers all.
MAX_FINISHED_JOBS = 200
# Jobs that wait or run, each with its plan in memory: of one client, so that it does not take all the room, and of all together.
MAX_UNFINISHED_JOBS_OF_CLIENT, MAX_UNFINISHED_JOBS = 16, 64

# Plans, and previews, of which is remembered what was told.
MAX_REMEMBERED_ANSWERS = 8

# The token of every job that has ended: nobody listens to it.
_NOTHING_TO_CANCEL = CancelToken()

JobState = Literal["waiting", "running", "finished", "failed", "cancelled"]
T = TypeVar("T")
Report = Callable[[float, float | None, str], None]


class Latest(OrderedDict[str, T]):
    """The latest few of what is kept, by their keys."""

    def keep(self, key: str, value: T) -> None:
        self[key] = value
        self.move_to_end(key)
        if len(self) > MAX_REMEMBERED_ANSWERS:
            self.popitem(last=False)


@dataclass(slots=True)
class Job:
    """One run in the background."""

    id: str
    request_id: str
    total: int
    cancel: CancelToken
    client: str = ""
    started: float = field(default_factory=time.time)
    done: int = 0
    """Operations that stand."""
    current: str = ""
    response: Future[ToolResponse] | None = None
    """While the job is under way, and until its answer is packed."""
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
        """What became of its plan, once it has ended."""
        return self._answer()[0]

    @property
    def detail(self) -> Detail:
        """The length that its answer was asked for."""
        return self._answer()[1]

    def _answer(self) -> tuple[Outcome | None, Detail]:
        # First, since another thread may pack it now: it is there until the packed answer is.
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
        """Of a job that has ended: hold nothing but its answer, and that in few bytes. An answer about thousands of operations has tens
        of thousands of objects, and hundreds of answers are remembered."""
        if self._packed is None and self.ended:
            self._packed = zlib.compress(pickle.dumps(self._answer()))
            self.response, self.cancel = None, _NOTHING_TO_CANCEL

    def stop(self) -> None:
        """A run that still waits for its turn never begins; one that runs is told to end."""
        response = self.response
        if response is None or not response.cancel():
            self.cancel.cancel()

    def attach(self, response: Future[ToolResponse]) -> None:
        """The run that this job stands for."""
        self.response = response
        response.add_done_callback(self._log_defect)

    def _log_defect(self, response: Future[ToolResponse]) -> None:
        if response.cancelled():
            error = None
        else:
            error = response.exception()
        if error is not None and not isinstance(error, BlendwrightError):
            _log.error("job %s failed", self.id, exc_info=error)

    def to_json(self) -> dict[str, Any]:
        return {
            "job_id": self.id,
            "request_id": self.request_id,
            "state": self.state,
            "operations_done": self.done,
            "operations_total": self.total,
            "current": "" if self.ended else self.current,
            "started": self.started,
        }


class Jobs:
    """The jobs of a server, oldest first."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, request_id: str, total: int, cancel: CancelToken, client: str = "") -> Job:
        """Raises Refusal where too many have not ended yet."""
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
        own = sum(job.client == client for job in unfinished)
        if own >= MAX_UNFINISHED_JOBS_OF_CLIENT:
            message = f"{own} background runs of this client have not ended yet, and more are not taken"
        elif len(unfinished) >= MAX_UNFINISHED_JOBS:
            message = f"{len(unfinished)} background runs have not ended yet, and more are not taken"
        else:
            return
        cure = "Wait for one with job_status (wait_s), stop one with job_cancel, or run the plan without background."
        raise Refusal([Finding(Fault.LIMIT_EXCEEDED, message, "/background", cure)])

    def find(self, job_id: str) -> Job | None:
        with self._lock:
            return self._jobs.get(job_id)

    def all(self) -> list[Job]:
        with self._lock:
            return list(self._jobs.values())

    def newest(self, client: str) -> Job | None:
        """The one that whoever names none means: the newest that has not ended, else the newest; a client's own before those of others."""
        return max(self.all(), key=lambda job: (not job.ended, job.client == client, job.started), default=None)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request. `client` tells clients apart where several share a workspace; `progress` may be called in any thread.

    `proposal` is the contract that its host proposes, of the `statements` about it; `approver` is its user, where the host can ask one.
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
    """One served workspace."""

    workspace: Path
    queue: WorkspaceQueue
    tools: Mapping[str, AnyTool]
    macros: Mapping[str, Macro]
    jobs: Jobs
    blender: str | None = None
    """Which Blender, where it is not the usual one."""
    statements: tuple[HostStatement, ...] = ()
    """What whoever started the server says about hosts."""
    roots: tuple[str, ...] | None = None
    """The roots that were given instead of those of the policy."""
    costs: Costs = field(default_factory=Costs)
    """What work may cost under the policy of the workspace, as hosts are told before they have a contract."""
    side_executor: Executor = field(default_factory=lambda: ThreadPoolExecutor(1, "aside"))
    """For work with Blender processes of its own, one at a time: each takes memory and cores."""
    sessions: dict[Proposal, OpenScene] = field(default_factory=dict[Proposal, OpenScene])
    """The workspace under the contract with each kind of host; only the queue's thread touches these."""

    program_turns: ProgramTurns = field(default_factory=ProgramTurns)
    """Whose program is evaluated."""
    sent_programs: SentPrograms = field(default_factory=SentPrograms)
    sent_code: SentPrograms = field(default_factory=SentPrograms)
    """For those who repair a line of theirs."""
    plan_answers: Latest[EarlierAnswer] = field(default_factory=Latest[EarlierAnswer])
    """By their requests, so that a plan in place of an earlier one tells only what is new; the queue's thread touches it."""
    previews: Latest[tuple[str, EarlierAnswer]] = field(default_factory=Latest[tuple[str, EarlierAnswer]])
    """Of each client the last one: the hash of the scene that it led to, and what it told; the queue's thread touches it."""
    look_pace: LookPace = field(default_factory=LookPace)
    """What pictures of this scene have cost."""
    scene_files: SceneFiles = field(default_factory=SceneFiles)
    """For pages that show the scene."""

    @property
    def artifacts(self) -> Path:
        """Where the workspace keeps pictures. It may lie elsewhere, behind a link."""
        return (self.workspace / "artifacts").resolve()

    def options(self, caller: Caller) -> RunOptions:
        """What the calls and plans of a caller are run with: its user is asked, while others are served, it can cancel them, and is told
        how long a call has been running."""
        if caller.approver is None:
            prompt = None
        else:
            prompt = AsidePrompt(caller.approver, self.queue, caller.client)
        # A host that cannot ask leaves it to whoever is there otherwise: the person at an open window, or nobody.
        if prompt is None:
            approver = None
        else:
            approver = Approver(prompt)

        def tell(waiting: Waiting) -> None:
            caller.progress(min(waiting.seconds, waiting.limit), waiting.limit, str(waiting))

        return RunOptions(cancel=caller.cancel, approver=approver, waiting=tell)

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
        return await self.run(caller, lambda opened: opened.outcome(tool, args, self.options(caller)))

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
