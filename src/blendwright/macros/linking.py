"""What macros call: the tools and macros that their steps name, found; and what follows from them for the macro.

Macros that call each other in a circle are found over all documents first, so that nothing after it can go round in one.
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

# Macros inside macros. Nobody needs more, and they are expanded one inside the other.
DEEPEST = 32

Documents = Mapping[str, MacroDocument]


def link(
    documents: Documents, tools: Mapping[str, AnyTool], existing: Mapping[str, Macro], *, proven: bool = False
) -> tuple[dict[str, Macro], Mapping[str, list[Finding]]]:
    """The macros by name, those that are `existing` included and without a source yet, and what is wrong with each document.

    A macro whose calls, or those of one that it calls, lead nowhere or round in a circle is not among them. What is `proven` to be
    sound is not held against its tools, which are not loaded for it.
    """
    linker = _Linker(documents, tools, existing, proven)
    calls = {name: dict.fromkeys(step.tool for step in documents[name].steps) for name in documents}
    callers: defaultdict[str, list[str]] = defaultdict(list)
    for name, called in calls.items():
        for one in called:
            callers[one].append(name)
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
    """Everything behind what it calls. What leads into a circle is not in it."""
    sorter = TopologicalSorter(calls)
    with suppress(CycleError):  # what is not in it, and does not wait for it, is sorted all the same
        sorter.prepare()
    order: dict[str, None] = {}
    while ready := sorter.get_ready():
        order |= dict.fromkeys(ready)
        sorter.done(*ready)
    return order


def _cycles(name: str, document: MacroDocument, callers: Mapping[str, list[str]]) -> Iterator[Finding]:
    """A finding for each step by which a macro comes to call itself."""
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
            yield Finding(Fault.GRAPH_CYCLE, message, f"/steps/{index}/tool", "Take one of these calls out.")


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
        """What it calls is linked already, where that can be."""
        document = self._documents[name]
        if name in self.macros or not all(
            step.tool in self._tools or step.tool in self.macros for step in document.steps
        ):
            return
        depth = self._depths[name] = 1 + max(self._depths.get(step.tool, 0) for step in document.steps)
        if depth > DEEPEST:
            message = f"macros call each other {depth} deep, and {DEEPEST} is the limit"
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
        """What is wrong with the declared determinism: a macro is as weak as its weakest step. A macro's declaration stands for it."""
        weakest, which = Determinism.DETERMINISTIC, EXPECT
        for number, step in enumerate(document.steps, start=1):
            called = self._called(step.tool)
            if called.determinism.rank > weakest.rank:
                weakest, which = called.determinism, f"step {number} ({step.tool})"
        if document.determinism.rank < weakest.rank:
            message = f"it is called {document.determinism.value}, and {which} is {weakest.value}"
            yield Finding(Fault.SCHEMA_INVALID, message, "/determinism", f"Say {weakest.value}.")

    def _level(self, document: MacroDocument) -> SafetyLevel:
        """The highest safety level of the steps."""
        calls = [(self._called(step.tool), step.args) for step in document.steps]
        levels = [called.safety_level if isinstance(called, Macro) else _level(called, args) for called, args in calls]
        return max(SafetyLevel.READ_ONLY, *levels, key=lambda one: one.rank)


def unknown_callee(name: str, pointer: str, names: Iterable[str]) -> Finding:
    """There is neither a tool nor a macro of a name that is called."""
    cure = did_you_mean(name, names, otherwise="See: blendwright tools")
    return Finding(Fault.TOOL_NOT_ALLOWED, f"there is no tool or macro named '{cut(name)}'", pointer, cure)


def _level(tool: AnyTool, args: Mapping[str, Any]) -> SafetyLevel:
    """Of a step: an argument that makes it destructive may be filled in later."""
    destroys = any(args.get(name, False) is not False for name in tool.destructive_with)
    destroys = destroys or may_write_executables(tool.args_model, args)
    if destroys:
        return SafetyLevel.DESTRUCTIVE
    return tool.safety_level
