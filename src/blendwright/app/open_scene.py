"""A workspace that is open: its scene can be called upon, and plans run on it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from blendwright.app.compiling import Compiler
from blendwright.app.macro_calling import not_rehearsed, outcome_of, plan_of, refused_call
from blendwright.app.observing.event_bus import EventBus
from blendwright.app.plans import parse_plan
from blendwright.app.previewing import preview_beside
from blendwright.app.session_scratch import SessionScratch
from blendwright.dialects.envelopes import ToolResult, tool_result
from blendwright.macros import Macro
from blendwright.plan.schedule import schedule
from blendwright.policy.approvals import Approver
from blendwright.policy.gate import denied
from blendwright.policy.session_contract import Proposal, SessionContract, Terms
from blendwright.records.journal_port import JournalPort
from blendwright.run.active_contract import ActiveContract, ContractDraft
from blendwright.run.approvals import Approvals
from blendwright.run.clock import Clock
from blendwright.run.exclusive_step import ExclusiveStep
from blendwright.run.executor import SNAPSHOT_TOOL, Executor
from blendwright.run.files import FileAccess
from blendwright.run.history import History, Moved, find, require_head
from blendwright.run.ledger import Ledger
from blendwright.run.live_scene import LiveScene
from blendwright.run.preview import Preview
from blendwright.run.run_state import Progress
from blendwright.run.runner import Runner
from blendwright.tool_api.effects import Determinism, SafetyLevel
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.registry import registry_fingerprint
from blendwright.values import crash_points
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import BlendwrightError, RebuildFailed, Refusal, WorkerError
from blendwright.values.events import Defect, RunEnded, WorkspaceClosed
from blendwright.values.findings import Finding
from blendwright.values.outcome import Outcome
from blendwright.values.plan import Boundary, Plan
from blendwright.values.report import RunReport
from blendwright.wire.profiles import WorkerProfile
from blendwright.wire.worker_port import PoolPort

if TYPE_CHECKING:
    from blendwright.app.observing.metrics import Metrics

# Redo beyond this is worth a checkpoint when the workspace is closed: saving costs a small part of it.
WORTH_SAVING_MS = 300.0
CHECKOUT = "history.checkout"


class OpenScene:
    """Close it, or use it in a `with` statement. `recovered` says what had to be put in order when it was opened."""

    def __init__(
        self,
        scratch: SessionScratch,
        pool: PoolPort,
        journal: JournalPort,
        scene: LiveScene,
        tools: Mapping[str, AnyTool],
        macros: Mapping[str, Macro],
        offer: ContractDraft,
        files: FileAccess,
        recovered: tuple[str, ...],
        approver: Approver,
        watch: EventBus,
    ) -> None:
        self.recovered = recovered
        self._scratch = scratch
        self._pool = pool
        self._journal = journal
        self._scene = scene
        self._tools = tools
        self._macros = macros
        self._offer = offer
        self._approver = approver
        self._files = files
        self._watch = watch
        self._closed = False
        self._agreement = ActiveContract(offer, scene, journal)
        self._approvals = approvals = Approvals(journal, files)
        ledger = Ledger(journal, scene, self._agreement)
        solo = ExclusiveStep(scene, journal, ledger, files)
        self._executor = Executor(scene, ledger, solo, tools, self._agreement, files, approvals, watch)
        self._runner = Runner(scene, journal, ledger, solo, tools, self._agreement, files, approvals, watch)
        self._compiler = Compiler(tools, macros, offer.terms)
        self._registry = registry_fingerprint(type(tool) for tool in tools.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, BlendwrightError):
            self._watch(Defect(error))
        self.close()

    def call(self, tool: str, /, **args: Any) -> ToolResult:
        """Call a tool or macro with its arguments. A failure is a result with `ok` false, never an exception."""
        return tool_result(self.outcome(tool, args))

    def target_findings(self, path: Path) -> tuple[Finding, ...]:
        """What speaks against writing a file there, for whoever wants to know before there is something to write."""
        return self._files.target_findings(path)

    def outcome(
        self,
        tool: str,
        args: Any,
        *,
        deadline: float | None = None,
        limit: float | None = None,
        verify: bool = False,
        snapshot: bool = False,
        rehearse: str | None = None,
        cancel: CancelToken | None = None,
        parse_ms: float = 0.0,
        determinism: Determinism | None = None,
        approver: Approver | None = None,
    ) -> Outcome:
        """Call a tool and get everything that is known about it, before any contract renders it.

        deadline: seconds, at most what the session allows. limit: what the session allows, for a call of the program's own.
        verify: read back also after a read-only tool.
        snapshot: the scene afterwards, in the outcome. rehearse: take the call back ("inverse" or "memfile") and prove it.
        determinism: the weakest class of result that is accepted. approver: instead of that of the open scene.
        """
        asked = self._approver if approver is None else approver
        macro = self._macros.get(tool)
        if macro is not None:
            clock = Clock(parse_ms)
            outcome = self._call_macro(macro, args, clock, deadline, rehearse, cancel, determinism, asked)
            if snapshot and outcome.ok:
                taken = self._executor.call(SNAPSHOT_TOOL, {}, deadline=deadline)
                outcome = outcome.with_(snapshot=taken.result)
            return outcome
        return self._executor.call(
            tool,
            args,
            deadline=deadline,
            limit=limit,
            verify=verify,
            snapshot=snapshot,
            rehearse=rehearse,
            cancel=cancel,
            parse_ms=parse_ms,
            determinism=determinism,
            approver=asked,
        )

    def _call_macro(
        self,
        macro: Macro,
        args: Any,
        clock: Clock,
        seconds: float | None,
        rehearse: str | None,
        cancel: CancelToken | None,
        determinism: Determinism | None,
        approver: Approver,
    ) -> Outcome:
        plan = (not_rehearsed(macro),) if rehearse is not None else plan_of(macro, args)
        valid = plan if isinstance(plan, tuple) else self._compiler.validated(plan, determinism)
        clock.lap("validate_input")
        if isinstance(valid, tuple):
            return refused_call(macro, valid, clock, self._scene.known_hash)
        with contextlib.suppress(WorkerError, RebuildFailed):  # the run meets it again, and tells it
            self._scene.worker()
        ordered = schedule(valid, self._registry, self._scene.hash)
        clock.leave_out()  # starting Blender belongs to no phase of a call
        report = self._runner.run(
            ordered, valid.failing, seconds=seconds, cancel=cancel, determinism=determinism, approver=approver
        )
        return outcome_of(macro, args, report, clock, self._scene.hash)

    def run(
        self,
        plan: Plan | Mapping[str, Any],
        *,
        request_id: str | None = None,
        boundary: Boundary = "operation",
        timeout: float | None = None,
        cancel: CancelToken | None = None,
        progress: Progress | None = None,
        determinism: Determinism | None = None,
        approver: Approver | None = None,
    ) -> RunReport:
        """Run a plan: a document of any dialect, or one that was parsed already (then request_id and boundary are its own).

        What was done before under the same ids is not done again. `progress` is called with each operation once it is durable.
        `determinism` is the weakest class of results that is accepted; `approver` takes the place of that of the open scene.
        """
        started = time.perf_counter()
        valid = self._compiler.compile(plan, request_id, boundary, determinism)
        validate_ms = round((time.perf_counter() - started) * 1000, 3)
        if isinstance(valid, RunReport):
            valid = replace(valid, timings={"validate_ms": validate_ms, **valid.timings})
            self._watch(RunEnded(valid))
            return valid
        ordered = schedule(valid, self._registry, self._scene.hash)
        report = self._runner.run(
            ordered,
            valid.failing,
            seconds=timeout,
            cancel=cancel,
            progress=progress,
            determinism=determinism,
            approver=self._approver if approver is None else approver,
        )
        return replace(report, timings={"validate_ms": validate_ms, **report.timings})

    def check(self, plan: Plan, *, determinism: Determinism | None = None) -> RunReport | None:
        """The report that refuses a plan, None where it may run. Starts no Blender, so what only Blender knows is not found here."""
        valid = self._compiler.compile(plan, None, plan.boundary, determinism)
        return valid if isinstance(valid, RunReport) else None

    def preview(
        self,
        plan: Plan | Mapping[str, Any],
        *,
        request_id: str | None = None,
        boundary: Boundary = "operation",
        image: Path | None = None,
        timeout: float | None = None,
        cancel: CancelToken | None = None,
        determinism: Determinism | None = None,
        approver: Approver | None = None,
    ) -> Preview:
        """What a plan would do, found out on a copy of the scene in another worker; `image` is where to write a picture of it.

        `approver` takes the place of that of the open scene."""
        if not isinstance(plan, Plan):
            plan = parse_plan(dict(plan), request_id=request_id, boundary=boundary)
        if self._journal.head is None:
            self._scene.worker()  # what a new workspace starts from is its first commit, and so comes along into the copy
        place = self._scratch.path.parents[1]
        return preview_beside(
            plan, place, self._pool, self._tools, self._macros, self._offer, self._files,
            image=image, timeout=timeout, cancel=cancel, determinism=determinism,
            approver=self._approver if approver is None else approver,
        )  # fmt: skip

    def as_host(self, proposal: Proposal) -> OpenScene:
        """The same open scene for another host, under a contract of its own. Closing is for whoever opened it.

        Raises Refusal when there can be no contract with such a host."""
        return OpenScene(
            self._scratch, self._pool, self._journal, self._scene, self._tools, self._macros,
            self._offer.for_host(proposal), self._files, self.recovered, self._approver, self._watch,
        )  # fmt: skip

    def warm(self) -> None:
        """Start Blender and bring the scene up ahead of the first call. Raises EnvironmentUnfit where there is none."""
        self._scene.worker()

    @property
    def tools(self) -> Mapping[str, AnyTool]:
        """What can be called, by name; macros are not among them."""
        return self._tools

    @property
    def terms(self) -> Terms:
        """What plans are held to before Blender is known."""
        return self._offer.terms

    @property
    def contract(self) -> SessionContract:
        """What this session is held to; starts Blender. Raises Refusal when there can be none with this Blender."""
        return self._agreement.contract()

    @property
    def hash(self) -> str:
        """The fingerprint of the scene as it stands."""
        return self._scene.hash

    @property
    def journal(self) -> JournalPort:
        """The history of the workspace."""
        return self._journal

    @property
    def history(self) -> History:
        """Checkout, undo, redo, adopt, gc."""
        return History(self._journal, self._scene, self._pool, self._registry)

    def checkout(self, to: int | str, *, approver: Approver | None = None, cancel: CancelToken | None = None) -> Moved:
        """Go to the scene of a commit, as whoever is held to the policy may: the rules for `history.checkout`, a safe_write, decide.

        `history` asks nobody: it is for those who own the workspace. Raises Refusal."""
        level = SafetyLevel.SAFE_WRITE.value
        against = list(denied(self.terms, CHECKOUT, level))
        if against:
            raise Refusal(against)
        target, baseline = find(self._journal, to).number, require_head(self._journal).hash_after
        question = self._approvals.request_about(self.terms, CHECKOUT, level, {"commit": target}, baseline=baseline)
        if question is not None:
            asked = self._approver if approver is None else approver
            _, refused = self._approvals.ask(question, asked, cancel)
            if refused is not None:
                raise Refusal([refused])
        return self.history.checkout(target)

    @property
    def metrics(self) -> Metrics:
        """What happened since the workspace was opened, for Prometheus."""
        from blendwright.app.observing.metrics import Metrics

        return Metrics(self._watch.tally)

    @property
    def blender(self) -> WorkerProfile:
        """The Blender that holds the scene."""
        return self._scene.profile

    @property
    def worker_pid(self) -> int:
        """The process of that Blender."""
        return self._scene.worker().pid

    def close(self) -> None:
        """End Blender and remove what it left; a second time does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._scene.redo_ms > WORTH_SAVING_MS:
                self._scene.checkpoint()
        except BlendwrightError:
            # A checkpoint is a convenience; what is wrong with the scene or the disk shows when it is needed next.
            pass
        finally:
            crash_points.reach("close.saved")
            self._pool.close()
            crash_points.reach("close.workers_ended")
            self._watch(WorkspaceClosed())
            self._journal.close()
            self._scratch.remove()
