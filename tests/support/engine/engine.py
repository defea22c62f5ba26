"""The engine for tests: the same parts that `blendwright.open` joins, each within reach, on real workers with the trial tools."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from blendwright.approvals.ask import Approvals
from blendwright.bridge.sources import worker_source
from blendwright.bridge.spawn import WorkerSettings
from blendwright.engine.calls import call
from blendwright.engine.contract import ActiveContract, ContractDraft
from blendwright.engine.files.access import FileAccess
from blendwright.engine.options import RunOptions
from blendwright.engine.runner import Runner
from blendwright.engine.scene.background_checkpoints import BackgroundCheckpoints
from blendwright.engine.scene.live_scene import LiveScene
from blendwright.engine.session import Session
from blendwright.journal import Journal
from blendwright.macros import Macro
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.policy import Levels, Policy, Rules, Verdict
from blendwright.policy.session_contract import Proposal
from blendwright.records.commits import Commit
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import catalog
from blendwright.tools.registry import registry_fingerprint
from blendwright.util.cancel import CancelToken
from blendwright.values.events import Event
from blendwright.values.outcome import Outcome
from blendwright.values.plan import Plan
from blendwright.values.report import RunReport
from blendwright.wire.worker_environment import EXTENSIONS
from support.engine.trial_tools import TOOLS

# The environment of workers that have the tools and methods that misbehave on purpose.
TRIALS = {
    EXTENSIONS: os.pathsep.join(
        [str(Path(__file__).with_name(name)) for name in ("trial_tools.py", "trial_methods.py")]
    )
}
# The calls that prepare the scene of a module without calls of its own.
ANCHOR: tuple[tuple[str, dict[str, Any]], ...] = (("object.create_empty", {"name": "Anchor", "location": [1, 2, 3]}),)
# For tests of anything but the policy: nobody is asked.
UNASKED = Policy(policy=Rules(levels=Levels(destructive=Verdict.ALLOW)))


def all_tools() -> Mapping[str, AnyTool]:
    """The catalogue and the tools that misbehave on purpose."""
    return catalog.tools().with_others(TOOLS)


class Announcing(CancelToken):
    """A token that tells when a call listens to it, which is after the request was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = threading.Event()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        unsubscribe = super().subscribe(listener)
        self.heard.set()
        return unsubscribe


class Engine:
    """One scene with its session. `place` is the only root for files."""

    def __init__(
        self, place: Path, *, scene: Path | None = None, spare: bool = False, background: bool = False
    ) -> None:
        self.place = place
        self._roots: dict[str, Verdict] = {}
        self.tools = all_tools()
        self.pool = worker_source().open_pool(WorkerSettings(place / "scratch", environment=TRIALS))
        self.journal = Journal(place / "workspace")
        self.catalogue = registry_fingerprint(self.tools)
        self.remarks: list[Event] = []
        self.background = None
        if background:
            self.background = BackgroundCheckpoints(
                self.pool, self.journal, place / "workspace", self.catalogue, observe=self.remarks.append
            )
        self.scene = LiveScene(
            self.pool, self.journal, self.catalogue, spare=spare, start=scene, background=self.background
        )
        self.agree()
        self._threads = ThreadPoolExecutor(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.scene.head.end_background()
        self.pool.close()
        self.scene.head.join_background()
        self.journal.close()
        self._threads.shutdown()

    @property
    def roots(self) -> dict[str, Verdict]:
        """Instead of the place, where there are some; setting them begins another session under the same policy."""
        return self._roots

    @roots.setter
    def roots(self, roots: dict[str, Verdict]) -> None:
        self._roots = roots
        self.session = self.new_session()

    @property
    def files(self) -> FileAccess:
        return FileAccess(
            self._roots or {str(self.place): Verdict.ALLOW},
            self.place / "artifacts",
            workspace=self.place / "workspace",
        )

    def agree(self, policy: Policy = UNASKED, proposal: Proposal | None = None) -> ActiveContract:
        """A session under this policy, from now on."""
        self.draft = ContractDraft(self.tools, policy=policy, proposal=proposal)
        self.session = self.new_session()
        return self.session.contract

    def new_session(self, *, approvals: Approvals | None = None) -> Session:
        return Session(self.scene, self.journal, self.tools, self.draft, self.files, approvals=approvals)

    @contextlib.contextmanager
    def under(self, policy: Policy = UNASKED, proposal: Proposal | None = None) -> Generator[Self]:
        """A session of its own inside the `with`."""
        self.agree(policy, proposal)
        try:
            yield self
        finally:
            self.agree()

    def run(self, plan: Plan, *, macros: Mapping[str, Macro] | None = None, **options: Any) -> RunReport:
        """A plan through validation, schedule and runner."""
        valid = validate(plan, self.tools, self.draft.terms, macros=macros)
        assert isinstance(valid, ValidPlan), valid
        return Runner(self.session).run(valid.schedule(self.catalogue, self.scene.hash), RunOptions(**options))

    def call(self, tool: str, args: Any, **options: Any) -> Outcome:
        return call(Runner(self.session), tool, args, RunOptions(**options))

    def do(self, tool: str, args: Any, **options: Any) -> Outcome:
        """A call that must succeed."""
        outcome = self.call(tool, args, **options)
        assert outcome.ok, (tool, args, outcome.fault, outcome.message)
        return outcome

    def full_hash(self) -> str:
        """The hash of what is really in the worker, computed anew."""
        return self.scene.worker().hash(full=True)

    def head(self) -> Commit:
        head = self.journal.head
        assert head is not None
        return head

    def records(self) -> list[Mapping[str, Any]]:
        """Every audit record."""
        return [record.record for record in self.journal.audit.records(limit=100_000)]

    def underway(self, tool: str, args: Any) -> tuple[Future[Outcome], Announcing]:
        """A call in another thread that the worker has been sent."""
        token = Announcing()
        outcome = self._threads.submit(lambda: self.call(tool, args, cancel=token))
        assert token.heard.wait(60)
        return outcome, token

    def kill_worker(self) -> None:
        """By SIGKILL, and noticed by the core."""
        worker = self.scene.worker()
        # One that is dying already, and was reaped in this moment, is as good.
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker.profile.pid, signal.SIGKILL)
        while worker.alive:
            worker.submit("ping", {}).exception(60)
