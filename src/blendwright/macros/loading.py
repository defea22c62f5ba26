"""Macros from files: of the package and of a workspace. All of them are good, or all that is wrong with any of them is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from blendwright.macros import FOLDER
from blendwright.macros.checks import own_findings, wrong
from blendwright.macros.definition import FORMAT, Macro, MacroDocument
from blendwright.macros.expansion import expand
from blendwright.macros.linking import link, unknown_callee
from blendwright.schemas.check import model_problems
from blendwright.schemas.json_reader import read_json
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import catalog
from blendwright.util.json_shapes import fields_of
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, pointer_of

PACKAGE = "package"


@cache
def package_macros() -> Mapping[str, Macro]:
    """The macros that come along, by name. They use the catalogue's tools, none of which is loaded here."""
    macros, findings = read_macros(package_texts(), catalog.tools(), {}, package=True)
    if findings:
        raise Refusal(findings)
    return macros


def package_texts() -> dict[str, bytes]:
    """The documents of the macros that come along, by the name of their file."""
    shipped = files("blendwright").joinpath("macros", "shipped")
    return {entry.name: entry.read_bytes() for entry in shipped.iterdir() if entry.name.endswith(".json")}


def load_macros(workspace: Path | None, tools: Mapping[str, AnyTool]) -> Mapping[str, Macro]:
    """Those of the package and those in `<workspace>/macros`. Raises Refusal with everything that is wrong with the latter."""
    shipped = package_macros()
    if workspace is None:
        folder = None
    else:
        folder = workspace / FOLDER
    if folder is None or not folder.is_dir():
        return shipped
    texts: dict[str, bytes] = {}
    findings: list[Finding] = []
    for path in sorted(folder.glob("*.json")):
        try:
            texts[f"{FOLDER}/{path.name}"] = path.read_bytes()
        except OSError as error:
            findings.append(wrong(f"{FOLDER}/{path.name}: cannot be read: {error.strerror}", "", "Check the file."))
    macros, own = read_macros(texts, tools, shipped)
    findings += own
    if findings:
        raise Refusal(findings, cure=f"Mend or remove what is wrong in {folder}.")
    return macros


def read_macros(
    texts: Mapping[str, bytes],
    tools: Mapping[str, AnyTool],
    existing: Mapping[str, Macro],
    *,
    package: bool = False,
) -> tuple[Mapping[str, Macro], tuple[Finding, ...]]:
    """All macros by name, those that are `existing` included, and everything that is wrong, each with the file's name in front.

    A macro is in the result only when nothing is wrong with it, or with one that it calls. Those of the `package` are not held against
    the tools that they call: a test of ours does that.
    """
    documents: dict[str, tuple[str, MacroDocument]] = {}
    findings: list[Finding] = []
    for source, text in sorted(texts.items()):
        document, own = _document(text)
        if document is not None:
            own += list(_name_conflicts(document, tools, existing, documents))
            own += own_findings(document)
            documents.setdefault(document.name, (source, document))
        findings += _named(source, own)
    linked = {name: document for name, (_, document) in documents.items()}
    macros, unlinked = link(linked, tools, existing, proven=package)
    for name, (source, _) in documents.items():
        findings += _named(source, unlinked[name])
        if name in macros:
            macros[name] = replace(macros[name], source=PACKAGE if package else source)
    if not findings and not package:
        for name, (source, _) in documents.items():
            findings += _named(source, _examples(macros[name], macros, tools))
    return dict(sorted(macros.items())), tuple(findings)


def _named(source: str, own: Any) -> list[Finding]:
    return [Finding(one.fault, f"{source}: {one.message}", one.pointer, one.cure) for one in own]


def _document(text: bytes) -> tuple[MacroDocument | None, list[Finding]]:
    raw, findings = read_json(text)
    if findings:
        return None, list(findings)
    form = fields_of(raw).get("format")
    if isinstance(form, str) and form != FORMAT:
        cure = f"Write it as {FORMAT} (blendwright schemas {FORMAT}), or use a blendwright that knows {form[:60]}."
        return None, [wrong(f"its format is '{form[:60]}', and this program knows {FORMAT}", "/format", cure)]
    try:
        return MacroDocument.model_validate(raw), []
    except ValidationError as error:
        cure = f"See: blendwright schemas {FORMAT}"
        return None, [wrong(message, pointer_of(loc), cure) for loc, message in model_problems(error)]


def _name_conflicts(
    document: MacroDocument,
    tools: Mapping[str, AnyTool],
    existing: Mapping[str, Macro],
    documents: Mapping[str, tuple[str, MacroDocument]],
) -> Iterator[Finding]:
    name = document.name
    cure = "Give it a name of its own."
    if name in tools:
        yield wrong(f"'{name}' is the name of a tool", "/name", cure)
    if name in existing:
        yield wrong(f"'{name}' is the name of a macro of the {existing[name].source}", "/name", cure)
    if name in documents:
        yield wrong(f"'{name}' is the name of the macro in {documents[name][0]}", "/name", cure)


def _examples(macro: Macro, macros: Mapping[str, Macro], tools: Mapping[str, AnyTool]) -> Iterator[Finding]:
    """Every example expanded, and every call held against its tool: what is misspelt in a macro shows before anyone uses it."""
    for index, example in enumerate(macro.document.examples):
        for number, (name, args) in enumerate(example.given):
            pointer = f"/examples/{index}/given/{number}"
            if name in macros:
                yield from _expanded(macros[name], args, f"{pointer}/1", macros, tools)
            elif name in tools:
                yield from _misfits(tools[name], args, f"{pointer}/1", "")
            else:
                yield unknown_callee(name, f"{pointer}/0", [*tools, *macros])
        yield from _expanded(macro, example.inputs, f"/examples/{index}/inputs", macros, tools)


def _expanded(
    macro: Macro, inputs: Mapping[str, Any], pointer: str, macros: Mapping[str, Macro], tools: Mapping[str, AnyTool]
) -> Iterator[Finding]:
    calls, findings = expand(macro, inputs, macros)
    yield from (finding.under(pointer) for finding in findings)
    for call in calls:
        yield from _misfits(tools[call.tool], call.args, pointer, f"{call.title} ({call.tool}), ")


def _misfits(tool: AnyTool, args: Mapping[str, Any], pointer: str, which: str) -> Iterator[Finding]:
    try:
        tool.args_model.model_validate(args)
    except ValidationError as error:
        for loc, problem in model_problems(error):
            message = f"{which}{pointer_of(loc) or 'the arguments'}: {problem}"
            yield Finding(Fault.ARGS_INVALID, message, pointer, f"See: blendwright tools {tool.name}")
