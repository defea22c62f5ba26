"""The operations dialect: the planner's strict JSON in, receipts or the four-field failure payload out."""

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
MAX_HINT = 500


def parse_document(document: Any) -> ParsedDocument:
    """The operations, with findings where the document breaks the schema."""
    findings = tuple(checker("planner_operations.v1").findings(document))
    if not findings:
        items = cast("list[dict[str, Any]]", document["operations"])
        with gc_paused() if len(items) >= LARGE_PLAN else nullcontext():
            operations = tuple(_sound(position, item) for position, item in enumerate(items))
        return ParsedDocument(operations, request_id=str(document["request_id"]))
    fields = fields_of(document)
    items = items_of(fields.get("operations"))
    operations = tuple(_as_far_as_readable(position, item) for position, item in enumerate(items))
    id: Any = fields.get("request_id")
    return ParsedDocument(operations, findings, id if isinstance(id, str) else "")


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
    """An operation of a document that breaks the schema: what fits is taken, what does not is named as unsound."""
    pointer = f"/operations/{position}"
    fields = fields_of(item)
    unsound: set[Field]
    if fields.keys() == FIELDS:
        unsound = set()
    else:
        unsound = {"other"}
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
    listed: Any = fields.get("depends_on")
    if isinstance(listed, list):
        waits_for = cast("list[Any]", listed)
    else:
        waits_for = [None]
    names = tuple(name for name in waits_for if isinstance(name, str) and ID.fullmatch(name))
    if len(set(names)) != len(waits_for):
        unsound.add("depends_on")
    level = fields.get("safety_level")
    if not isinstance(level, str) or level not in SAFETY_LEVELS:
        level = None
        unsound.add("safety_level")
    if unsound:
        marks = frozenset(unsound)
    else:
        marks = SOUND
    return Operation(id, tool, cast("dict[str, Any]", args), names, level, position, pointer, unsound=marks)


def resume(document: dict[str, Any], request_id: str, committed: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The document under a request id, with the committed operations that it leaves out. They come behind its own, so that
    pointers into what was given stay true: they are in the scene, and others may depend on them."""
    document = {**document, "request_id": request_id}
    if isinstance(document.get("operations"), list):
        own = items_of(document["operations"])
        ids = [fields_of(item).get("operation_id") for item in own]
        document["operations"] = [*own, *(dict(item) for item in committed if item["operation_id"] not in ids)]
    return document


def render(report: RunReport) -> dict[str, Any]:
    """Receipts when every operation was done, else the failure payload; either has passed its published schema."""
    if report.ok:
        plain = all(operation.origin is None for operation in report.operations)  # no macro was called
        receipts = [_receipt(one) for one in (report.operations if plain else reports_by_caller(report.operations))]
        result = {"request_id": report.request_id, "status": "succeeded", "receipts": receipts}
        proven("operations_result.v1", result)
        return result
    payload = _failure(report)
    proven("failure_payload.v1", payload)
    return payload


def _receipt(operation: OperationReport) -> dict[str, Any]:
    """The receipt of the commit, as it was written; the status is that of this run."""
    fields: dict[str, Any] = {
        "operation_id": operation.operation_id,
        "tool_name": operation.tool,
        "safety_level": operation.safety_level,
        "mcp_call_id": operation.mcp_call_id,
        "blender_mutation_id": operation.blender_mutation_id,
        "scene_hash_before": operation.scene_hash_before,
        "scene_hash_after": operation.scene_hash_after,
        "operation_key": operation.operation_key,
        "result": None if operation.result is None else dict(operation.result),
    }
    return {**fields, **(operation.receipt or {}), "status": operation.status}


def _failure(report: RunReport) -> dict[str, Any]:
    findings = list(report.all_findings())
    faults = [finding.fault for finding in findings]
    faults += [operation.fault for operation in report.operations if operation.fault is not None]
    # A rollback that failed outweighs whatever made it necessary.
    if Fault.ROLLBACK_FAILED in faults:
        first = Fault.ROLLBACK_FAILED
    else:
        first = (faults or [Fault.INTERNAL_ERROR])[0]
    return {
        "error_code": first.value,
        "recoverable": report.recoverable,
        "retry_hint": _hint(report, first, findings),
        "minimal_repair_plan": [entry.to_json() for entry in report.repair],
    }


def _hint(report: RunReport, first: Fault, findings: list[Finding]) -> str:
    chosen = next((finding for finding in findings if finding.fault is first), None)
    if chosen is None:
        failed = (one.message for one in reports_by_caller(report.operations) if one.fault is first)
        return _cut(next(failed, "") or "The run did not finish; look at the report.", "")
    if chosen.where:
        where = f"{chosen.where}: "
    else:
        where = ""
    if len(findings) > 1:
        more = f" ({len(findings) - 1} more in the report)"
    else:
        more = ""
    return _cut(f"{where}{_message_of(report, chosen)}. {chosen.cure or ''}".strip(), more)


def _message_of(report: RunReport, chosen: Finding) -> str:
    """Of a macro, what became of its other steps belongs to it."""
    if not any(operation.origin is not None for operation in report.operations):
        return chosen.message
    owners = (operation for operation in reports_by_caller(report.operations) if chosen in operation.findings)
    return next((owner.message for owner in owners if owner.message.startswith(chosen.message)), chosen.message)


def _cut(text: str, more: str) -> str:
    room = MAX_HINT - len(more)
    return (text if len(text) <= room else text[: room - 1] + "…") + more


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
