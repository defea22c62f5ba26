"""Loading of macros from the files of the package and of a workspace. It returns only valid macros, or all findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
    """Return the bundled macros by name. They use the catalogue's tools, but this loads none of them."""
    macros, findings = read_macros(package_texts(), catalog.tools(), {}, package=True)
    if findings:
        raise Refusal(findings)
    return macros


def package_texts() -> dict[str, bytes]:
    """Return the documents of the bundled macros by file name."""
    shipped = files("blendwright").joinpath("macros", "shipped")
    return {entry.name: entry.read_bytes() for entry in shipped.iterdir() if entry.name.endswith(".json")}


def load_macros(workspace: Path | None, tools: Mapping[str, AnyTool]) -> Mapping[str, Macro]:
    """Return the macros of the package and of `<workspace>/macros`. Raise Refusal with all findings about the latter."""
    shipped = package_macros()
    if workspace is None:
        return shipped
    folder = workspace / FOLDER
    if not folder.is_dir():
        return shipped

    texts: dict[str, bytes] = {}
    findings: list[Finding] = []
    for path in sorted(folder.glob("*.json")):
        try:
            texts[f"{FOLDER}/{path.name}"] = path.read_bytes()
        except OSError as error:
            findings.append(wrong(f"{FOLDER}/{path.name}: cannot be read: {error.strerror}", "", "Check the file."))
    macros, document_findings = read_macros(texts, tools, shipped)
    findings += document_findings
    if findings:
        raise Refusal(findings, cure=f"Fix or remove the invalid macros in {folder}.")
    return macros


def read_macros(
    texts: Mapping[str, bytes],
    tools: Mapping[str, AnyTool],
    existing: Mapping[str, Macro],
    *,
    package: bool = False,
) -> tuple[Mapping[str, Macro], tuple[Finding, ...]]:
    """Return all macros by name, including the `existing` ones, and all findings, each with its file name in front.

    The result contains only macros without findings that call only such macros. For the `package`, it does not check
    calls against their tools; one of Blendwright's tests does that.
    """
    documents: dict[str, tuple[str, MacroDocument]] = {}
    findings: list[Finding] = []
    for source, text in sorted(texts.items()):
        document, document_findings = _document(text)
        if document is not None:
            document_findings += _name_conflicts(document, tools, existing, documents)
            document_findings += own_findings(document)
            documents.setdefault(document.name, (source, document))
        findings += _named(source, document_findings)

    linked = {name: document for name, (_, document) in documents.items()}
    macros, unlinked = link(linked, tools, existing, proven=package)
    for name, (source, _) in documents.items():
        findings += _named(source, unlinked[name])
        if name in macros and package:
            macros[name] = replace(macros[name], source=PACKAGE)
        elif name in macros:
            macros[name] = replace(macros[name], source=source)
    if not findings and not package:
        for name, (source, _) in documents.items():
            findings += _named(source, _examples(macros[name], macros, tools))
    return dict(sorted(macros.items())), tuple(findings)


def _named(source: str, findings: Iterable[Finding]) -> list[Finding]:
    return [
        Finding(finding.fault, f"{source}: {finding.message}", finding.pointer, finding.cure) for finding in findings
    ]


def _document(text: bytes) -> tuple[MacroDocument | None, list[Finding]]:
    raw, findings = read_json(text)
    if findings:
        return None, list(findings)
    form = fields_of(raw).get("format")
    if isinstance(form, str) and form != FORMAT:
        cure = f"Write it as {FORMAT} (blendwright schemas {FORMAT}), or use a blendwright that knows {form[:60]}."
        return None, [wrong(f"its format is '{form[:60]}', but this program knows only {FORMAT}", "/format", cure)]
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
    cure = "Give it a unique name."
    if name in tools:
        yield wrong(f"'{name}' is the name of a tool", "/name", cure)
    if name in existing:
        yield wrong(f"'{name}' is the name of a macro of the {existing[name].source}", "/name", cure)
    if name in documents:
        yield wrong(f"'{name}' is the name of the macro in {documents[name][0]}", "/name", cure)


def _examples(macro: Macro, macros: Mapping[str, Macro], tools: Mapping[str, AnyTool]) -> Iterator[Finding]:
    """Yield findings about the examples: expand each one and check every call against its tool."""
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
    for finding in findings:
        yield finding.under(pointer)
    for call in calls:
        yield from _misfits(tools[call.tool], call.args, pointer, f"{call.title} ({call.tool}), ")


def _misfits(tool: AnyTool, args: Mapping[str, Any], pointer: str, prefix: str) -> Iterator[Finding]:
    try:
        tool.args_model.model_validate(args)
    except ValidationError as error:
        for loc, problem in model_problems(error):
            message = f"{prefix}{pointer_of(loc) or 'the arguments'}: {problem}"
            yield Finding(Fault.ARGS_INVALID, message, pointer, f"See: blendwright tools {tool.name}")
