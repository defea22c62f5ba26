"""The planner loop: plan, validate, preview, approve, execute, verify; and again after a failure.

The loop decides the next call, its prompt, and when to stop. A model's plan must pass the dialect and the whole
contract; nothing else from a model ever runs. Attempts, tokens, time and cost limit the loop, and it ends early when
the same fault returns unchanged. The journal records every call before the next one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from blendwright.dialects import registry
from blendwright.engine.options import RunOptions
from blendwright.planner.answers import AttemptFailure, PlanProposal, Stage, read_proposal, repair_turns
from blendwright.planner.budget import Budget, Sleep, UsageMeter, request_plan
from blendwright.planner.port import NoResponse, Planner, PlannerError, PlanRequest, PlanResponse, Usage
from blendwright.planner.result import Ending, PlannerAttempt, PlannerResult
from blendwright.records.requests import NewAttempt
from blendwright.records.results import Preview
from blendwright.util.cancel import CancelToken
from blendwright.util.canonical import digest
from blendwright.values.faults import RENDERINGS, Fault
from blendwright.values.macro_report import reports_by_caller
from blendwright.values.report import OperationReport, RunReport
from blendwright.workspace.open_scene import OpenScene

# Faults that another plan would not fix. The loop runs the same plan again before it reports them to the model.
TRANSIENT = frozenset({Fault.TOOL_TIMEOUT, Fault.WORKER_LOST})
# Rules about a person's answer, which is not a fault of the plan.
APPROVAL_RULES = frozenset({"approval_missing", "approval_declined", "approval_outdated", "preview_unasked"})

Approve = Callable[[PlanProposal, Preview | None], bool]


def approve_all(proposal: PlanProposal, preview: Preview | None) -> bool:
    """Approve every plan without a question."""
    return True


class PlannerObserver:
    """An observer of a planner run that ignores every event. Override the methods that you need."""

    def requesting(self, attempt: int, attempts: int) -> None:
        """The loop is about to call the model."""

    def service_failed(self, error: PlannerError, wait: float | None) -> None:
        """The service failed. The loop calls it again after `wait` seconds, or not at all if it is None."""

    def planned(self, proposal: PlanProposal) -> None:
        """The model returned a plan, which is still unchecked."""

    def previewing(self) -> None:
        """The loop is about to try the plan on a copy."""

    def previewed(self, preview: Preview) -> None:
        """The plan succeeded on a copy."""

    def executing(self, proposal: PlanProposal) -> None:
        """The loop is about to run the plan."""

    def progressed(self, report: OperationReport) -> None:
        """An operation is committed."""

    def attempt_failed(self, failure: AttemptFailure) -> None:
        """The plan failed. If attempts remain, the model gets a chance to repair it."""


@dataclass
class PlannerRun:
    """The run of one request on one open scene, under one request id.

    `first` is the complete first prompt; the loop calls `approve` before every run of a plan. With `preview`, it tries
    every plan on a copy first, so that only a working plan reaches the scene. With `dry_run`, it stops after that.
    """

    opened: OpenScene
    planner: Planner
    first: PlanRequest
    request_id: str
    _: KW_ONLY
    budget: Budget | None = None
    preview: bool = True
    dry_run: bool = False
    image: Path | None = None
    timeout: float | None = None
    approve: Approve = approve_all
    observer: PlannerObserver = field(default_factory=PlannerObserver)
    cancel: CancelToken = field(default_factory=CancelToken)
    sleep: Sleep = asyncio.sleep

    def __post_init__(self) -> None:
        self._meter = UsageMeter(self.budget or Budget())
        self._calls: list[PlannerAttempt] = []
        self._committed: dict[str, dict[str, Any]] = {}
        self._failures: set[tuple[str, str]] = set()
        self._proposal: PlanProposal | None = None
        self._previewed: Preview | None = None
        self._report: RunReport | None = None
        self._prompt_hash = ""
        self._plan_id = self.request_id

    async def run(self) -> PlannerResult:
        """Run until an ending. Raise only exceptions that make the workspace unusable."""
        task = asyncio.current_task()
        assert task is not None
        loop = asyncio.get_running_loop()

        def stop() -> None:
            loop.call_soon_threadsafe(task.cancel)

        unsubscribe = self.cancel.subscribe(stop)
        try:
            return await self._attempts()
        except asyncio.CancelledError:
            if not self.cancel.cancelled:
                raise
            task.uncancel()
            return self._result("interrupted", "interrupted")
        finally:
            unsubscribe()

    async def _attempts(self) -> PlannerResult:
        request, last_signature = self.first, None
        for number in range(1, self._meter.budget.attempts + 1):
            spent = self._meter.exhausted()
            if spent is not None:
                return self._result("gave_up", spent)
            try:
                answer = await self._ask(replace(request, attempt=number))
            except PlannerError as error:
                return self._result("service", error.message, error)
            failure = self._carry_out(answer)
            if isinstance(failure, PlannerResult):
                return failure
            self.observer.attempt_failed(failure)

            signature = (failure.signature, digest(answer.text))
            if failure.stage != "gates" and (failure.signature == last_signature or signature in self._failures):
                return self._result("gave_up", f"the same fault came back unchanged: {failure.message}")
            if failure.stage == "gates":
                # The next round is a separate request, because its gates judge the kept steps again under the same ids.
                self._plan_id = f"{self.request_id}.{number + 1}"
            last_signature = failure.signature
            self._failures.add(signature)
            turns = repair_turns(answer.text, failure, tuple(self._committed.values()))
            request = replace(self.first, turns=(*self.first.turns, *turns))

        attempts, last_message = self._meter.budget.attempts, ""
        if self._calls:
            last_message = self._calls[-1].message
        return self._result("gave_up", f"{attempts} attempts were not enough. The last: {last_message}")

    async def _ask(self, request: PlanRequest) -> PlanResponse:
        self._prompt_hash = prompt_hash(request)
        self.observer.requesting(request.attempt, self._meter.budget.attempts)

        def failed(request: PlanRequest, error: PlannerError, wait: float | None) -> None:
            usage = Usage()
            if isinstance(error, NoResponse):
                usage = error.usage
            self._record("service", error.message, usage, self.planner.model, None, {"error": type(error).__name__})
            self.observer.service_failed(error, wait)

        return await request_plan(self.planner, request, self._meter, failed, self.sleep)

    def _carry_out(self, answer: PlanResponse) -> PlannerResult | AttemptFailure:
        """Return the result if this plan ends the run, or else its failure.

        The journal records the attempt in both cases.
        """
        outcome = self._try(answer)
        if isinstance(outcome, AttemptFailure):
            status = "failed"
            if outcome.stage == "gates":
                status = "unfinished"
            details = outcome.to_json()
            self._record(outcome.stage, outcome.message, answer.usage, answer.model, answer.text, details, status)
            return outcome

        stage, ending, reason = outcome
        status = ending
        if ending in ("done", "proposed"):
            status = "succeeded"
        self._record(stage, reason, answer.usage, answer.model, answer.text, {}, status)
        return self._result(ending, reason)

    def _try(self, answer: PlanResponse) -> AttemptFailure | tuple[Stage, Ending, str]:
        proposal = read_proposal(answer.text, self.first.dialect, self._plan_id, tuple(self._committed.values()))
        if not isinstance(proposal, PlanProposal):
            return AttemptFailure("reading", proposal)
        self._proposal, self._previewed = proposal, None
        self.observer.planned(proposal)
        refused = self.opened.check(proposal.plan)
        if refused is not None:
            return _failure("validation", refused)
        if self.preview or self.dry_run:
            self.observer.previewing()
            preview = self._try_on_copy(proposal)
            if _is_transient(preview.report):
                preview = self._try_on_copy(proposal)
            ending = _final_ending("preview", preview.report)
            if ending is not None or not preview.report.ok:
                return ending or _failure("preview", preview.report)
            self._previewed = preview
            self.observer.previewed(preview)
        if self.dry_run:
            return "preview", "proposed", "a dry run: nothing was changed"
        if not self.approve(proposal, self._previewed):
            if self.cancel.cancelled:
                return "approval", "interrupted", "interrupted"
            return "approval", "declined", "the plan was declined; nothing of it was run"

        self.observer.executing(proposal)
        report = self._execute(proposal)
        if _is_transient(report):
            report = self._execute(proposal)
        self._report = report
        self._remember_committed(proposal, report)
        ending = _final_ending("execution", report)
        if ending is not None or not report.ok:
            return ending or _failure("execution", report)
        result = registry.render(report)
        if not _is_finished(proposal, result):
            return AttemptFailure("gates", (), result)
        return "done", "done", ""

    def _try_on_copy(self, proposal: PlanProposal) -> Preview:
        return self.opened.preview(
            proposal.plan, RunOptions(timeout=self.timeout, cancel=self.cancel), image=self.image
        )

    def _execute(self, proposal: PlanProposal) -> RunReport:
        options = RunOptions(timeout=self.timeout, cancel=self.cancel, progress=self.observer.progressed)
        return self.opened.run(proposal.plan, options)

    def _remember_committed(self, proposal: PlanProposal, report: RunReport) -> None:
        """Remember the committed operations as the plan has them.

        The next plan repeats them, and the engine skips them.
        """
        if registry.dialect(self.first.dialect).resume is None:
            return
        done = {operation.operation_id for operation in reports_by_caller(report.operations) if operation.done}
        for item in cast("list[dict[str, Any]]", proposal.document["operations"]):
            if item["operation_id"] in done:
                self._committed[item["operation_id"]] = item

    def _record(
        self,
        stage: Stage,
        message: str,
        usage: Usage,
        model: str,
        text: str | None,
        details: dict[str, Any],
        status: str = "failed",
    ) -> None:
        journal = self.opened.journal
        number = len(journal.attempts.of_request(self.request_id)) + 1
        self._calls.append(PlannerAttempt(number, stage, message, usage, model, self._prompt_hash))
        outcome = {**details, "stage": stage, "status": status, "message": message, "request_id": self._plan_id}
        journal.attempts.record(
            NewAttempt(
                self.request_id, number, self.first.request, self._prompt_hash, model, usage.to_json(), text, outcome
            )
        )

    def _result(self, ending: Ending, reason: str, error: PlannerError | None = None) -> PlannerResult:
        document = None
        if self._proposal is not None:
            document = self._proposal.document
        return PlannerResult(
            self.request_id, self.first.request, self.first.dialect, ending, reason, tuple(self._calls),
            self._meter.usage, self._meter.seconds, self._meter.cost,
            document, self._previewed, self._report, error,
        )  # fmt: skip


def prompt_hash(request: PlanRequest) -> str:
    """Return the hash of the complete prompt and its answer schema."""
    turns = [[turn.role, turn.text] for turn in request.turns]
    schema = None
    if request.schema is not None:
        schema = dict(request.schema.strict)
    return digest([request.system, turns, schema])


def _failure(stage: Stage, report: RunReport) -> AttemptFailure:
    return AttemptFailure(stage, tuple(report.all_findings()), registry.render(report))


def _is_transient(report: RunReport) -> bool:
    """Return True if all faults may disappear in a second run, which skips the committed operations."""
    faults = _operation_faults(report)
    return not report.ok and bool(faults) and faults <= TRANSIENT


def _operation_faults(report: RunReport) -> set[Fault]:
    return {operation.fault for operation in report.operations if operation.fault is not None}


def _final_ending(stage: Stage, report: RunReport) -> tuple[Stage, Ending, str] | None:
    """Return the ending of the run if the model cannot repair the failure, or else None."""
    findings = tuple(report.all_findings())
    faults = _operation_faults(report)
    for finding in findings:
        faults.add(finding.fault)
    if Fault.CANCELLED in faults:
        return stage, "interrupted", "interrupted"
    for finding in findings:
        if finding.rule in APPROVAL_RULES:
            return "approval", "declined", f"{finding.message}. {finding.cure or ''}".strip()
    fatal = next((fault for fault in faults if not RENDERINGS[fault].recoverable), None)
    if fatal is not None:
        message = next((finding.message for finding in findings if finding.fault is fatal), "look at the report")
        return stage, "failed", f"{fatal.value}: {message}"
    return None


def _is_finished(proposal: PlanProposal, result: Any) -> bool:
    """Return True if a successful run ends the request.

    In the geonodes dialect, it does so only if the model declared it done and the gates passed.
    """
    parts: tuple[Any, ...] = (proposal.document, result)
    return all(cast("dict[str, Any]", part).get("done") is not False for part in parts if isinstance(part, dict))
