"""Expansion of a macro and its inputs into a chain of tool calls: equal inputs give equal chains, in any scene."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from blendwright.macros.definition import MAX_STEPS, Macro, MacroStep
from blendwright.macros.templates import EACH, Bound, fill, sources_within
from blendwright.values.faults import Fault
from blendwright.values.findings import MOST_FINDINGS, Finding, pointer_of
from blendwright.values.plan import caller_pointer

EXPECT = "scene.expect"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the chain.

    `title` names its step; `macro` is the macro that contains the step, possibly an inner one.

    `sources` maps pointers in the arguments to pointers in the caller's inputs. Blendwright keeps or undoes calls of
    one `group` together.
    """

    title: str
    tool: str
    args: Mapping[str, Any]
    macro: str
    sources: Mapping[str, str]
    group: str | None


def expand(macro: Macro, raw: Any, macros: Mapping[str, Macro]) -> tuple[tuple[Call, ...], tuple[Finding, ...]]:
    """Return the chain of calls, or findings with pointers relative to the inputs."""
    inputs, findings = _inputs(macro, Bound(raw, {"": ""}))
    if findings:
        return (), findings
    calls: list[Call] = []
    problems: list[Finding] = []
    for call in _calls(macro, inputs, macros, group=None, path=""):
        # Nested macros multiply, so the expansion stops at the limits.
        if len(problems) == MOST_FINDINGS:
            break
        if len(calls) == MAX_STEPS:
            message = f"{macro.name} has more steps with these inputs than the limit of {MAX_STEPS}"
            problems.append(Finding(Fault.LIMIT_EXCEEDED, message, "", "Give shorter lists."))
            break
        if isinstance(call, Finding):
            problems.append(call)
        else:
            calls.append(call)
    if problems:
        return (), tuple(problems)
    return tuple(calls), ()


def _inputs(macro: Macro, arguments: Bound) -> tuple[dict[str, Bound], tuple[Finding, ...]]:
    """Return the inputs with their sources, or findings. Default values have no source."""
    inputs, findings = macro.complete(arguments.value)
    bound: dict[str, Bound] = {}
    for name, value in inputs.items():
        sources: dict[str, str] = {}
        if name in arguments.value:
            sources = sources_within(arguments.sources, pointer_of([name]))
        bound[name] = Bound(value, sources)
    return bound, findings


def _calls(
    macro: Macro, bound_inputs: Mapping[str, Bound], macros: Mapping[str, Macro], *, group: str | None, path: str
) -> Iterator[Call | Finding]:
    document = macro.document
    # The outermost macro with rollback is undone together with all macros inside it.
    if group is None and document.rollback:
        group = path or macro.name
    if document.preconditions:
        yield _conditions(macro, "before", document.preconditions, bound_inputs, group)
    for number, step in enumerate(document.steps, start=1):
        for turn, bound in enumerate(_rounds(step, bound_inputs)):
            filled = fill(step.args, bound)
            inner = macros.get(step.tool)
            if inner is None:
                yield Call(step.title, step.tool, filled.value, macro.name, filled.sources, group)
            else:
                inputs, findings = _inputs(inner, filled)
                for finding in findings:
                    message = f"{step.title} ({inner.name}): {finding.message}"
                    pointer = caller_pointer(finding.pointer, filled.sources) or ""
                    yield replace(finding, message=message, pointer=pointer)
                if not findings:
                    yield from _calls(inner, inputs, macros, group=group, path=f"{path}/{number}.{turn}")
    if document.postconditions:
        yield _conditions(macro, "after", document.postconditions, bound_inputs, group)


def _conditions(
    macro: Macro, moment: str, expectations: list[Any], bound_inputs: Mapping[str, Bound], group: str | None
) -> Call:
    if moment == "before":
        title = "preconditions"
    else:
        title = "postconditions"
    filled = fill({"moment": moment, "expectations": expectations}, bound_inputs)
    return Call(title, EXPECT, filled.value, macro.name, filled.sources, group)


def _rounds(step: MacroStep, bound_inputs: Mapping[str, Bound]) -> Iterator[Mapping[str, Bound]]:
    if step.for_each is None:
        yield bound_inputs
        return
    repeated = bound_inputs[step.for_each]
    for index, value in enumerate(repeated.value):
        yield {**bound_inputs, EACH: Bound(value, sources_within(repeated.sources, f"/{index}"))}
