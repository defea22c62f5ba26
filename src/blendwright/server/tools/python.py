"""The tool python_run, which runs confined Python code on the scene as one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from blendwright.plan.validate import validate_arguments
from blendwright.server.answers.plan_report import AUDIT, brief_result, families
from blendwright.server.answers.response import ToolResponse
from blendwright.server.context import Caller, ServerContext
from blendwright.server.pictures.requests import EITHER, RequestedPicture, read_request, with_picture
from blendwright.server.programs.edits import SentProgram, edited
from blendwright.server.tools.server_tool import server_tool
from blendwright.tool_api.arguments import Args, DeclaredFiles, Seed
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.outcome import Outcome
from blendwright.workspace.open_scene import OpenScene

TOOL = "python.run"
# JSON pointers of the catalogue tool's arguments that have another name in python_run.
POINTERS = {"/timeout_ms": "/timeout_s"}

DESCRIPTION = (
    "Run Python (bpy) on a copy of the scene, confined, as one transaction. The copy becomes the scene if the code succeeds. "
    "Returns what it printed and changed (audit: scene.audit too), or the line that failed. Imports: bpy, bmesh, mathutils, numpy, "
    "and standard library modules that only compute (math, random, json, re, struct, itertools, collections, time …; io, pathlib "
    "and open with files). Unavailable: os, sys, subprocess, network, pip packages, handlers, add-ons, undeclared files, names with "
    "__. bpy.ops work; importers, exporters and images need declared files."
)
# Short schemas for the list of tools. The argument model checks the rest of a call.
FILES_SCHEMA = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}
SECONDS_SCHEMA = {"type": "number", "exclusiveMinimum": 0}


# The value true, or the arguments of scene.audit.
RequestedAudit = Annotated[bool | dict[str, Any], WithJsonSchema(EITHER)]


class PythonArgs(Args):
    code: str = ""
    code_edit: dict[str, Any] | None = Field(default=None, description="Like program_edit.")
    files: Annotated[DeclaredFiles | None, WithJsonSchema(FILES_SCHEMA)] = Field(
        default=None, description='{"in": [paths], "out": [paths]} in the roots; files[path] in the code.'
    )
    overwrite: bool = Field(default=False, description="Allow outputs to replace files.")
    seed: Seed = 0
    timeout_s: Annotated[float | None, Field(gt=0), WithJsonSchema(SECONDS_SCHEMA)] = None
    image: RequestedPicture = False
    audit: RequestedAudit = False


@server_tool(DESCRIPTION, destructive=True, time_limit="code_seconds")
async def python_run(context: ServerContext, caller: Caller, args: PythonArgs) -> ToolResponse:
    picture_request = read_request(args.image)
    audit_args = _audit_arguments(context, args.audit)
    sent = args.model_dump(mode="json", exclude_unset=True, exclude={"image", "audit", "timeout_s", "code_edit"})
    sent["code"] = _complete_code(context, caller, args)
    if args.timeout_s is not None:
        sent["timeout_ms"] = max(1, round(args.timeout_s * 1000))

    def work(opened: OpenScene) -> ToolResponse:
        options = context.options(caller)
        before = opened.journal.head_number
        outcome = opened.outcome(TOOL, sent, options)
        response = ToolResponse(_brief_outcome(outcome))
        if outcome.ok and audit_args is not None:
            audit = opened.outcome(AUDIT, audit_args, options)
            response = replace(response, outcome=_with_audit(response.outcome, audit))
        if outcome.ok:
            return with_picture(response, picture_request, opened, context.look_pace, options, before)
        return response

    return await context.run(caller, work)


def _audit_arguments(context: ServerContext, requested: bool | Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the arguments for scene.audit, or None for no audit. Raises Refusal for wrong arguments before any code
    runs.
    """
    if isinstance(requested, bool):
        if requested:
            return {}
        return None
    findings = validate_arguments(context.tools[AUDIT], requested).findings
    if "require" in requested:
        fix = "Omit it, or use python.run and scene.audit in a plan with boundary plan, which undoes both together."
        findings = (
            *findings,
            Finding(Fault.ARGS_INVALID, "an audit in python_run cannot undo the code", "/require", fix),
        )
    if findings:
        raise Refusal([finding.under("/audit") for finding in findings])
    return requested


def _with_audit(outcome: Outcome, audit: Outcome) -> Outcome:
    """Return the outcome of successful code together with the result of the audit after it."""
    if not audit.ok or audit.result is None:
        return outcome.with_(notes=(*outcome.notes, f"no audit: {audit.message}"))
    return outcome.with_(result={**(outcome.result or {}), "audit": brief_result(AUDIT, audit.result)})


def _complete_code(context: ServerContext, caller: Caller, args: PythonArgs) -> str:
    """Return the code that was sent, or the earlier code with the edit applied. Raises Refusal unless exactly one is
    given.
    """
    if bool(args.code) == (args.code_edit is not None):
        if args.code:
            message = "a call has either code or code_edit, not both"
            raise Refusal([Finding(Fault.ARGS_INVALID, message, "/code_edit", "Omit code or code_edit.")])
        raise Refusal([Finding(Fault.ARGS_INVALID, "there is no code", "/code", "Pass code, or a code_edit.")])

    code = args.code
    if args.code_edit is not None:
        code = edited(context.sent_code, caller.client, args.code_edit, {}, "/code_edit").text
    context.sent_code.remember(caller.client, SentProgram(code, {}))
    return code


def _brief_outcome(outcome: Outcome) -> Outcome:
    """Return the outcome with what the code printed, changed and wrote. The receipt has the complete result."""
    if not outcome.ok or outcome.result is None:
        findings: list[Finding] = []
        for finding in outcome.findings:
            findings.append(replace(finding, pointer=POINTERS.get(finding.pointer, finding.pointer)))
        return outcome.with_(findings=tuple(findings))

    result: dict[str, Any] = {"printed": outcome.result["output"], "changed": summary_of(outcome.changes)}
    if outcome.result["truncated"]:
        result["truncated"] = True
    if outcome.artifacts:
        result["files"] = list(outcome.artifacts)
    return outcome.with_(result=result, handles=(), changes=())


def summary_of(changes: Sequence[Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Return the changed names by change and kind, with consecutively numbered names as one.

    Omits data that belongs to an object of the same name, and scenes that changed only because they hold something
    new.
    """
    objects = {(entry["change"], entry["name"]) for entry in changes if entry["kind"] == "objects"}
    creates_or_removes = any(entry["change"] != "changed" for entry in changes)

    names: dict[tuple[str, str], list[str]] = {}
    for entry in changes:
        change, kind, name = entry["change"], entry["kind"], entry["name"]
        belongs_to_object = kind not in ("objects", "materials") and (change, name) in objects
        if kind == "scenes" and change == "changed" and creates_or_removes:
            continue
        if kind != "member" and not belongs_to_object:
            names.setdefault((change, kind), []).append(name)

    summary: dict[str, dict[str, str]] = {}
    for (change, kind), kind_names in names.items():
        summary.setdefault(change, {})[kind] = families(kind_names)
    return summary


TOOLS = (python_run,)
