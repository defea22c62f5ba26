"""A macro and its inputs become a chain of tool calls. Pure: equal inputs give equal chains, whatever the scene."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from blendwright.macros.definition import MOST_STEPS, Macro, MacroStep
from blendwright.macros.templates import EACH, Bound, fill
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import caller_pointer

EXPECT = "scene.expect"


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of the chain. `title` says which step it is; `macro` is the one that has the step, which may be an inner one.

    `sources` leads from places in the arguments to places in the inputs that the caller gave. Calls of one `group` are kept
    or taken back together.
    """

    title: str
    tool: str
    args: Mapping[str, Any]
    macro: str
    sources: Mapping[str, str]
    group: str | None


def expand(macro: Macro, raw: Any, macros: Mapping[str, Macro]) -> tuple[tuple[Call, ...], tuple[Finding, ...]]:
    """The chain, or what is wrong with the inputs, with pointers relative to them."""
    inputs, findings = macro.complete(raw)
    if findings:
        return (), findings
    given = {name: Bound(value, f"/{name}" if name in raw else None) for name, value in inputs.items()}
    calls: list[Call] = []
    for call in _calls(macro, given, macros, group=None, path=""):
        if isinstance(call, Finding):
            findings += (call,)
        else:
            calls.append(call)
    if len(calls) > MOST_STEPS:
        message = f"{macro.name} has {len(calls)} steps with these inputs, and {MOST_STEPS} are the limit"
        findings += (Finding(Fault.LIMIT_EXCEEDED, message, "", "Give shorter lists."),)
    return (() if findings else tuple(calls)), findings


def _calls(
    macro: Macro, given: Mapping[str, Bound], macros: Mapping[str, Macro], *, group: str | None, path: str
) -> Iterator[Call | Finding]:
    document = macro.document
    # The outermost macro that is taken back as a whole takes everything inside along.
    if group is None and macro.rollback:
        group = path or macro.name
    if document.preconditions:
        yield _conditions(macro, "before", document.preconditions, given, group)
    for number, step in enumerate(document.steps, start=1):
        for turn, bound in enumerate(_rounds(step, given)):
            filled = fill(step.args, bound)
            inner = macros.get(step.tool)
            if inner is None:
                yield Call(step.title, step.tool, filled.value, macro.name, filled.sources, group)
            else:
                way = f"{path}/{number}.{turn}"
                yield from _nested(inner, filled.value, filled.sources, macros, group, way, step.title)
    if document.postconditions:
        yield _conditions(macro, "after", document.postconditions, given, group)


def _conditions(macro: Macro, moment: str, listed: list[Any], given: Mapping[str, Bound], group: str | None) -> Call:
    title = "preconditions" if moment == "before" else "postconditions"
    filled = fill({"moment": moment, "expectations": listed}, given)
    return Call(title, EXPECT, filled.value, macro.name, filled.sources, group)


def _rounds(step: MacroStep, given: Mapping[str, Bound]) -> Iterator[Mapping[str, Bound]]:
    if step.for_each is None:
        yield given
        return
    over = given[step.for_each]
    for place, value in enumerate(over.value):
        pointer = None if over.pointer is None else f"{over.pointer}/{place}"
        yield {**given, EACH: Bound(value, pointer)}


def _nested(
    inner: Macro,
    raw: Any,
    sources: Mapping[str, str],
    macros: Mapping[str, Macro],
    group: str | None,
    path: str,
    title: str,
) -> Iterator[Call | Finding]:
    inputs, findings = inner.complete(raw)
    for finding in findings:
        message = f"{title} ({inner.name}): {finding.message}"
        yield Finding(finding.fault, message, caller_pointer(finding.pointer, sources) or "", finding.cure)
    if not findings:
        given = {name: Bound(value, sources.get(f"/{name}")) for name, value in inputs.items()}
        yield from _calls(inner, given, macros, group=group, path=path)
