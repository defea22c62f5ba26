"""The operations dialect: it reads the planner's strict JSON and renders receipts or the four-field failure payload."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, cast

from blendwright.dialects.dialect import Dialect, ParsedDocument, checker, proven
from blendwright.util.gc_pause import LARGE_PLAN, gc_paused
from blendwright.util.json_shapes import fields_of, items_of
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.macro_report import reports_by_caller
from blendwright.values.plan import SOUND, Field, Operation

if TYPE_CHECKING:
    from blendwright.values.report import OperationReport, RunReport

ID = re.compile(r"[a-zA-Z0-9_.:-]{1,128}")
FIELDS = frozenset({"operation_id", "tool_name", "args", "depends_on", "safety_level"})
SAFETY_LEVELS = frozenset({"read_only", "safe_write", "destructive"})
MAX_HINT_CHARACTERS = 500


def parse_document(document: Any) -> ParsedDocument:
    """Return the operations, with findings if the document breaks the schema."""
    findings = tuple(checker("planner_operations.v1").findings(document))
    if not findings:
        items = cast("list[dict[str, Any]]", document["operations"])
        with gc_paused() if len(items) >= LARGE_PLAN else nullcontext():
            operations = tuple(_sound(position, item) for position, item in enumerate(items))
        return ParsedDocument(operations, request_id=str(document["request_id"]))
    fields = fields_of(document)
    items = items_of(fields.get("operations"))
    operations = tuple(_as_far_as_readable(position, item) for position, item in enumerate(items))
    request_id: Any = fields.get("request_id")
    if not isinstance(request_id, str):
        request_id = ""
    return ParsedDocument(operations, findings, request_id)


def _sound(position: int, item: dict[str, Any]) -> Operation:
    return Operation(
        item["operation_id"],
        item["tool_name"],
        item["args"],
        tuple(item["depends_on"]),
        item["safety_level"],
        position,
        f"/operations/{position}",
    )


def _as_far_as_readable(position: int, item: Any) -> Operation:
    """Return an operation of a document that breaks the schema: its valid fields, with the invalid ones marked as
    unsound.
    """
    pointer = f"/operations/{position}"
    fields = fields_of(item)
    unsound: set[Field] = set()
    if fields.keys() != FIELDS:
        unsound.add("other")

    id, tool, args = fields.get("operation_id"), fields.get("tool_name"), fields.get("args")
    if not isinstance(id, str) or not ID.fullmatch(id):
        id = pointer
        unsound.add("id")
    if not isinstance(tool, str) or not tool:
        tool = ""
        unsound.add("tool")
    if not isinstance(args, dict):
        args = {}
        unsound.add("args")

    waits_for: list[Any] = [None]
    dependencies: Any = fields.get("depends_on")
    if isinstance(dependencies, list):
        waits_for = cast("list[Any]", dependencies)
    names = tuple(name for name in waits_for if isinstance(name, str) and ID.fullmatch(name))
    if len(set(names)) != len(waits_for):
        unsound.add("depends_on")
    level = fields.get("safety_level")
    if not isinstance(level, str) or level not in SAFETY_LEVELS:
        level = None
        unsound.add("safety_level")

    marks = SOUND
    if unsound:
        marks = frozenset(unsound)
    return Operation(id, tool, cast("dict[str, Any]", args), names, level, position, pointer, unsound=marks)


def resume(document: dict[str, Any], request_id: str, committed: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the document under a request id, with the committed operations that it lacks.

    They are in the scene, and other operations may depend on them. They follow the document's own operations, so that
    pointers into the given document stay valid.
    """
    document = {**document, "request_id": request_id}
    if isinstance(document.get("operations"), list):
        operations = list(items_of(document["operations"]))
        ids = [fields_of(item).get("operation_id") for item in operations]
        for item in committed:
            if item["operation_id"] not in ids:
                operations.append(dict(item))
        document["operations"] = operations
    return document


def render(report: RunReport) -> dict[str, Any]:
    """Return receipts if every operation was done, or else the failure payload; both match their published schemas."""
    if report.ok:
        operations = report.operations
        calls_macros = any(operation.origin is not None for operation in operations)
        if calls_macros:
            operations = reports_by_caller(operations)
        receipts = list(map(_receipt, operations))
        result = {"request_id": report.request_id, "status": "succeeded", "receipts": receipts}
        proven("operations_result.v1", result)
        return result

    payload = _failure(report)
    proven("failure_payload.v1", payload)
    return payload


def _receipt(operation: OperationReport) -> dict[str, Any]:
    """Return the receipt as committed, with the status of this run."""
    result = None
    if operation.result is not None:
        result = dict(operation.result)
    fields: dict[str, Any] = {
        "operation_id": operation.operation_id,
        "tool_name": operation.tool,
        "safety_level": operation.safety_level,
        "mcp_call_id": operation.mcp_call_id,
        "blender_mutation_id": operation.blender_mutation_id,
        "scene_hash_before": operation.scene_hash_before,
        "scene_hash_after": operation.scene_hash_after,
        "operation_key": operation.operation_key,
        "result": result,
    }
    return {**fields, **(operation.receipt or {}), "status": operation.status}


def _failure(report: RunReport) -> dict[str, Any]:
    findings = list(report.all_findings())
    faults = [finding.fault for finding in findings]
    faults += [operation.fault for operation in report.operations if operation.fault is not None]
    if Fault.ROLLBACK_FAILED in faults:
        # A failed rollback is more important than its cause.
        first = Fault.ROLLBACK_FAILED
    elif faults:
        first = faults[0]
    else:
        first = Fault.INTERNAL_ERROR
    return {
        "error_code": first.value,
        "recoverable": report.recoverable,
        "retry_hint": _hint(report, first, findings),
        "minimal_repair_plan": [entry.to_json() for entry in report.repair],
    }


def _hint(report: RunReport, first: Fault, findings: list[Finding]) -> str:
    chosen = next((finding for finding in findings if finding.fault is first), None)
    if chosen is None:
        return _cut(_failure_message(report, first) or "The run did not finish; look at the report.", "")

    location = ""
    if chosen.where:
        location = f"{chosen.where}: "
    suffix = ""
    if len(findings) > 1:
        suffix = f" ({len(findings) - 1} more in the report)"
    return _cut(f"{location}{_message_of(report, chosen)}. {chosen.cure or ''}".strip(), suffix)


def _failure_message(report: RunReport, fault: Fault) -> str:
    for operation in reports_by_caller(report.operations):
        if operation.fault is fault:
            return operation.message
    return ""


def _message_of(report: RunReport, chosen: Finding) -> str:
    """Return the finding's message; for a step of a macro, with the outcome of the macro's other steps."""
    if not any(operation.origin is not None for operation in report.operations):
        return chosen.message
    for owner in reports_by_caller(report.operations):
        if chosen in owner.findings and owner.message.startswith(chosen.message):
            return owner.message
    return chosen.message


def _cut(text: str, suffix: str) -> str:
    room = MAX_HINT_CHARACTERS - len(suffix)
    if len(text) > room:
        text = text[: room - 1] + "…"
    return text + suffix


DIALECT = Dialect(
    name="operations",
    form="'operations' and 'request_id'",
    recognises=lambda keys: "operations" in keys,
    parse_document=parse_document,
    render=render,
    tie_break="id",
    on_failure="stop",
    resume=resume,
)
