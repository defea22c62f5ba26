"""The steps dialect: payloads with both tool forms, and the rules that a schema cannot say.

A result is a list of entries with `__meta__` last, rendered from a report; the validator is for anyone's. What `__meta__` says follows
from the entries, by one function that both sides use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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

# The semantic version of the contract, for payloads and results: a change of meaning raises it and adds cases to tests/cases/steps.
CONTRACT_VERSION = "1.0.0"
META = "__meta__"
# Refused for one of these, all steps are skipped: dependencies are resolved before anything else is looked at.
UNRESOLVED = frozenset({Fault.DEPENDENCY_MISSING, Fault.GRAPH_CYCLE})
# What a person did not allow has not failed: nothing was tried.
NOT_ALLOWED = frozenset({"approval_missing", "approval_declined", "approval_outdated"})
CACHED = "done before: the receipt of an earlier run stands"

Entry = dict[str, Any]


def render(report: RunReport) -> list[Entry] | None:
    """The result in payload order. None for a payload that breaks the contract itself: it has findings, and no result."""
    if report.status == "refused":
        findings = list(report.all_findings())
    else:
        findings = []
    if any(_breaks_the_contract(finding) for finding in findings):
        return None
    unresolved = any(finding.fault in UNRESOLVED for finding in findings)
    operations = sorted(reports_by_caller(report.operations), key=lambda operation: operation.position)
    entries = [_entry(operation, unresolved) for operation in operations]
    # One that waits for a failed step and has a fault of its own counts as failed.
    skipped = {entry["step_id"] for entry in entries if entry["skipped"]}
    blocked = [one.operation_id for one in operations if one.blocked and one.operation_id in skipped]
    result = [*entries, _meta(entries, blocked, sentence(report.findings))]
    refuse_broken(list(validate_result(result)))
    return result


def _breaks_the_contract(finding: Finding) -> bool:
    """Ids that steps of macros need are no matter of the payload's contract, which knows no macros: that finding has a rule."""
    return finding.fault is Fault.SCHEMA_INVALID and finding.rule is None


def _entry(operation: OperationReport, unresolved: bool) -> Entry:
    ok = operation.done
    skipped = unresolved or _was_skipped(operation)
    if operation.status == "skipped_idempotent":
        reason = CACHED
    else:
        reason = None
    error = None
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
    """Not tried, not allowed, or taken back for the fault of another."""
    if operation.status == "refused":
        return all(finding.rule in NOT_ALLOWED for finding in operation.findings)
    return operation.status == "skipped" or (operation.status == "rolled_back" and operation.fault is None)


def _meta(entries: Sequence[Entry], blocked: list[str], of_the_plan: str) -> Entry:
    """`of_the_plan`: what is wrong with no step by itself."""
    failed = [entry["step_id"] for entry in entries if _failed(entry)]
    status = task_status(entries, blocked)
    reasons = {
        "COMPLETED": None,
        "PARTIAL": of_the_plan or "some steps were skipped",
        "FAILED": f"{len(failed)} of {len(entries)} steps failed",
        "BLOCKED": f"{len(blocked)} of {len(entries)} steps wait for what was not done",
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


def task_status(entries: Sequence[Entry], blocked: Sequence[str]) -> str:
    """FAILED when a step failed; else BLOCKED when dependencies kept one from running; else PARTIAL when one was skipped."""
    if any(_failed(entry) for entry in entries):
        return "FAILED"
    if blocked:
        return "BLOCKED"
    if any(entry["skipped"] for entry in entries):
        return "PARTIAL"
    return "COMPLETED"


def validate_result(document: Any) -> tuple[Finding, ...]:
    """Everything that the contract says against a result, whoever produced it."""
    if isinstance(document, list):
        # What a tool put out is its own affair: the contract says "any", however deep or large.
        document = [_without_output(item) for item in cast("list[Any]", document)]
    findings = non_interoperable_values(document) or tuple(checker("steps_result.v1").findings(document))
    if not isinstance(document, list):
        return findings
    items = cast("list[Any]", document)
    findings += tuple(_places(items))
    # Whether entries agree with each other can be said only of entries that are well-formed.
    return findings or tuple(_inconsistencies(items))


def _without_output(item: Any) -> Any:
    entry = fields_of(item)
    if "output" not in entry or entry.get("step_id") == META:
        return item
    return {**entry, "output": None}


def _places(items: list[Any]) -> Iterator[Finding]:
    """`__meta__` is there, once, as the last entry; every step has one entry."""
    ids = [fields_of(item).get("step_id") for item in items]
    if META not in ids:
        yield _wrong("", f"there is no {META} entry", f"Append the {META} entry as the last one.")
    first: dict[str, int] = {}
    for index, id in enumerate(ids):
        pointer = pointer_of((index, "step_id"))
        if id == META and index != len(ids) - 1:
            yield _wrong(pointer, f"{META} is not the last entry", "Put it at the end, once.")
        elif isinstance(id, str) and id != META and first.setdefault(id, index) != index:
            yield _wrong(pointer, f"'{id[:100]}' has an entry already, at /{first[id]}", "Give every step one entry.")


def _inconsistencies(items: list[Entry]) -> Iterator[Finding]:
    *entries, meta = items
    for index, entry in enumerate(entries):
        yield from _contradictions(f"/{index}", entry)
    at = f"/{len(entries)}"
    for name, count in _stats(entries).items():
        if meta["stats"][name] != count:
            message = f"stats.{name} is {meta['stats'][name]}, and the entries say {count}"
            yield _wrong(f"{at}/stats/{name}", message, f"Say {count}.")
    failed = [entry["step_id"] for entry in entries if _failed(entry)]
    if set(meta["failed_steps"]) != set(failed):
        cure = f"List exactly: {', '.join(failed)[:200] or 'none'}."
        yield _wrong(f"{at}/failed_steps", "failed_steps are not the steps that failed", cure)
    skipped = {entry["step_id"] for entry in entries if entry["skipped"]}
    for index, id in enumerate(meta["blocked_steps"]):
        if id not in skipped:
            message = f"'{id[:100]}' is called blocked, and no entry says that it was skipped"
            yield _wrong(f"{at}/blocked_steps/{index}", message, "A blocked step is skipped: list only such.")
    status = task_status(entries, meta["blocked_steps"])
    if meta["task_status"] != status:
        message = f"task_status is {meta['task_status']}, and the entries say {status}"
        yield _wrong(f"{at}/task_status", message, f"Say {status}.")
    if status != "PARTIAL" and meta["ok"] != (status == "COMPLETED"):
        yield _wrong(f"{at}/ok", f"ok does not go with {status}", "ok is true exactly when everything was done.")


def _contradictions(at: str, entry: Entry) -> Iterator[Finding]:
    if entry["skipped"] and entry["ok"]:
        yield _wrong(f"{at}/ok", "a skipped step is called ok", "skipped = true needs ok = false.")
    if entry["ok"] and entry["error"] is not None:
        yield _wrong(f"{at}/error", "a step that is ok has an error", "ok = true needs error = null.")
    if _failed(entry) and not entry["error"] and not entry["reason"]:
        yield _wrong(at, "a step failed and does not say why", "ok = false without skipped needs error or reason.")


def _failed(entry: Entry) -> bool:
    return not entry["ok"] and not entry["skipped"]


def _stats(entries: Sequence[Entry]) -> dict[str, int]:
    """Skipped counts before ok: an entry that claims both is wrong anyhow, and is counted once."""
    return {
        "total_steps": len(entries),
        "ok": sum(entry["ok"] and not entry["skipped"] for entry in entries),
        "skipped": sum(entry["skipped"] for entry in entries),
        "failed": sum(_failed(entry) for entry in entries),
    }


def _wrong(pointer: str, message: str, cure: str) -> Finding:
    return Finding(Fault.SCHEMA_INVALID, message, pointer, cure)


NUMBERED = re.compile(r"step_[0-9]+")
FIELDS = frozenset({"step_id", "title", "dependencies", "tool", "args"})

BY_NAME = Places(id="/step_id", tool="/tool", args="/args", depends_on="/dependencies", safety_level="")
WITHOUT_ARGS = Places(id="/step_id", tool="/tool", args="", depends_on="/dependencies", safety_level="")
BY_OBJECT = Places(id="/step_id", tool="/tool/name", args="/tool/args", depends_on="/dependencies", safety_level="")
MIXED = "args stands beside tool.args"


def validate_payload(document: Any) -> tuple[Finding, ...]:
    """Everything that the payload contract says against a document; tools and their arguments are not looked at."""
    plan = DIALECT.parse(document)
    return (*plan.findings, *graph_findings(read_graph(plan.operations)))


def parse_document(document: Any) -> ParsedDocument:
    """The steps, with findings where the document breaks the contract."""
    findings = tuple(_in_own_words(finding) for finding in checker("steps_payload.v1").findings(document))
    items = items_of(fields_of(document).get("steps"))
    operations = tuple(_operation(position, item) for position, item in enumerate(items))
    return ParsedDocument(operations, (*findings, *_beyond_the_schema(operations)))


def _operation(position: int, item: Any) -> Operation:
    """A step as far as it can be read; what breaks the schema is named as unsound."""
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
    if "args" in step:
        places = BY_NAME
    else:
        places = WITHOUT_ARGS
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
    listed: Any = step.get("dependencies")
    if isinstance(listed, list):
        waits_for = cast("list[Any]", listed)
    else:
        waits_for = [None]
    names = tuple(name for name in waits_for if isinstance(name, str) and name)
    if len(names) != len(waits_for):
        unsound.add("depends_on")
    if unsound:
        fields = frozenset(unsound)
    else:
        fields = SOUND
    return Operation(id, tool, cast("dict[str, Any]", args), names, None, position, pointer, places, fields)


def _beyond_the_schema(operations: tuple[Operation, ...]) -> Iterator[Finding]:
    """Reserved and numbered ids. Duplicates and dependencies are the graph's to find."""
    numbered = any(NUMBERED.fullmatch(operation.id) for operation in operations)
    for number, operation in enumerate(operations, start=1):
        pointer = operation.pointer + BY_NAME.id
        if operation.id == META:
            yield Finding(Fault.SCHEMA_INVALID, f"the id '{META}' is reserved", pointer, "Choose another step_id.")
        elif numbered and "id" not in operation.unsound and operation.id != f"step_{number}":
            message = f"'{operation.id[:100]}' breaks the sequence step_1 to step_{len(operations)}"
            cure = f"Call it 'step_{number}', or give no step an id of this form."
            yield Finding(Fault.SCHEMA_INVALID, message, pointer, cure)


def _in_own_words(finding: Finding) -> Finding:
    """The schema forbids step.args beside tool.args without saying so."""
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
