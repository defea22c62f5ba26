"""Linking of macros: finds the tools and macros that their steps call, and derives their promises.

It first finds cycles of calls over all documents, so that the later functions can follow calls without endless
recursion.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from typing import Any

from blendwright.macros.definition import Macro, MacroDocument
from blendwright.macros.expansion import EXPECT
from blendwright.tool_api.file_kinds import may_write_executables
from blendwright.tool_api.promises import Determinism, SafetyLevel
from blendwright.tool_api.tool import AnyTool
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, cut, did_you_mean

# Levels of nested macros. The expansion is recursive.
MAX_NESTING = 32

Documents = Mapping[str, MacroDocument]


def link(
    documents: Documents, tools: Mapping[str, AnyTool], existing: Mapping[str, Macro], *, proven: bool = False
) -> tuple[dict[str, Macro], Mapping[str, list[Finding]]]:
    """Return the macros by name, including the `existing` ones, and the findings of each document.

    The new macros have no source yet. The result omits macros with unknown calls or cycles, and all macros that call them. With
    `proven`, it does not check documents against their tools and does not load those.
    """
    linker = _Linker(documents, tools, existing, proven)
    calls: dict[str, list[str]] = {}
    callers: defaultdict[str, list[str]] = defaultdict(list)
    for name, document in documents.items():
        calls[name] = list(dict.fromkeys(step.tool for step in document.steps))
        for called in calls[name]:
            callers[called].append(name)

    order = _inner_first(calls)
    for name in documents:
        linker.findings[name] += linker.unknown(documents[name])
        if name not in order:
            linker.findings[name] += _cycles(name, documents[name], callers)
    for name in order:
        if name in documents:
            linker.link(name)
    return linker.macros, linker.findings


def _inner_first(calls: Mapping[str, Iterable[str]]) -> dict[str, None]:
    """Return the names with every callee before its callers, without names that lead into a cycle."""
    sorter = TopologicalSorter(calls)
    with suppress(CycleError):  # the sorter still sorts the names outside of cycles
        sorter.prepare()
    order: dict[str, None] = {}
    ready = sorter.get_ready()
    while ready:
        order |= dict.fromkeys(ready)
        sorter.done(*ready)
        ready = sorter.get_ready()
    return order


def _cycles(name: str, document: MacroDocument, callers: Mapping[str, list[str]]) -> Iterator[Finding]:
    """Yield a finding for each step through which a macro calls itself."""
    onward = {name: name}
    waiting = deque([name])
    while waiting:
        called = waiting.popleft()
        for caller in callers[called]:
            if caller not in onward:
                onward[caller] = called
                waiting.append(caller)
    for index, step in enumerate(document.steps):
        if step.tool in onward:
            cycle = [name, step.tool]
            while cycle[-1] != name:
                cycle.append(onward[cycle[-1]])
            message = f"it calls itself: {' → '.join(cycle)}"
            yield Finding(Fault.GRAPH_CYCLE, message, f"/steps/{index}/tool", "Remove one of these calls.")


class _Linker:
    def __init__(
        self, documents: Documents, tools: Mapping[str, AnyTool], existing: Mapping[str, Macro], proven: bool
    ) -> None:
        self._proven = proven
        self._documents = documents
        self._tools = tools
        self._depths: dict[str, int] = {}
        self.macros: dict[str, Macro] = dict(existing)
        self.findings: dict[str, list[Finding]] = {name: [] for name in documents}

    def unknown(self, document: MacroDocument) -> Iterator[Finding]:
        for index, step in enumerate(document.steps):
            if step.tool not in self._tools and step.tool not in self.macros and step.tool not in self._documents:
                names = [*self._tools, *self.macros, *self._documents]
                yield unknown_callee(step.tool, f"/steps/{index}/tool", names)

    def link(self, name: str) -> None:
        """Link a document whose callees are linked already, as far as that is possible."""
        document = self._documents[name]
        if name in self.macros:
            return
        for step in document.steps:
            if step.tool not in self._tools and step.tool not in self.macros:
                return

        depth = self._depths[name] = 1 + max(self._depths.get(step.tool, 0) for step in document.steps)
        if depth > MAX_NESTING:
            message = f"macros call each other {depth} deep, and {MAX_NESTING} is the limit"
            self.findings[name].append(Finding(Fault.LIMIT_EXCEEDED, message, "/steps", "Nest them less deeply."))
            return
        if not self._proven:
            self.findings[name] += self._determinism(document)
        self.macros[name] = Macro(document, "", lambda: self._level(document))

    def _called(self, name: str) -> AnyTool | Macro:
        if name in self._tools:
            return self._tools[name]
        return self.macros[name]

    def _determinism(self, document: MacroDocument) -> Iterator[Finding]:
        """Yield a finding if the declared determinism is stronger than that of the weakest step.

        For an inner macro, its declaration counts.
        """
        weakest, weakest_step = Determinism.DETERMINISTIC, EXPECT
        for number, step in enumerate(document.steps, start=1):
            called = self._called(step.tool)
            if called.determinism.rank > weakest.rank:
                weakest, weakest_step = called.determinism, f"step {number} ({step.tool})"
        if document.determinism.rank < weakest.rank:
            message = f"it declares {document.determinism.value}, but {weakest_step} is {weakest.value}"
            yield Finding(Fault.SCHEMA_INVALID, message, "/determinism", f"Declare {weakest.value}.")

    def _level(self, document: MacroDocument) -> SafetyLevel:
        """Return the highest safety level of the steps."""
        highest = SafetyLevel.READ_ONLY
        for step in document.steps:
            called = self._called(step.tool)
            if isinstance(called, Macro):
                level = called.safety_level
            else:
                level = _level(called, step.args)
            if level.rank > highest.rank:
                highest = level
        return highest


def unknown_callee(name: str, pointer: str, names: Iterable[str]) -> Finding:
    """Return the finding about a callee that is neither a tool nor a macro."""
    cure = did_you_mean(name, names, otherwise="See: blendwright tools")
    return Finding(Fault.TOOL_NOT_ALLOWED, f"there is no tool or macro named '{cut(name)}'", pointer, cure)


def _level(tool: AnyTool, args: Mapping[str, Any]) -> SafetyLevel:
    """Return the safety level of a step. An argument that makes it destructive may come from a template."""
    destroys = any(args.get(name, False) is not False for name in tool.destructive_with)
    destroys = destroys or may_write_executables(tool.args_model, args)
    if destroys:
        return SafetyLevel.DESTRUCTIVE
    return tool.safety_level
