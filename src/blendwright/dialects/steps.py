"""The steps dialect: payloads with both tool forms and the rules that a schema cannot say, parsed into a Plan.

Its results are written and checked in `steps_result` and offered here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any, cast

import rfc8785

from blendwright.dialects.published import checker
from blendwright.dialects.steps_result import CONTRACT_VERSION, META, render, validate_result
from blendwright.plan.graph import graph_findings, read_graph
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.gc_pause import gc_paused
from blendwright.values.json_reader import non_interoperable_values
from blendwright.values.plan import SOUND, Boundary, Field, Operation, Places, Plan

__all__ = ["CONTRACT_VERSION", "META", "parse", "render", "validate_payload", "validate_result"]

NUMBERED = re.compile(r"step_[0-9]+")
FIELDS = frozenset({"step_id", "title", "dependencies", "tool", "args"})

BY_NAME = Places(id="/step_id", tool="/tool", args="/args", depends_on="/dependencies", safety_level="")
WITHOUT_ARGS = Places(id="/step_id", tool="/tool", args="", depends_on="/dependencies", safety_level="")
BY_OBJECT = Places(id="/step_id", tool="/tool/name", args="/tool/args", depends_on="/dependencies", safety_level="")
MIXED = "args stands beside tool.args"


def validate_payload(document: Any) -> tuple[Finding, ...]:
    """Everything that the payload contract says against a document; tools and their arguments are not looked at."""
    plan = parse(document)
    return (*plan.findings, *graph_findings(read_graph(plan.operations)))


@gc_paused()
def parse(document: Any, *, request_id: str | None = None, boundary: Boundary = "operation") -> Plan:
    """The plan, with findings where the document breaks the contract. Without a request id (an empty one is none) it is the
    payload's hash."""
    findings = non_interoperable_values(document)
    if findings:
        return _plan("", (), boundary, findings)
    findings = tuple(_in_own_words(finding) for finding in checker("steps_payload.v1").findings(document))
    known = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    listed: Any = known.get("steps")
    items = cast("list[Any]", listed) if isinstance(listed, list) else []
    operations = tuple(_operation(position, item) for position, item in enumerate(items))
    findings += tuple(_beyond_the_schema(operations))
    if not findings and not request_id:
        request_id = hashlib.sha256(rfc8785.dumps(known)).hexdigest()
    return _plan(request_id or "", operations, boundary, findings)


def _plan(
    request_id: str, operations: tuple[Operation, ...], boundary: Boundary, findings: tuple[Finding, ...]
) -> Plan:
    return Plan("steps", request_id, operations, "position", "skip_dependents", boundary, "fail_operation", findings)


def _operation(position: int, item: Any) -> Operation:
    """A step as far as it can be read; what breaks the schema is named as unsound."""
    pointer = f"/steps/{position}"
    step = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    unsound: set[Field] = set()
    if not step.keys() <= FIELDS or not isinstance(step.get("title", ""), str):
        unsound.add("other")
    id: Any = step.get("step_id")
    if not isinstance(id, str) or not id:
        id = pointer
        unsound.add("id")
    tool: Any = step.get("tool")
    args: Any = step.get("args", {})
    places = BY_NAME if "args" in step else WITHOUT_ARGS
    if isinstance(tool, dict):
        named = cast("dict[str, Any]", tool)
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
    waits_for = cast("list[Any]", listed) if isinstance(listed, list) else [None]
    names = tuple(name for name in waits_for if isinstance(name, str) and name)
    if len(names) != len(waits_for):
        unsound.add("depends_on")
    marks = frozenset(unsound) if unsound else SOUND
    return Operation(id, tool, cast("dict[str, Any]", args), names, None, position, pointer, places, marks)


def _beyond_the_schema(operations: tuple[Operation, ...]) -> Iterator[Finding]:
    """Reserved and numbered ids. Duplicates and dependencies are the graph's to find."""
    numbered = any(NUMBERED.fullmatch(operation.id) for operation in operations)
    for place, operation in enumerate(operations):
        pointer = operation.pointer + BY_NAME.id
        if operation.id == META:
            yield Finding(Fault.SCHEMA_INVALID, f"the id '{META}' is reserved", pointer, "Choose another step_id.")
        elif numbered and "id" not in operation.unsound and operation.id != f"step_{place + 1}":
            message = f"'{operation.id[:100]}' breaks the sequence step_1 to step_{len(operations)}"
            cure = f"Call it 'step_{place + 1}', or give no step an id of this form."
            yield Finding(Fault.SCHEMA_INVALID, message, pointer, cure)


def _in_own_words(finding: Finding) -> Finding:
    """The schema forbids step.args beside tool.args without saying so."""
    if finding.message.endswith("False schema does not allow it"):
        cure = "Give the arguments once: in tool.args, or in args with tool as a name."
        return Finding(finding.fault, MIXED, finding.pointer, cure)
    return finding
