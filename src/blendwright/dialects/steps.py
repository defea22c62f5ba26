"""The steps dialect: payloads with both tool forms, and the rules that a schema cannot say. Results are `steps_result`'s."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from blendwright.dialects.dialect import Dialect, ParsedDocument, ResultContract, checker
from blendwright.dialects.steps_result import CONTRACT_VERSION, META, render, validate_result
from blendwright.plan.graph import graph_findings, read_graph
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.json_shapes import fields_of, items_of
from blendwright.values.plan import SOUND, Field, Operation, Places

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
    places = BY_NAME if "args" in step else WITHOUT_ARGS
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
    waits_for = cast("list[Any]", listed) if isinstance(listed, list) else [None]
    names = tuple(name for name in waits_for if isinstance(name, str) and name)
    if len(names) != len(waits_for):
        unsound.add("depends_on")
    fields = frozenset(unsound) if unsound else SOUND
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
