"""Whether a plan may run: graph, tools, arguments, declared safety and determinism, every finding at once. Pure, without Blender.

Arguments are validated here, once for the whole core: first by their schema and model, last by what only the tool knows of them.
Whether they are JSON at all was checked where they came in (`values.json_reader`). The worker validates once more, on its side.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from blendwright.plan.graph import MOST_SUGGESTIONS, Graph, Owners, graph_findings, read_graph, run_order
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
    """`canonical` is what is sent, hashed and kept; `model` is the same as the tool's own type, for promises that depend on the
    arguments. With findings, which point into the arguments, there is neither."""

    canonical: dict[str, Any]
    findings: tuple[Finding, ...] = ()
    model: Any = None


def validate_arguments(tool: AnyTool, raw: Any) -> ValidatedArguments:
    """The arguments of a call in canonical form and as a model, or everything that is wrong with them."""
    own, _ = in_own_terms(tool.args_model, raw)
    return _validate_own(tool, own)


def _validate_own(tool: AnyTool, own: Any) -> ValidatedArguments:
    """The same of arguments under the names that they have now."""
    model, findings = _checker(tool.__class__).validate(own)
    findings = findings or tuple(tool.examine(model, None))
    if findings:
        return ValidatedArguments({}, findings)
    return ValidatedArguments(model.model_dump(mode="json"), (), model)


@cache
def _checker(tool: type[AnyTool]) -> ModelChecker:
    return ModelChecker(tool.args_model, tool.args_schema(), f"See: blendwright tools {tool.name}")


# A refusal lists everything, but a hostile document must not become an endless one. Of arguments and tools, the repair
# covers what is listed.
MOST_FINDINGS = 10_000
RANKS: dict[str, int] = {level.value: level.rank for level in SafetyLevel}


@dataclass(frozen=True)
class ValidPlan:
    """A plan with canonical arguments, fit to be scheduled.

    `unrunnable` holds the operations that cannot but fail, by id, where the plan's policy is to let them.
    """

    plan: Plan
    graph: Graph
    unrunnable: Mapping[str, Finding]
    implied: ImpliedOrder | None = None
    """The dependencies that no operation states, where ids break ties; `graph` has them."""

    @cached_property
    def order(self) -> tuple[Operation, ...]:
        """The operations as they run."""
        operations = self.plan.operations
        return tuple(operations[node] for node in run_order(self.graph, self.plan.tie_break))

    @cached_property
    def content(self) -> str:
        """sha256 over what decides the order and the effect: in order of ids where ids break ties, else as in the document."""
        operations, tie_break = self.plan.operations, self.plan.tie_break
        if tie_break == "id":
            operations = sorted(operations, key=attrgetter("id"))
        hashed = hashlib.sha256(tie_break.encode())
        for one in operations:
            essence = [one.id, one.tool, one.safety_level, sorted(set(one.depends_on)), one.args]
            hashed.update(orjson.dumps(essence, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE))
        if self.implied is not None and self.implied_by:
            hashed.update(orjson.dumps(sorted((id, sorted(others)) for id, others in self.implied_by.items())))
        return hashed.hexdigest()

    @cached_property
    def implied_by(self) -> dict[str, dict[str, str]]:
        """By the id of an operation, those that it waits for without saying so, and why. The steps of a macro go by its caller's."""
        found: dict[str, dict[str, str]] = {}
        for link in () if self.implied is None else self.implied.links:
            after, before = (self.plan.operations[node].caller_id for node in (link.after, link.before))
            found.setdefault(after, {})[before] = link.why
        return found

    def schedule(self, registry: str, baseline: str) -> Schedule:
        """The order in which it runs, which is equal for equal plans, and its hash for one scene. `registry` is the fingerprint of
        the tools, `baseline` the hash of the scene that the plan starts from."""
        with gc_paused() if len(self.plan.operations) >= LARGE_PLAN else nullcontext():
            whole = hashlib.sha256(orjson.dumps([registry, baseline, self.content])).hexdigest()
            if self.implied is None:
                implied_by = {}
            else:
                implied_by = self.implied_by
            return Schedule(self.plan, self.order, whole, self.unrunnable, implied_by)


def validate(
    plan: Plan,
    tools: Mapping[str, AnyTool],
    terms: ContractTerms,
    macros: Mapping[str, Macro] | None = None,
    *,
    stage: Stage | None = Stage.PLAN,
    path_findings: PathFindings | None = None,
) -> ValidPlan | tuple[Finding, ...]:
    """The valid plan with its macros expanded, or all findings in the order of the document. `stage` says how much of the list of
    objections is held against its calls: a run asks the rest when it has a Blender."""
    with gc_paused() if len(plan.operations) >= LARGE_PLAN else nullcontext():
        macros = macros or {}
        if unknown := {operation.tool for operation in plan.operations} - tools.keys() - macros.keys():
            plan = _with_own_names(plan, {name: own_name(name, (*tools, *macros)) for name in unknown})
        graph = read_graph(plan.operations)
        expanded, of_macros = plan, tuple[Finding, ...]()
        if any(operation.tool in macros for operation in plan.operations):
            from blendwright.plan.macro_calls import expand_macros  # few plans call macros

            expanded, of_macros = expand_macros(plan, macros, terms.limits.operations_per_plan)
        checks = _Checks(plan, tools, terms, macros, stage, path_findings)
        too_long = _too_long(expanded, terms)
        findings = too_long or tuple(islice(_all(graph, expanded, of_macros, checks), MOST_FINDINGS))
        if findings:
            owners = Owners(plan)
            if plan.program is not None:
                findings = tuple(_in_program(finding, owners) for finding in findings)
            return tuple(sorted(findings, key=lambda finding: owners.position(finding.pointer)))
        ready = replace(expanded, operations=tuple(checks.canonical), notes=tuple(checks.notes))
        if ready.written is not None:
            graph = read_graph(ready.operations)
        graph = replace(graph, operations=ready.operations)
        # Where positions break ties, the order is the one that was written.
        if plan.tie_break != "id" or len(ready.operations) < 2:
            return ValidPlan(ready, graph, checks.unrunnable)
        implied = imply_order(graph, tools, plan.tie_break)
        return implied.findings or ValidPlan(ready, implied.graph, checks.unrunnable, implied)


def _in_program(finding: Finding, owners: Owners) -> Finding:
    owner = owners.of(finding.pointer)
    if owner is None:
        return finding
    return owner.in_program(finding)


def _with_own_names(plan: Plan, names: Mapping[str, str]) -> Plan:
    """The plan with the tools' own names for their MCP names: from here on both spellings are the same plan."""
    operations = (replace(one, tool=names[one.tool]) if one.tool in names else one for one in plan.operations)
    return replace(plan, operations=tuple(operations))


def _too_long(plan: Plan, terms: ContractTerms) -> tuple[Finding, ...]:
    count, most = len(plan.operations), terms.limits.operations_per_plan
    if count <= most:
        return ()
    # Macros are expanded only until the limit is passed.
    if plan.written is None:
        what = f"{count} operations"
    else:
        what = f"{count} operations or more with the steps of its macros"
    return (refusal("plan_too_long", f"the plan has {what}, and {most} are allowed"),)


def _all(graph: Graph, expanded: Plan, of_macros: tuple[Finding, ...], checks: _Checks) -> Iterator[Finding]:
    yield from expanded.findings
    explained = {finding.pointer for finding in of_macros if finding.fault is Fault.DEPENDENCY_MISSING}
    yield from (finding for finding in graph_findings(graph) if finding.pointer not in explained)
    for operation in expanded.written or ():
        if (macro := checks.macros.get(operation.tool)) is not None:
            yield from _declared_too_low(operation, macro.name, macro.safety_level)
    yield from of_macros
    for operation in expanded.operations:
        yield from checks.of(operation)


class _Checks:
    """What concerns single operations. Collects them in canonical form on the way."""

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
            # A macro that could not be expanded has its findings already.
            if operation.tool not in self.macros:
                yield from self._unknown_tool(operation)
            self.canonical.append(operation)
            return
        if "args" in operation.unsound:
            yield from _declared_too_low(operation, tool.name, tool.safety_level)
            return
        own, former = in_own_terms(tool.args_model, operation.args)
        args, findings, model = _validate_own(tool, own)
        if former:
            operation = replace(operation, former_names=former)
            # What a macro's steps say is not its caller's to change.
            for name, word in former.items() if operation.origin is None else ():
                self.notes[former_name_note(tool.name, word, name)] = None
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

    def _unknown_tool(self, operation: Operation) -> Iterator[Finding]:
        if "tool" in operation.unsound:
            return
        name, otherwise = operation.tool, "See: blendwright tools"
        if name not in self._suggestions and len(self._suggestions) < MOST_SUGGESTIONS:
            self._suggestions[name] = did_you_mean(name, [*self._tools, *self.macros], otherwise=otherwise)
        cure = self._suggestions.get(name, otherwise)
        pointer = operation.pointer + operation.places.tool
        if cure == otherwise:
            rule = None
        else:
            rule = "tool_misspelt"
        finding = Finding(Fault.TOOL_NOT_ALLOWED, f"there is no tool named '{name[:100]}'", pointer, cure, rule)
        if self._plan.on_unknown_tool == "refuse":
            yield finding
        else:
            self.unrunnable[operation.id] = finding

    def _against(self, operation: Operation, tool: AnyTool, args: Mapping[str, Any], model: Any) -> Iterator[Finding]:
        """What speaks against the call, as far as that is asked here."""
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
                yield operation.in_arguments(finding) if objection.in_arguments else operation.as_a_whole(finding)


def _declared_too_low(operation: Operation, name: str, level: SafetyLevel) -> Iterator[Finding]:
    """Declaring more than what is called has is honoured, less is refused."""
    declared = operation.safety_level
    if declared is not None and operation.origin is None and RANKS[declared] < level.rank:
        message = f"{name} is {level.value}, and the plan declares it as {declared}"
        pointer = operation.pointer + operation.places.safety_level
        yield Finding(Fault.POLICY_BLOCKED, message, pointer, f"Declare {level.value}.")


def _higher(declared: str | None, level: SafetyLevel) -> str:
    """The level of a call. What is declared is no less, but for steps of macros: there it is that of the macro as a whole."""
    if declared is not None and RANKS[declared] >= level.rank:
        return declared
    return level.value
