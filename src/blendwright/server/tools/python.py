"""python_run: Python code on the scene, confined, as one transaction."""

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
# Arguments that have another name here.
POINTERS = {"/timeout_ms": "/timeout_s"}

DESCRIPTION = (
    "Run Python (bpy) on the scene, confined, as one transaction: on a copy, which becomes the scene when the code ends well. "
    "Answers what it printed and changed (audit: scene.audit too), or the line that failed. Imports: bpy, bmesh, mathutils, numpy, "
    "and of the standard library what only computes (math, random, json, re, struct, itertools, collections, time …; io, pathlib "
    "and open with files). Not there: os, sys, subprocess, network, pip packages, handlers, add-ons, undeclared files, names with "
    "__: code must not reach beyond the scene. bpy.ops work; importers, exporters and images on declared files."
)
# In short: the models below say the rest when a call is checked.
FILES_SCHEMA = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}
SECONDS_SCHEMA = {"type": "number", "exclusiveMinimum": 0}


# true, or the arguments of scene.audit.
RequestedAudit = Annotated[bool | dict[str, Any], WithJsonSchema(EITHER)]


class PythonArgs(Args):
    code: str = ""
    code_edit: dict[str, Any] | None = Field(default=None, description="As program_edit.")
    files: Annotated[DeclaredFiles | None, WithJsonSchema(FILES_SCHEMA)] = Field(
        default=None, description='{"in": [paths], "out": [paths]} in the roots; files[path] in the code.'
    )
    overwrite: bool = Field(default=False, description="Outputs may replace files.")
    seed: Seed = 0
    timeout_s: Annotated[float | None, Field(gt=0), WithJsonSchema(SECONDS_SCHEMA)] = None
    image: RequestedPicture = False
    audit: RequestedAudit = False


@server_tool(DESCRIPTION, destructive=True, time_limit="code_seconds")
async def python_run(context: ServerContext, caller: Caller, args: PythonArgs) -> ToolResponse:
    look, audit_args = read_request(args.image), _audit_arguments(context, args.audit)
    sent = args.model_dump(mode="json", exclude_unset=True, exclude={"image", "audit", "timeout_s", "code_edit"})
    sent["code"] = _whole(context, caller, args)
    if args.timeout_s is not None:
        sent["timeout_ms"] = max(1, round(args.timeout_s * 1000))

    def work(opened: OpenScene) -> ToolResponse:
        options = context.options(caller)
        before = opened.journal.head_number
        outcome = opened.outcome(TOOL, sent, options)
        response = ToolResponse(_short(outcome))
        if outcome.ok and audit_args is not None:
            audit = opened.outcome(AUDIT, audit_args, options)
            response = replace(response, outcome=_audited(response.outcome, audit))
        if outcome.ok:
            return with_picture(response, look, opened, context.look_pace, options, before)
        return response

    return await context.run(caller, work)


def _audit_arguments(context: ServerContext, asked: bool | Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What scene.audit is called with, where it is. Raises Refusal for what it would refuse, before anything runs."""
    if isinstance(asked, bool):
        if asked:
            return {}
        return None
    findings = validate_arguments(context.tools[AUDIT], asked).findings
    if "require" in asked:
        cure = "Leave it out; python.run and scene.audit in a plan with boundary plan are taken back together."
        findings = (*findings, Finding(Fault.ARGS_INVALID, "an audit takes no code back", "/require", cure))
    if findings:
        raise Refusal([finding.under("/audit") for finding in findings])
    return asked


def _audited(outcome: Outcome, audit: Outcome) -> Outcome:
    """The outcome of code that stands, with what an audit says of the scene then."""
    if not audit.ok or audit.result is None:
        return outcome.with_(notes=(*outcome.notes, f"no audit: {audit.message}"))
    return outcome.with_(result={**(outcome.result or {}), "audit": brief_result(AUDIT, audit.result)})


def _whole(context: ServerContext, caller: Caller, args: PythonArgs) -> str:
    """The code: as it was sent, or what was sent before with its changes. Raises Refusal where there is neither."""
    if bool(args.code) == (args.code_edit is not None):
        if args.code:
            message = "an edit is of code that was sent before"
        else:
            message = "there is no code"
        at, cure = ("/code_edit", "Leave out the other one.") if args.code else ("/code", "Give code, or a code_edit.")
        raise Refusal([Finding(Fault.ARGS_INVALID, message, at, cure)])
    code = args.code
    if args.code_edit is not None:
        code = edited(context.sent_code, caller.client, args.code_edit, {}, "/code_edit").text
    context.sent_code.remember(caller.client, SentProgram(code, {}))
    return code


def _short(outcome: Outcome) -> Outcome:
    """What it printed, what it changed and the files that it wrote; the receipt has the rest."""
    if not outcome.ok or outcome.result is None:
        findings = [replace(each, pointer=POINTERS.get(each.pointer, each.pointer)) for each in outcome.findings]
        return outcome.with_(findings=tuple(findings))
    result: dict[str, Any] = {"printed": outcome.result["output"], "changed": summary_of(outcome.changes)}
    if outcome.result["truncated"]:
        result["truncated"] = True
    if outcome.artifacts:
        result["files"] = list(outcome.artifacts)
    return outcome.with_(result=result, handles=(), changes=())


def summary_of(changes: Sequence[Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Names by what became of them and by kind, numbered ones that follow each other as one. What belongs to an object of the same
    name goes without saying, and so does that whatever holds something new has changed."""
    objects = {(one["change"], one["name"]) for one in changes if one["kind"] == "objects"}
    holds_new = any(one["change"] != "changed" for one in changes)
    found: dict[str, dict[str, list[str]]] = {}
    for one in changes:
        change, kind, name = one["change"], one["kind"], one["name"]
        goes_along = kind not in ("objects", "materials") and (change, name) in objects
        if kind == "scenes" and change == "changed" and holds_new:
            continue
        if kind != "member" and not goes_along:
            found.setdefault(change, {}).setdefault(kind, []).append(name)
    return {change: {kind: families(names) for kind, names in kinds.items()} for change, kinds in found.items()}


TOOLS = (python_run,)
