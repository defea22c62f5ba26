"""Macros from files: of the package and of a workspace. All of them are good, or all that is wrong with any of them is told."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from blendwright.contracts.effects import Determinism, SafetyLevel
from blendwright.contracts.tool import AnyTool
from blendwright.macros.checks import own_findings
from blendwright.macros.definition import FORMAT, Macro, MacroDocument
from blendwright.macros.expansion import EXPECT, expand
from blendwright.tools import catalog
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean, pointer_of

PACKAGE = "package"
FOLDER = "macros"


@cache
def package_macros() -> Mapping[str, Macro]:
    """The macros that come along, by name. They use the catalogue's tools."""
    shipped = files("blendwright").joinpath("macros", "shipped")
    texts = {entry.name: entry.read_bytes() for entry in shipped.iterdir() if entry.name.endswith(".json")}
    macros, findings = read_macros(texts, catalog.tools(), {}, package=True)
    if findings:
        raise Refusal(findings)
    return macros


def load_macros(workspace: Path | None, tools: Mapping[str, AnyTool]) -> Mapping[str, Macro]:
    """Those of the package and those in `<workspace>/macros`. Raises Refusal with everything that is wrong with the latter."""
    shipped = package_macros()
    folder = None if workspace is None else workspace / FOLDER
    if folder is None or not folder.is_dir():
        return shipped
    texts: dict[str, bytes] = {}
    findings: list[Finding] = []
    for path in sorted(folder.glob("*.json")):
        try:
            texts[f"{FOLDER}/{path.name}"] = path.read_bytes()
        except OSError as error:
            findings.append(_wrong(f"{FOLDER}/{path.name}: cannot be read: {error.strerror}", "", "Check the file."))
    macros, found = read_macros(texts, tools, shipped)
    findings += found
    if findings:
        raise Refusal(findings, cure=f"Mend or remove what is wrong in {folder}.")
    return macros


def read_macros(
    texts: Mapping[str, bytes], tools: Mapping[str, AnyTool], known: Mapping[str, Macro], *, package: bool = False
) -> tuple[Mapping[str, Macro], tuple[Finding, ...]]:
    """All macros by name, those that are `known` included, and everything that is wrong, each with the file's name in front.

    A macro is in the result only when nothing is wrong with it, or with one that it calls.
    """
    documents: dict[str, tuple[str, MacroDocument]] = {}
    findings: list[Finding] = []
    for source, text in sorted(texts.items()):
        document, found = _document(text)
        if document is not None:
            found += list(_name_taken(document, tools, known, documents))
            found += own_findings(document)
            documents.setdefault(document.name, (source, document))
        findings += _named(source, found)
    linker = _Linker(documents, tools, known, package)
    for name, (source, _) in documents.items():
        findings += _named(source, linker.link(name))
    if not findings:
        for name, (source, _) in documents.items():
            findings += _named(source, _examples(linker.macros[name], linker.macros, tools))
    return dict(sorted(linker.macros.items())), tuple(findings)


def _named(source: str, found: Any) -> list[Finding]:
    return [Finding(one.fault, f"{source}: {one.message}", one.pointer, one.cure) for one in found]


def _document(text: bytes) -> tuple[MacroDocument | None, list[Finding]]:
    try:
        raw: Any = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return None, [_wrong(f"this is not strict JSON: {error}", "", "Give one JSON document in UTF-8.")]
    form: Any = cast("dict[str, Any]", raw).get("format") if isinstance(raw, dict) else None
    if isinstance(form, str) and form != FORMAT:
        cure = f"Write it as {FORMAT} (blendwright schemas {FORMAT}), or use a blendwright that knows {form[:60]}."
        return None, [_wrong(f"its format is '{form[:60]}', and this program knows {FORMAT}", "/format", cure)]
    try:
        return MacroDocument.model_validate(raw), []
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        cure = f"See: blendwright schemas {FORMAT}"
        return None, [_wrong(problem["msg"], pointer_of(problem["loc"]), cure) for problem in problems]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given more than once")
    return found


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON number")


def _name_taken(
    document: MacroDocument,
    tools: Mapping[str, AnyTool],
    known: Mapping[str, Macro],
    documents: Mapping[str, tuple[str, MacroDocument]],
) -> Iterator[Finding]:
    name = document.name
    cure = "Give it a name of its own."
    if name in tools:
        yield _wrong(f"'{name}' is the name of a tool", "/name", cure)
    if name in known:
        yield _wrong(f"'{name}' is the name of a macro of the {known[name].source}", "/name", cure)
    if name in documents:
        yield _wrong(f"'{name}' is the name of the macro in {documents[name][0]}", "/name", cure)


class _Linker:
    """Finds the tools and macros that steps call, and what follows from them for the macro."""

    def __init__(
        self,
        documents: Mapping[str, tuple[str, MacroDocument]],
        tools: Mapping[str, AnyTool],
        known: Mapping[str, Macro],
        package: bool,
    ) -> None:
        self._documents = documents
        self._tools = tools
        self._package = package
        self.macros: dict[str, Macro] = dict(known)

    def link(self, name: str) -> Iterator[Finding]:
        """What is wrong with what it calls; without a finding it is among the macros."""
        source, document = self._documents[name]
        found = list(self._unknown(document)) + list(self._cycle(name))
        if not found:
            level, weakest, which = self._effects(document)
            if document.determinism.rank < weakest.rank:
                message = f"it is called {document.determinism.value}, and {which} is {weakest.value}"
                found.append(_wrong(message, "/determinism", f"Say {weakest.value}."))
            self.macros.setdefault(name, Macro(document, PACKAGE if self._package else source, level))
        yield from found

    def _unknown(self, document: MacroDocument) -> Iterator[Finding]:
        for place, step in enumerate(document.steps):
            if step.tool not in self._tools and step.tool not in self.macros and step.tool not in self._documents:
                names = [*self._tools, *self.macros, *self._documents]
                cure = did_you_mean(step.tool, names, otherwise="See: blendwright tools")
                message = f"there is no tool or macro named '{step.tool[:100]}'"
                yield Finding(Fault.TOOL_NOT_ALLOWED, message, f"/steps/{place}/tool", cure)

    def _cycle(self, name: str) -> Iterator[Finding]:
        for place, step in enumerate(self._documents[name][1].steps):
            way = self._way(step.tool, name, set())
            if way:
                message = f"it calls itself: {' → '.join([name, *way])}"
                yield Finding(Fault.GRAPH_CYCLE, message, f"/steps/{place}/tool", "Take one of these calls out.")

    def _way(self, start: str, goal: str, seen: set[str]) -> list[str]:
        if start == goal:
            return [goal]
        if start in seen or start not in self._documents:
            return []
        seen.add(start)
        for step in self._documents[start][1].steps:
            way = self._way(step.tool, goal, seen)
            if way:
                return [start, *way]
        return []

    def _effects(self, document: MacroDocument) -> tuple[SafetyLevel, Determinism, str]:
        """The highest safety level, the weakest determinism, and which step has it. A macro's declaration stands for it."""
        level, weakest, which = SafetyLevel.READ_ONLY, Determinism.DETERMINISTIC, EXPECT
        for place, step in enumerate(document.steps, start=1):
            known = self.macros.get(step.tool)
            inner = self._documents.get(step.tool)
            if step.tool in self._tools:
                found, given = _level(self._tools[step.tool], step.args), self._tools[step.tool].determinism
            elif known is not None:
                found, given = known.safety_level, known.determinism
            else:
                assert inner is not None
                found, given = self._effects(inner[1])[0], inner[1].determinism
            level = max(level, found, key=lambda one: one.rank)
            if given.rank > weakest.rank:
                weakest, which = given, f"step {place} ({step.tool})"
        return level, weakest, which


def _level(tool: AnyTool, args: Mapping[str, Any]) -> SafetyLevel:
    """Of a step: an argument that makes it destructive may be filled in later."""
    destroys = any(args.get(name, False) is not False for name in tool.destructive_with)
    return SafetyLevel.DESTRUCTIVE if destroys else tool.safety_level


def _examples(macro: Macro, macros: Mapping[str, Macro], tools: Mapping[str, AnyTool]) -> Iterator[Finding]:
    """Every example expanded, and every call held against its tool: what is misspelt in a macro shows before anyone uses it."""
    for place, example in enumerate(macro.document.examples):
        pointer = f"/examples/{place}/inputs"
        calls, findings = expand(macro, example.inputs, macros)
        yield from (finding.under(pointer) for finding in findings)
        for call in calls:
            try:
                tools[call.tool].args_model.model_validate(call.args)
            except ValidationError as error:
                for problem in error.errors(include_url=False, include_context=False, include_input=False):
                    where = pointer_of(problem["loc"]) or "the arguments"
                    message = f"{call.title} ({call.tool}), {where}: {problem['msg']}"
                    yield Finding(Fault.ARGS_INVALID, message, pointer, f"See: blendwright tools {call.tool}")


def _wrong(message: str, pointer: str, cure: str) -> Finding:
    return Finding(Fault.SCHEMA_INVALID, message, pointer, cure)
