"""A request in words carried through: plan, validate, preview, approve, execute, verify; and again where something is wrong.

Responsible for: which call comes next, what it is told, and when to stop. Everything that a model says goes through the dialect and
the whole contract; nothing else of it is ever run. Bounded by attempts, tokens, time and cost, and ended early when the same fault
comes back unchanged. Every call is in the journal before the next one is made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from blendwright.app.open_scene import OpenScene
from blendwright.app.plans import render
from blendwright.planner.asking import Sleep, ask
from blendwright.planner.budget import Limits, Meter
from blendwright.planner.feedback import AttemptFailure, Stage, repair_turns
from blendwright.planner.observer import SILENT, PlannerObserver
from blendwright.planner.port import NoAnswer, PlanAnswer, Planner, PlannerError, PlanRequest, Usage
from blendwright.planner.proposal import Proposal, read_answer
from blendwright.planner.result import Ending, PlannerAttempt, PlannerResult
from blendwright.records.planner_attempts import NewAttempt
from blendwright.run.options import RunOptions
from blendwright.run.preview import Preview
from blendwright.values.cancel import CancelToken
from blendwright.values.canonical import digest
from blendwright.values.faults import RENDERINGS, Fault
from blendwright.values.macro_report import as_asked
from blendwright.values.report import RunReport

# Nothing that another plan would cure: the same one is run once more before the model hears of it.
PASSING = frozenset({Fault.TOOL_TIMEOUT, Fault.WORKER_LOST})
# A person's answer is no fault of a plan.
ASKED_IN_VAIN = frozenset({"approval_missing", "approval_declined", "preview_unasked"})

Approve = Callable[[Proposal, Preview | None], bool]


def yes(proposal: Proposal, preview: Preview | None) -> bool:
    """Whoever asked for the plan wants whatever it is."""
    return True


class PlannerRun:
    """One request on one open scene, under one request id. `first` is the whole first prompt; `approve` is asked before every run.

    `preview` tries every plan on a copy first, so that only a plan that works reaches the scene; `dry_run` stops after that.
    """

    def __init__(
        self,
        opened: OpenScene,
        planner: Planner,
        first: PlanRequest,
        request_id: str,
        *,
        limits: Limits | None = None,
        preview: bool = True,
        dry_run: bool = False,
        image: Path | None = None,
        timeout: float | None = None,
        approve: Approve = yes,
        witness: PlannerObserver = SILENT,
        cancel: CancelToken | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._opened = opened
        self._planner = planner
        self._first = first
        self._request_id = request_id
        self._meter = Meter(limits or Limits())
        self._preview = preview or dry_run
        self._dry_run = dry_run
        self._image = image
        self._approve = approve
        self._witness = witness
        self._cancel = cancel or CancelToken()
        self._options = RunOptions(timeout=timeout, cancel=self._cancel)
        self._sleep = sleep
        self._tried: list[PlannerAttempt] = []
        self._committed: dict[str, dict[str, Any]] = {}
        self._seen: set[tuple[str, str]] = set()
        self._proposal: Proposal | None = None
        self._shown: Preview | None = None
        self._report: RunReport | None = None
        self._prompt_hash = ""
        self._plan_id = request_id

    async def run(self) -> PlannerResult:
        """To the end of the story; raises nothing but what makes the workspace unusable."""
        task = asyncio.current_task()
        assert task is not None
        loop = asyncio.get_running_loop()

        def stop() -> None:
            loop.call_soon_threadsafe(task.cancel)

        unsubscribe = self._cancel.subscribe(stop)
        try:
            return await self._attempts()
        except asyncio.CancelledError:
            if not self._cancel.cancelled:
                raise
            task.uncancel()
            return self._story("interrupted", "interrupted")
        finally:
            unsubscribe()

    async def _attempts(self) -> PlannerResult:
        request, before = self._first, None
        for number in range(1, self._meter.limits.attempts + 1):
            spent = self._meter.exhausted()
            if spent is not None:
                return self._story("gave_up", spent)
            try:
                answer = await self._ask(replace(request, attempt=number))
            except PlannerError as error:
                return self._story("service", error.message, error)
            wrong = self._carry_out(answer)
            if isinstance(wrong, PlannerResult):
                return wrong
            self._witness.went_wrong(wrong)
            fault = (wrong.signature, digest(answer.text))
            if wrong.stage != "gates" and (wrong.signature == before or fault in self._seen):
                return self._story("gave_up", f"the same fault came back unchanged: {wrong.message}")
            if wrong.stage == "gates":
                # What is kept is judged again with what follows, under the same name: the next round is a request of its own.
                self._plan_id = f"{self._request_id}.{number + 1}"
            before = wrong.signature
            self._seen.add(fault)
            told = repair_turns(answer.text, wrong, tuple(self._committed.values()))
            request = replace(self._first, turns=(*self._first.turns, *told))
        attempts = self._meter.limits.attempts
        last = self._tried[-1].message if self._tried else ""
        return self._story("gave_up", f"{attempts} attempts were not enough. The last: {last}")

    async def _ask(self, request: PlanRequest) -> PlanAnswer:
        self._prompt_hash = prompt_hash(request)
        self._witness.asking(request.attempt, self._meter.limits.attempts)

        def failed(asked: PlanRequest, error: PlannerError, wait: float | None) -> None:
            usage = error.usage if isinstance(error, NoAnswer) else Usage()
            self._record("service", error.message, usage, self._planner.model, None, {"error": type(error).__name__})
            self._witness.service_failed(error, wait)

        return await ask(self._planner, request, self._meter, failed, self._sleep)

    def _carry_out(self, answer: PlanAnswer) -> PlannerResult | AttemptFailure:
        """As far as the plan goes: the end of the story, or what is wrong with it. Either way the attempt is in the journal."""
        wrong = self._judge(answer)
        if isinstance(wrong, AttemptFailure):
            status = "failed" if wrong.stage != "gates" else "unfinished"
            self._record(wrong.stage, wrong.message, answer.usage, answer.model, answer.text, wrong.to_json(), status)
            return wrong
        stage, ending, reason = wrong
        status = "succeeded" if ending in ("done", "proposed") else ending
        self._record(stage, reason, answer.usage, answer.model, answer.text, {}, status)
        return self._story(ending, reason)

    def _judge(self, answer: PlanAnswer) -> AttemptFailure | tuple[Stage, Ending, str]:
        read = read_answer(answer.text, self._first.dialect, self._plan_id, tuple(self._committed.values()))
        if not isinstance(read, Proposal):
            return AttemptFailure("reading", read)
        self._proposal, self._shown = read, None
        self._witness.planned(read)
        refused = self._opened.check(read.plan)
        if refused is not None:
            return _wrong("validation", refused)
        if self._preview:
            self._witness.previewing()
            shown = self._previewed(read)
            if _passing(shown.report):
                shown = self._previewed(read)
            end = _unanswerable("preview", shown.report)
            if end is not None or not shown.report.ok:
                return end or _wrong("preview", shown.report)
            self._shown = shown
            self._witness.previewed(shown)
        if self._dry_run:
            return "preview", "proposed", "a dry run: nothing was changed"
        if not self._approve(read, self._shown):
            if self._cancel.cancelled:
                return "approval", "interrupted", "interrupted"
            return "approval", "declined", "the plan was declined; nothing of it was run"
        self._witness.executing(read)
        report = self._ran(read)
        if _passing(report):
            report = self._ran(read)
        self._report = report
        self._keep(read, report)
        end = _unanswerable("execution", report)
        if end is not None or not report.ok:
            return end or _wrong("execution", report)
        result = render(report)
        if not _finished(read, result):
            return AttemptFailure("gates", (), result)
        return "done", "done", ""

    def _previewed(self, read: Proposal) -> Preview:
        return self._opened.preview(read.plan, self._options, image=self._image)

    def _ran(self, read: Proposal) -> RunReport:
        return self._opened.run(read.plan, replace(self._options, progress=self._witness.progressed))

    def _keep(self, proposal: Proposal, report: RunReport) -> None:
        """What is in the scene now, as the plan has it: the next plan repeats it, and it is skipped."""
        if self._first.dialect != "operations":
            return
        done = {operation.operation_id for operation in as_asked(report.operations) if operation.done}
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
        journal = self._opened.journal
        number = len(journal.attempts(self._request_id)) + 1
        self._tried.append(PlannerAttempt(number, stage, message, usage, model, self._prompt_hash))
        outcome = {**details, "stage": stage, "status": status, "message": message, "request_id": self._plan_id}
        asked = self._first.request
        journal.record_attempt(
            NewAttempt(self._request_id, number, asked, self._prompt_hash, model, usage.to_json(), text, outcome)
        )

    def _story(self, ending: Ending, reason: str, error: PlannerError | None = None) -> PlannerResult:
        return PlannerResult(
            self._request_id, self._first.request, self._first.dialect, ending, reason, tuple(self._tried),
            self._meter.usage, self._meter.seconds, self._meter.cost,
            None if self._proposal is None else self._proposal.document, self._shown, self._report, error,
        )  # fmt: skip


def prompt_hash(request: PlanRequest) -> str:
    """Of everything that the model is told."""
    turns = [[turn.role, turn.text] for turn in request.turns]
    return digest([request.system, turns, None if request.schema is None else dict(request.schema.strict)])


def _wrong(stage: Stage, report: RunReport) -> AttemptFailure:
    return AttemptFailure(stage, tuple(report.all_findings()), render(report))


def _passing(report: RunReport) -> bool:
    """Whether all that went wrong may be gone the next time: what was done is skipped then."""
    faults = {operation.fault for operation in report.operations if operation.fault is not None}
    return not report.ok and bool(faults) and faults <= PASSING


def _unanswerable(stage: Stage, report: RunReport) -> tuple[Stage, Ending, str] | None:
    """How a run ends the story without being the model's mistake."""
    findings = tuple(report.all_findings())
    faults = {operation.fault for operation in report.operations if operation.fault is not None}
    faults |= {finding.fault for finding in findings}
    if Fault.CANCELLED in faults:
        return stage, "interrupted", "interrupted"
    asked = next((finding for finding in findings if finding.rule in ASKED_IN_VAIN), None)
    if asked is not None:
        return "approval", "declined", f"{asked.message}. {asked.cure or ''}".strip()
    fatal = next((fault for fault in faults if not RENDERINGS[fault].recoverable), None)
    if fatal is not None:
        message = next((finding.message for finding in findings if finding.fault is fatal), "look at the report")
        return stage, "failed", f"{fatal.value}: {message}"
    return None


def _finished(proposal: Proposal, result: Any) -> bool:
    """Whether a run that succeeded is the end: in the geonodes dialect only when the model said so and the gates passed."""
    parts: tuple[Any, ...] = (proposal.document, result)
    return all(cast("dict[str, Any]", part).get("done") is not False for part in parts if isinstance(part, dict))
