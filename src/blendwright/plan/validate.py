"""Validation of a plan: graph, tools, arguments, declared safety and determinism.

It reports all findings at once, without Blender.

This module validates arguments once for the whole core: first by their schema and model, last by the tool's own checks.
The JSON reader has already checked that they are JSON (`schemas.json_reader`). The worker validates them again on its
side.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from blendwright.plan.graph import MAX_SUGGESTIONS, Graph, Owners, graph_findings, read_graph, run_order
from blendwright.plan.implied_order import ImpliedOrder, imply_order
from blendwright.policy.objections import Objection, PathFindings, ProposedCall, Stage, concerning
from blendwright.policy.refusals import refusal
from blendwright.policy.session_contract import ContractTerms
from blendwright.schemas.check import ModelChecker
from blendwright.tool_api.arguments import former_name_note, in_own_terms
from blendwright.tool_api.promises import SafetyLevel
from blendwright.tool_api.tool import AnyTool
from blendwright.tool_api.tool_names import own_name
from blendwright.util.gc_pause import LARGE_PLAN, gc_paused
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean
from blendwright.values.plan import Operation, Plan, Schedule

if TYPE_CHECKING:
    from blendwright.macros import Macro


class ValidatedArguments(NamedTuple):
    """Arguments after validation: valid ones in two forms, or findings with pointers into the arguments.

    Blendwright sends, hashes and stores `canonical`. `model` is the same as the tool's own type, for promises that
    depend on the arguments. With findings, both are empty.
    """

    canonical: dict[str, Any]
    findings: tuple[Finding, ...] = ()
    model: Any = None


def validate_arguments(tool: AnyTool, raw: Any) -> ValidatedArguments:
    """Return the arguments of a call in canonical form and as a model, or all findings about them."""
    current, _ = in_own_terms(tool.args_model, raw)
    return _validate_current(tool, current)


def _validate_current(tool: AnyTool, args: Any) -> ValidatedArguments:
    """Validate arguments under their current names."""
    model, findings = _checker(tool.__class__).validate(args)
    findings = findings or tuple(tool.examine(model, None))
    if findings:
        return ValidatedArguments({}, findings)
    return ValidatedArguments(model.model_dump(mode="json"), (), model)


@cache
def _checker(tool: type[AnyTool]) -> ModelChecker:
    return ModelChecker(tool.args_model, tool.args_schema(), f"See: blendwright tools {tool.name}")


# Findings of one refusal, so that a hostile document cannot make it endless. The repair covers the listed findings about
# arguments and tools.
MOST_FINDINGS = 10_000
RANKS: dict[str, int] = {level.value: level.rank for level in SafetyLevel}


@dataclass(frozen=True)
class ValidPlan:
    """A plan with canonical arguments that can be scheduled.

    `unrunnable` holds, by id, the operations that will fail, if the plan's policy allows that.
    """

    plan: Plan
    graph: Graph
    unrunnable: Mapping[str, Finding]
    implied: ImpliedOrder | None = None
    """The dependencies that no operation states, for plans whose ids break ties. `graph` includes them."""

    @cached_property
    def order(self) -> tuple[Operation, ...]:
        """The operations in the order of their execution."""
        operations = self.plan.operations
        return tuple(operations[node] for node in run_order(self.graph, self.plan.tie_break))

    @cached_property
    def content(self) -> str:
        """The sha256 over everything that determines order and effect.

        It covers the operations in the order of their ids if ids break ties, or else in the document's order.
        """
        operations, tie_break = self.plan.operations, self.plan.tie_break
        if tie_break == "id":
            operations = sorted(operations, key=attrgetter("id"))
        hashed = hashlib.sha256(tie_break.encode())
        for operation in operations:
            essence = [
                operation.id,
                operation.tool,
                operation.safety_level,
                sorted(set(operation.depends_on)),
                operation.args,
            ]
            hashed.update(orjson.dumps(essence, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE))
        if self.implied is not None and self.implied_by:
            implied = sorted((id, sorted(dependencies)) for id, dependencies in self.implied_by.items())
            hashed.update(orjson.dumps(implied))
        return hashed.hexdigest()

    @cached_property
    def implied_by(self) -> dict[str, dict[str, str]]:
        """The unstated dependencies of each operation by id, each with its reason. Steps of a macro go by the caller's id."""
        implied_by: dict[str, dict[str, str]] = {}
        if self.implied is None:
            return implied_by
        operations = self.plan.operations
        for link in self.implied.links:
            reasons = implied_by.setdefault(operations[link.after].caller_id, {})
            reasons[operations[link.before].caller_id] = link.why
        return implied_by

    def schedule(self, registry: str, baseline: str) -> Schedule:
        """Return the order of execution, which is equal for equal plans, with its hash for one scene.

        `registry` is the fingerprint of the tools, `baseline` the hash of the scene before the plan.
        """
        with _large_plan_pause(self.plan):
            schedule_hash = hashlib.sha256(orjson.dumps([registry, baseline, self.content])).hexdigest()
            return Schedule(self.plan, self.order, schedule_hash, self.unrunnable, self.implied_by)


def _large_plan_pause(plan: Plan) -> AbstractContextManager[None]:
    if len(plan.operations) >= LARGE_PLAN:
        return gc_paused()
    return nullcontext()


def validate(
    plan: Plan,
    tools: Mapping[str, AnyTool],
    terms: ContractTerms,
    macros: Mapping[str, Macro] | None = None,
    *,
    stage: Stage | None = Stage.PLAN,
    path_findings: PathFindings | None = None,
) -> ValidPlan | tuple[Finding, ...]:
    """Return the valid plan with its macros expanded, or all findings in the order of the document.

    `stage` selects the objections to check. A run checks the remaining ones once it has a Blender.
    """
    with _large_plan_pause(plan):
        macros = macros or {}
        unknown_names = {operation.tool for operation in plan.operations} - tools.keys() - macros.keys()
        if unknown_names:
            plan = _with_own_names(plan, {name: own_name(name, (*tools, *macros)) for name in unknown_names})
        graph = read_graph(plan.operations)

        expanded, macro_findings = plan, tuple[Finding, ...]()
        if any(operation.tool in macros for operation in plan.operations):
            from blendwright.plan.macro_calls import expand_macros  # few plans call macros

            expanded, macro_findings = expand_macros(plan, macros, terms.limits.operations_per_plan)

        checks = _Checks(plan, tools, terms, macros, stage, path_findings)
        findings = _too_long(expanded, terms)
        if not findings:
            findings = tuple(islice(_all(graph, expanded, macro_findings, checks), MOST_FINDINGS))
        if findings:
            return _in_document_order(plan, findings)

        ready = replace(expanded, operations=tuple(checks.canonical), notes=tuple(checks.notes))
        if ready.written is not None:
            graph = read_graph(ready.operations)
        graph = replace(graph, operations=ready.operations)
        # If positions break ties, the written order is the order of execution.
        if plan.tie_break != "id" or len(ready.operations) < 2:
            return ValidPlan(ready, graph, checks.unrunnable)
        implied = imply_order(graph, tools, plan.tie_break)
        return implied.findings or ValidPlan(ready, implied.graph, checks.unrunnable, implied)


def _in_document_order(plan: Plan, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    owners = Owners(plan)
    if plan.program is not None:
        findings = tuple(_in_program(finding, owners) for finding in findings)
    return tuple(sorted(findings, key=lambda finding: owners.position(finding.pointer)))


def _in_program(finding: Finding, owners: Owners) -> Finding:
    owner = owners.of(finding.pointer)
    if owner is None:
        return finding
    return owner.in_program(finding)


def _with_own_names(plan: Plan, names: Mapping[str, str]) -> Plan:
    """Replace MCP names by the tools' own names, so that both spellings give the same plan."""
    operations: list[Operation] = []
    for operation in plan.operations:
        if operation.tool in names:
            operation = replace(operation, tool=names[operation.tool])
        operations.append(operation)
    return replace(plan, operations=tuple(operations))


def _too_long(plan: Plan, terms: ContractTerms) -> tuple[Finding, ...]:
    count, most = len(plan.operations), terms.limits.operations_per_plan
    if count <= most:
        return ()
    size = f"{count} operations"
    if plan.written is not None:
        # The expansion of macros stops at the limit.
        size = f"{count} operations or more with the steps of its macros"
    return (refusal("plan_too_long", f"the plan has {size}, and {most} are allowed"),)


def _all(graph: Graph, expanded: Plan, macro_findings: tuple[Finding, ...], checks: _Checks) -> Iterator[Finding]:
    yield from expanded.findings

    explained = {finding.pointer for finding in macro_findings if finding.fault is Fault.DEPENDENCY_MISSING}
    for finding in graph_findings(graph):
        if finding.pointer not in explained:
            yield finding

    for operation in expanded.written or ():
        macro = checks.macros.get(operation.tool)
        if macro is not None:
            yield from _declared_too_low(operation, macro.name, macro.safety_level)
    yield from macro_findings
    for operation in expanded.operations:
        yield from checks.of(operation)


class _Checks:
    """Checks of single operations. `canonical` collects the checked operations with their canonical arguments."""

    def __init__(
        self,
        plan: Plan,
        tools: Mapping[str, AnyTool],
        terms: ContractTerms,
        macros: Mapping[str, Macro],
        stage: Stage | None,
        path_findings: PathFindings | None,
    ) -> None:
        self._plan = plan
        self._tools = tools
        self._terms = terms
        self.macros = macros
        self._stage = stage
        self._path_findings = path_findings
        self._objections: dict[str, tuple[Objection, ...]] = {}
        self._suggestions: dict[str, str] = {}
        self.canonical: list[Operation] = []
        self.unrunnable: dict[str, Finding] = {}
        self.notes: dict[str, None] = {}

    def of(self, operation: Operation) -> Iterator[Finding]:
        tool = self._tools.get(operation.tool)
        if tool is None:
            # The expansion has already reported the findings of a macro that it could not expand.
            if operation.tool not in self.macros:
                yield from self._unknown_tool(operation)
            self.canonical.append(operation)
            return
        if "args" in operation.unsound:
            yield from _declared_too_low(operation, tool.name, tool.safety_level)
            return

        current, former = in_own_terms(tool.args_model, operation.args)
        args, findings, model = _validate_current(tool, current)
        if former:
            operation = replace(operation, former_names=former)
            # The caller of a macro cannot change the names in its steps.
            if operation.origin is None:
                self._note_former_names(tool, former)

        if tool.destructive_with and not findings:
            level = tool.safety_level_for(model)
        else:
            level = tool.safety_level
        yield from _declared_too_low(operation, tool.name, level)
        for finding in findings:
            yield operation.in_arguments(finding)
        if not findings:
            yield from self._against(operation, tool, args, model)
            # Not dataclasses.replace: this is the hot line of a plan of 100,000 operations.
            self.canonical.append(
                Operation(
                    operation.id,
                    operation.tool,
                    args,
                    operation.depends_on,
                    _higher(operation.safety_level, level),
                    operation.position,
                    operation.pointer,
                    operation.places,
                    operation.unsound,
                    operation.origin,
                    model,
                    former,
                    operation.site,
                )
            )

    def _note_former_names(self, tool: AnyTool, former: Mapping[str, str]) -> None:
        for name, word in former.items():
            self.notes[former_name_note(tool.name, word, name)] = None

    def _unknown_tool(self, operation: Operation) -> Iterator[Finding]:
        if "tool" in operation.unsound:
            return
        name, otherwise = operation.tool, "See: blendwright tools"
        if name not in self._suggestions and len(self._suggestions) < MAX_SUGGESTIONS:
            self._suggestions[name] = did_you_mean(name, [*self._tools, *self.macros], otherwise=otherwise)
        cure = self._suggestions.get(name, otherwise)
        pointer = operation.pointer + operation.places.tool
        rule = None
        if cure != otherwise:
            rule = "tool_misspelt"
        finding = Finding(Fault.TOOL_NOT_ALLOWED, f"there is no tool named '{name[:100]}'", pointer, cure, rule)
        if self._plan.on_unknown_tool == "refuse":
            yield finding
        else:
            self.unrunnable[operation.id] = finding

    def _against(self, operation: Operation, tool: AnyTool, args: Mapping[str, Any], model: Any) -> Iterator[Finding]:
        """Yield the objections to the call that belong to the current stage."""
        if self._stage is None:
            return
        if tool.name not in self._objections:
            self._objections[tool.name] = concerning(tool, self._terms, self._stage)
        objections = self._objections[tool.name]
        if not objections:
            return
        level = operation.safety_level or tool.safety_level.value
        call = ProposedCall(self._terms, tool, model, args, level, path_findings=self._path_findings)
        for objection in objections:
            for finding in objection.find(call):
                if objection.in_arguments:
                    yield operation.in_arguments(finding)
                else:
                    yield operation.as_a_whole(finding)


def _declared_too_low(operation: Operation, name: str, level: SafetyLevel) -> Iterator[Finding]:
    """Yield a finding if the plan declares a lower level than the callee has. A higher declaration is valid."""
    declared = operation.safety_level
    if declared is not None and operation.origin is None and RANKS[declared] < level.rank:
        message = f"{name} is {level.value}, and the plan declares it as {declared}"
        pointer = operation.pointer + operation.places.safety_level
        yield Finding(Fault.POLICY_BLOCKED, message, pointer, f"Declare {level.value}.")


def _higher(declared: str | None, level: SafetyLevel) -> str:
    """Return the safety level of a call.

    A declared level is never lower than the tool's, except in steps of macros, where it is the level of the whole
    macro.
    """
    if declared is not None and RANKS[declared] >= level.rank:
        return declared
    return level.value
