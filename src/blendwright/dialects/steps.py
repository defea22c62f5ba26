"""The steps dialect: payloads with both tool forms, and the rules that a schema cannot express.

A result is a list of entries that ends with `__meta__`, rendered from a report. The validator accepts results of any
producer. `__meta__` follows from the entries; rendering and validation use the same function for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

from blendwright.dialects.dialect import Dialect, ParsedDocument, ResultContract, checker, refuse_broken
from blendwright.plan.graph import graph_findings, read_graph
from blendwright.schemas.json_reader import non_interoperable_values
from blendwright.util.json_shapes import fields_of, items_of
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, pointer_of, sentence
from blendwright.values.macro_report import reports_by_caller
from blendwright.values.plan import SOUND, Field, Operation, Places

if TYPE_CHECKING:
    from blendwright.values.report import OperationReport, RunReport

# Semantic version of the contract for payloads and results. A change of meaning raises it and adds cases to tests/cases/steps.
CONTRACT_VERSION = "1.0.0"
META = "__meta__"
# A refusal for one of these faults skips all steps, because the dependencies are resolved first.
UNRESOLVED = frozenset({Fault.DEPENDENCY_MISSING, Fault.GRAPH_CYCLE})
# A step without a person's approval counts as skipped and not as failed, because nothing ran.
NOT_ALLOWED = frozenset({"approval_missing", "approval_declined", "approval_outdated"})
CACHED = "already done: the receipt of an earlier run is valid"

Entry = dict[str, Any]


def render(report: RunReport) -> list[Entry] | None:
    """Return the result in the order of the payload.

    None for a payload that breaks the contract itself: it has findings, but no result.
    """
    findings: list[Finding] = []
    if report.status == "refused":
        findings = list(report.all_findings())
    if any(map(_breaks_the_contract, findings)):
        return None

    unresolved = any(finding.fault in UNRESOLVED for finding in findings)
    operations = sorted(reports_by_caller(report.operations), key=lambda operation: operation.position)
    entries: list[Entry] = []
    blocked: list[str] = []
    for operation in operations:
        entry = _entry(operation, unresolved)
        entries.append(entry)
        # A step with a fault of its own counts as failed, even if it also waits for a failed step.
        if operation.blocked and entry["skipped"]:
            blocked.append(operation.operation_id)

    result = [*entries, _meta(entries, blocked, sentence(report.findings))]
    refuse_broken(list(validate_result(result)))
    return result


def _breaks_the_contract(finding: Finding) -> bool:
    """Return True if the finding says that the payload breaks the steps contract.

    The contract knows no macros, so a finding about the ids of a macro's steps does not count. Such a finding has a
    rule.
    """
    return finding.fault is Fault.SCHEMA_INVALID and finding.rule is None


def _entry(operation: OperationReport, unresolved: bool) -> Entry:
    ok = operation.done
    skipped = unresolved or _was_skipped(operation)
    reason = error = None
    if operation.status == "skipped_idempotent":
        reason = CACHED
    if skipped:
        reason = operation.message or "not run"
    elif not ok:
        error = operation.message or (operation.fault or Fault.INTERNAL_ERROR).value
    entry: Entry = {
        "step_id": operation.operation_id,
        "tool": operation.tool,
        "ok": ok,
        "skipped": skipped,
        "reason": reason,
        "error": error,
    }
    if operation.result is not None:
        entry["output"] = dict(operation.result)
    return entry


def _was_skipped(operation: OperationReport) -> bool:
    """Return True if the step was not tried, was not allowed, or was rolled back because of another step."""
    if operation.status == "refused":
        return all(finding.rule in NOT_ALLOWED for finding in operation.findings)
    return operation.status == "skipped" or (operation.status == "rolled_back" and operation.fault is None)


def _meta(entries: Sequence[Entry], blocked: list[str], plan_problems: str) -> Entry:
    """Return the `__meta__` entry. `plan_problems` are the problems that belong to no step."""
    failed = _failed_ids(entries)
    status = task_status(entries, blocked)
    reasons = {
        "COMPLETED": None,
        "PARTIAL": plan_problems or "some steps were skipped",
        "FAILED": f"{len(failed)} of {len(entries)} steps failed",
        "BLOCKED": f"{len(blocked)} of {len(entries)} steps wait for steps that were not done",
    }
    return {
        "step_id": META,
        "ok": status == "COMPLETED",
        "skipped": False,
        "reason": reasons[status],
        "task_status": status,
        "stats": _stats(entries),
        "blocked_steps": blocked,
        "failed_steps": failed,
    }


def _failed_ids(entries: Sequence[Entry]) -> list[str]:
    return [entry["step_id"] for entry in entries if _failed(entry)]


def task_status(entries: Sequence[Entry], blocked: Sequence[str]) -> str:
    """Return FAILED if a step failed, else BLOCKED if a dependency prevented one, else PARTIAL if one was skipped, else
    COMPLETED.
    """
    if any(map(_failed, entries)):
        return "FAILED"
    if blocked:
        return "BLOCKED"
    if any(map(itemgetter("skipped"), entries)):
        return "PARTIAL"
    return "COMPLETED"


def validate_result(document: Any) -> tuple[Finding, ...]:
    """Return all findings of the contract about a result of any producer."""
    if isinstance(document, list):
        # The contract allows any output of a tool, so the check leaves the outputs out.
        document = list(map(_without_output, cast("list[Any]", document)))
    findings = non_interoperable_values(document) or tuple(checker("steps_result.v1").findings(document))
    if not isinstance(document, list):
        return findings

    items = cast("list[Any]", document)
    findings += tuple(_misplaced_entries(items))
    if findings:
        return findings
    # Only well-formed entries can be compared with each other.
    return tuple(_inconsistencies(items))


def _without_output(item: Any) -> Any:
    entry = fields_of(item)
    if "output" not in entry or entry.get("step_id") == META:
        return item
    return {**entry, "output": None}


def _misplaced_entries(items: list[Any]) -> Iterator[Finding]:
    """Yield findings unless `__meta__` is exactly the last entry and every step has exactly one entry."""
    ids = [fields_of(item).get("step_id") for item in items]
    if META not in ids:
        yield _wrong("", f"there is no {META} entry", f"Append the {META} entry as the last one.")

    first_positions: dict[str, int] = {}
    for index, id in enumerate(ids):
        pointer = pointer_of((index, "step_id"))
        if id == META:
            if index != len(ids) - 1:
                yield _wrong(pointer, f"{META} is not the last entry", "Put it at the end, once.")
        elif isinstance(id, str) and first_positions.setdefault(id, index) != index:
            message = f"'{id[:100]}' already has an entry at /{first_positions[id]}"
            yield _wrong(pointer, message, "Give every step one entry.")


def _inconsistencies(items: list[Entry]) -> Iterator[Finding]:
    *entries, meta = items
    for index, entry in enumerate(entries):
        yield from _contradictions(f"/{index}", entry)
    at = f"/{len(entries)}"
    for name, count in _stats(entries).items():
        if meta["stats"][name] != count:
            message = f"stats.{name} is {meta['stats'][name]}, but the entries give {count}"
            yield _wrong(f"{at}/stats/{name}", message, f"Set it to {count}.")

    failed = _failed_ids(entries)
    if set(meta["failed_steps"]) != set(failed):
        cure = f"List exactly: {', '.join(failed)[:200] or 'none'}."
        yield _wrong(f"{at}/failed_steps", "failed_steps are not the steps that failed", cure)

    skipped = {entry["step_id"] for entry in entries if entry["skipped"]}
    for index, id in enumerate(meta["blocked_steps"]):
        if id not in skipped:
            message = f"blocked_steps lists '{id[:100]}', but no skipped entry has this id"
            yield _wrong(f"{at}/blocked_steps/{index}", message, "List only skipped steps as blocked.")

    status = task_status(entries, meta["blocked_steps"])
    if meta["task_status"] != status:
        message = f"task_status is {meta['task_status']}, but the entries give {status}"
        yield _wrong(f"{at}/task_status", message, f"Set it to {status}.")
    if status != "PARTIAL" and meta["ok"] != (status == "COMPLETED"):
        yield _wrong(f"{at}/ok", f"ok contradicts {status}", "ok is true exactly when everything was done.")


def _contradictions(at: str, entry: Entry) -> Iterator[Finding]:
    if entry["skipped"] and entry["ok"]:
        yield _wrong(f"{at}/ok", "a skipped step has ok = true", "skipped = true needs ok = false.")
    if entry["ok"] and entry["error"] is not None:
        yield _wrong(f"{at}/error", "a step that is ok has an error", "ok = true needs error = null.")
    if _failed(entry) and not entry["error"] and not entry["reason"]:
        yield _wrong(at, "a failed step gives no cause", "ok = false without skipped needs error or reason.")


def _failed(entry: Entry) -> bool:
    return not entry["ok"] and not entry["skipped"]


def _stats(entries: Sequence[Entry]) -> dict[str, int]:
    """Return the number of entries by outcome.

    An entry that is skipped and ok is invalid; it counts as skipped only.
    """
    counts = {"total_steps": len(entries), "ok": 0, "skipped": 0, "failed": 0}
    for entry in entries:
        if entry["skipped"]:
            counts["skipped"] += 1
        elif entry["ok"]:
            counts["ok"] += 1
        else:
            counts["failed"] += 1
    return counts


def _wrong(pointer: str, message: str, cure: str) -> Finding:
    return Finding(Fault.SCHEMA_INVALID, message, pointer, cure)


NUMBERED = re.compile(r"step_[0-9]+")
FIELDS = frozenset({"step_id", "title", "dependencies", "tool", "args"})

BY_NAME = Places(id="/step_id", tool="/tool", args="/args", depends_on="/dependencies", safety_level="")
WITHOUT_ARGS = Places(id="/step_id", tool="/tool", args="", depends_on="/dependencies", safety_level="")
BY_OBJECT = Places(id="/step_id", tool="/tool/name", args="/tool/args", depends_on="/dependencies", safety_level="")
MIXED = "a step has both args and tool.args"


def validate_payload(document: Any) -> tuple[Finding, ...]:
    """Return all findings of the payload contract about a document; tools and their arguments are not checked."""
    plan = DIALECT.parse(document)
    return (*plan.findings, *graph_findings(read_graph(plan.operations)))


def parse_document(document: Any) -> ParsedDocument:
    """Return the steps, with findings if the document breaks the contract."""
    findings = tuple(map(_in_plain_words, checker("steps_payload.v1").findings(document)))
    items = items_of(fields_of(document).get("steps"))
    operations = tuple(_operation(position, item) for position, item in enumerate(items))
    return ParsedDocument(operations, (*findings, *_beyond_the_schema(operations)))


def _operation(position: int, item: Any) -> Operation:
    """Return a step as far as it is readable, with the invalid fields marked as unsound."""
    pointer = f"/steps/{position}"
    step = fields_of(item)
    unsound: set[Field] = set()
    if not step.keys() <= FIELDS or not isinstance(step.get("title", ""), str):
        unsound.add("other")
    id: Any = step.get("step_id")
    if not isinstance(id, str) or not id:
        id = pointer
        unsound.add("id")

    tool: Any = step.get("tool")
    args: Any = step.get("args", {})
    places = WITHOUT_ARGS
    if "args" in step:
        places = BY_NAME
    if isinstance(tool, dict):
        named = fields_of(tool)
        places = BY_OBJECT
        if "args" in step:
            unsound.add("args")
        if not named.keys() <= {"name", "args"}:
            unsound.add("other")
        tool, args = named.get("name"), named.get("args")
    if not isinstance(tool, str) or not tool:
        tool = ""
        unsound.add("tool")
    if not isinstance(args, dict):
        args = {}
        unsound.add("args")

    waits_for: list[Any] = [None]
    dependencies: Any = step.get("dependencies")
    if isinstance(dependencies, list):
        waits_for = cast("list[Any]", dependencies)
    names = tuple(name for name in waits_for if isinstance(name, str) and name)
    if len(names) != len(waits_for):
        unsound.add("depends_on")

    fields = SOUND
    if unsound:
        fields = frozenset(unsound)
    return Operation(id, tool, cast("dict[str, Any]", args), names, None, position, pointer, places, fields)


def _beyond_the_schema(operations: tuple[Operation, ...]) -> Iterator[Finding]:
    """Yield findings about reserved and numbered ids. The graph checks duplicates and dependencies."""
    numbered = any(NUMBERED.fullmatch(operation.id) for operation in operations)
    for number, operation in enumerate(operations, start=1):
        pointer = operation.pointer + BY_NAME.id
        if operation.id == META:
            yield Finding(Fault.SCHEMA_INVALID, f"the id '{META}' is reserved", pointer, "Choose another step_id.")
        elif numbered and "id" not in operation.unsound and operation.id != f"step_{number}":
            message = f"'{operation.id[:100]}' breaks the sequence step_1 to step_{len(operations)}"
            cure = f"Rename it to 'step_{number}', or give no step an id of this form."
            yield Finding(Fault.SCHEMA_INVALID, message, pointer, cure)


def _in_plain_words(finding: Finding) -> Finding:
    """Replace the schema's unclear message about step.args next to tool.args."""
    if finding.message.endswith("False schema does not allow it"):
        cure = "Give the arguments once: in tool.args, or in args with tool as a name."
        return Finding(finding.fault, MIXED, finding.pointer, cure)
    return finding


DIALECT = Dialect(
    name="steps",
    form="'steps'",
    recognises=lambda keys: "steps" in keys,
    parse_document=parse_document,
    render=render,
    tie_break="position",
    on_failure="skip_dependents",
    on_unknown_tool="fail_operation",
    result_contract=ResultContract(CONTRACT_VERSION, validate_result),
)
