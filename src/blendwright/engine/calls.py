"""A single call of a tool or macro: a plan of one operation, whose report becomes the outcome of the call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from blendwright.engine.invocation import Invocation, OperationKeys, new_id
from blendwright.engine.ledger import changes_of, handles_of
from blendwright.engine.options import DEFAULT_OPTIONS, PhaseClock, RunOptions, too_much_time
from blendwright.engine.runner import Runner
from blendwright.macros import Macro
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.refusals import refusal
from blendwright.schemas.json_reader import non_interoperable_values
from blendwright.tool_api.promises import Determinism
from blendwright.tool_api.tool import AnyTool
from blendwright.tool_api.tool_names import own_name
from blendwright.values.events import CallEnded, CallIds
from blendwright.values.faults import REFUSALS, Fault
from blendwright.values.findings import Finding, did_you_mean, sentence
from blendwright.values.macro_report import kept_steps, reports_by_caller
from blendwright.values.outcome import Outcome
from blendwright.values.plan import Operation, Places, Plan, Schedule
from blendwright.values.report import OperationReport, RunReport, StepDetails

SNAPSHOT_TOOL = "scene.snapshot"
# The operation id of a call outside of plans. Each such call gets a new request id.
CALL = "call"
# Seconds after the caller's timeout in which the call must end, wherever it waits.
EXTRA_SECONDS = 0.25
# Pointers of a single call point into its arguments and into no plan.
NOWHERE = Places(id="", tool="", args="", depends_on="", safety_level="")


def call(runner: Runner, name: str, args: Any, options: RunOptions = DEFAULT_OPTIONS) -> Outcome:
    """Run one call of a tool or macro and return its outcome. A failure is also an outcome.

    Raises only EnvironmentUnfit, when Blender or the disk is not usable.
    """
    session = runner.session
    if name not in session.tools and name not in session.macros:
        name = own_name(name, (*session.tools, *session.macros))
    operation = Operation(CALL, name, args, (), None, 0, "", NOWHERE)
    # A macro declares its determinism class, so its steps must keep to that class.
    if name in session.macros:
        accepts = "prove"
    else:
        accepts = "accept"
    plan = Plan("call", new_id(), (operation,), "id", "stop", single_call=True, on_nondeterministic=accepts)
    if name in session.macros:
        outcome = _MacroCall(runner, session.macros[name], plan, options).run()
    elif name in session.tools:
        outcome = _ToolCall(runner, session.tools[name], plan, options).run()
    else:
        near = did_you_mean(name, session.tools, otherwise="See: blendwright tools")
        finding = refusal("tool_unknown", f"no tool is named '{name}'", near=near)
        blank = Outcome(name, 0, request_id=plan.request_id)
        outcome = _refused(blank, (finding,), PhaseClock(options.parse_ms))
        session.observe(CallEnded(CallIds(plan.request_id, CALL), outcome, recorded=False))
    if options.snapshot and outcome.ok:
        snapshot = call(runner, SNAPSHOT_TOOL, {}, RunOptions(timeout=options.timeout, cancel=options.cancel))
        return outcome.with_(snapshot=snapshot.result)
    return outcome


class _ToolCall:
    def __init__(self, runner: Runner, tool: AnyTool, plan: Plan, options: RunOptions) -> None:
        self._runner = runner
        self._session = runner.session
        self._tool = tool
        self._plan = plan
        terms = self._session.contract.terms
        if options.background:
            terms = terms.in_background()
        allowed = options.call_seconds or terms.seconds_for(tool)
        self._too_long = too_much_time(options.timeout, allowed, tool.time_limit)
        if options.timeout is None:
            self._seconds = allowed
        else:
            self._seconds = min(options.timeout, allowed)
        # With a timeout of the caller, the call ends shortly after it, even while it waits for Blender to start.
        run_seconds = terms.constraints.run_seconds
        if options.timeout is None:
            ends = None
        else:
            ends = min(options.timeout + EXTRA_SECONDS, run_seconds)
        self._options = replace(options, timeout=ends, call_seconds=self._seconds, one_at_a_time=True)
        self._clock = PhaseClock(options.parse_ms)

    def run(self) -> Outcome:
        valid = self._too_long or non_interoperable_values(self._plan.operations[0].args)
        valid = valid or validate(self._plan, self._session.tools, self._session.contract.terms, stage=None)
        # Paths can be checked now, because no operation runs before this call and changes them.
        if isinstance(valid, tuple):
            findings = valid
        else:
            findings = self._path_findings(valid)
        self._clock.lap("validate_input")
        if not isinstance(valid, ValidPlan) or findings:
            return self._turned_away(valid, findings)
        report = self._runner.execute(Schedule(valid.plan, valid.order, ""), self._options, self._clock)
        if report.status == "refused":
            findings = tuple(report.all_findings())
            return self._turned_away(valid, findings, no_blender=findings[0].fault not in REFUSALS)
        outcome = self._outcome(report, valid.plan.operations[0].model)
        self._session.observe(
            CallEnded(CallIds(self._plan.request_id, CALL, outcome.mcp_call_id), outcome, recorded=True)
        )
        return outcome

    def _path_findings(self, valid: ValidPlan) -> tuple[Finding, ...]:
        return self._session.files.path_findings(self._tool, dict(valid.plan.operations[0].args))

    def _turned_away(
        self, valid: ValidPlan | tuple[Finding, ...], findings: tuple[Finding, ...], *, no_blender: bool = False
    ) -> Outcome:
        """Return the outcome of a call that was refused before it ran. Record it, unless no scene is known yet."""
        args: dict[str, Any] = {}
        model = None
        level = self._tool.safety_level.value
        if isinstance(valid, ValidPlan):
            (operation,) = valid.plan.operations
            args = dict(operation.args)
            model = operation.model
            level = operation.safety_level or level
        request_id = self._plan.request_id
        keys = OperationKeys(request_id, {CALL: args})
        invocation = Invocation(request_id, CALL, self._tool, args, model, level, keys, new_id(), single_call=True)
        known_hash = self._session.scene.head.known_hash
        ledger = self._session.ledger
        if known_hash is not None:
            ledger.write([ledger.note(invocation, "failed", known_hash, fault=findings[0].fault)])

        reverted_by = None
        partial = None
        if no_blender:
            reverted_by = "rebuild"
            details = StepDetails(reverted_by=reverted_by, answered=False, deadline_seconds=self._seconds)
            partial = details.partial_work()
        blank = Outcome(
            self._tool.name,
            self._tool.version,
            fingerprint_before=known_hash,
            fingerprint_after=known_hash,
            reverted_by=reverted_by,
            partial=partial,
            request_id=request_id,
            mcp_call_id=invocation.call_id,
        )
        outcome = _refused(blank, findings, self._clock)
        self._session.observe(CallEnded(invocation.ids, outcome, recorded=known_hash is not None))
        return outcome

    def _outcome(self, report: RunReport, model: Any) -> Outcome:
        (operation,) = report.operations
        details = operation.details
        if operation.scene_hash_before is None:
            hash_before = hash_after = report.scene_hash_after
        else:
            hash_before = operation.scene_hash_before
            hash_after = operation.scene_hash_after
        fields: dict[str, Any] = {
            "fingerprint_before": hash_before,
            "fingerprint_after": hash_after,
            "request_id": self._plan.request_id,
            "mcp_call_id": operation.mcp_call_id,
        }
        if details is not None:
            for phase in ("plan", "execute", "verify"):
                self._clock.note(phase, getattr(details, f"{phase}_ms"))
            fields["reverted_by"] = details.reverted_by
        tool = self._tool
        if operation.fault is not None:
            fields["partial"] = operation.partial_work
            if operation.fault is Fault.CANCELLED and operation.partial_work is None:
                fields["partial"] = {"kept": [], "scene": "as before the call"}
            return _refused(Outcome(tool.name, tool.version, **fields), operation.findings, self._clock)
        assert details is not None
        return Outcome(
            tool.name,
            tool.version,
            result=operation.result,
            handles=handles_of(details.changes),
            changes=changes_of(details.changes),
            determinism_class=details.determinism,
            seed=tool.seed_for(model),
            tolerance=tool.tolerance_for(model),
            artifacts=details.artifacts,
            blender_mutation_id=operation.blender_mutation_id,
            trace=self._clock.trace(),
            notes=report.notes,
            **fields,
        )


class _MacroCall:
    """A call of a macro. Its steps run, and notify the observer, like the steps of a plan."""

    def __init__(self, runner: Runner, macro: Macro, plan: Plan, options: RunOptions) -> None:
        self._runner = runner
        self._session = runner.session
        self._macro = macro
        self._plan = plan
        self._options = options
        self._clock = PhaseClock(options.parse_ms)

    def run(self) -> Outcome:
        session = self._session
        args = self._plan.operations[0].args
        findings = non_interoperable_values(args)
        if self._options.rehearse is not None:
            message = f"{self._macro.name} is a macro; its steps cannot be rehearsed as one call"
            cure = "Preview a plan that calls the macro: blendwright preview PLAN"
            findings = (Finding(Fault.ARGS_INVALID, message, "", cure),)
        terms = session.contract.terms.demanding(self._options.determinism)
        valid = findings or validate(self._plan, session.tools, terms, session.macros)
        self._clock.lap("validate_input")
        if isinstance(valid, tuple):
            return self._turned_away(valid)
        schedule = Schedule(valid.plan, valid.order, valid.content, valid.unrunnable)
        return self._outcome(self._runner.run(schedule, self._options, self._clock))

    def _turned_away(self, findings: Sequence[Finding]) -> Outcome:
        known_hash = self._session.scene.head.known_hash
        blank = Outcome(
            self._macro.name, self._macro.version, fingerprint_before=known_hash, fingerprint_after=known_hash
        )
        return _refused(blank, tuple(findings), self._clock)

    def _outcome(self, report: RunReport) -> Outcome:
        if report.status == "refused":
            return self._turned_away(tuple(report.all_findings()))

        macro = self._macro
        scene_hash = self._session.scene.hash
        steps = report.operations
        (operation,) = reports_by_caller(steps)
        for phase in ("plan", "execute", "verify"):
            self._clock.note(phase, operation.timings.get(f"{phase}_ms", 0.0))
        before = operation.scene_hash_before or scene_hash
        blank = Outcome(macro.name, macro.version, fingerprint_before=before, fingerprint_after=scene_hash)
        if not operation.done:
            if any(step.status == "rolled_back" for step in steps):
                reverted_by = "rebuild"
            else:
                reverted_by = None
            return blank.with_(
                fault=operation.fault or Fault.INTERNAL_ERROR,
                message=operation.message,
                findings=operation.findings,
                reverted_by=reverted_by,
                partial=_partial(steps),
                trace=self._clock.trace(),
            )

        seed = None
        if macro.determinism is Determinism.SEEDED:
            seed = macro.complete(self._plan.operations[0].args)[0].get("seed")
        return blank.with_(
            result=operation.result,
            handles=tuple(_handles(steps)),
            changes=tuple(_changes(steps)),
            determinism_class=macro.determinism.value,
            seed=seed,
            trace=self._clock.trace(),
        )


def _refused(blank: Outcome, findings: tuple[Finding, ...], clock: PhaseClock) -> Outcome:
    return blank.with_(fault=findings[0].fault, message=sentence(findings), findings=findings, trace=clock.trace())


def _partial(steps: Sequence[OperationReport]) -> dict[str, Any]:
    """Return the steps of a failed macro by their fate: kept, taken back, not run."""
    return {
        "kept": [_named(step) for step in kept_steps(steps)],
        "taken_back": [_named(step) for step in steps if step.status == "rolled_back"],
        "not_run": [_named(step) for step in steps if step.status == "skipped"],
    }


def _named(step: OperationReport) -> dict[str, Any]:
    assert step.origin is not None
    return {"step": step.origin.step, "title": step.origin.title, "tool": step.tool}


def _handles(steps: Sequence[OperationReport]) -> list[dict[str, str]]:
    by_name: dict[tuple[str, str], dict[str, str]] = {}
    for step in steps:
        for handle in (step.receipt or {}).get("handles", ()):
            by_name[handle["kind"], handle["name"]] = dict(handle)
    return list(by_name.values())


def _changes(steps: Sequence[OperationReport]) -> list[dict[str, str]]:
    """Return the combined changes of all steps. A datablock that one step created stays "created" after later
    changes.
    """
    by_name: dict[tuple[str, str], dict[str, str]] = {}
    for step in steps:
        for change in (step.receipt or {}).get("changes", ()):
            earlier = by_name.get((change["kind"], change["name"]))
            if earlier is None or earlier["change"] != "created" or change["change"] == "removed":
                by_name[change["kind"], change["name"]] = dict(change)
    return list(by_name.values())
