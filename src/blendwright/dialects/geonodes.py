"""The geonodes dialect: plans of NODE_TREE, GN_OPS and PYTHON steps that end with the verification gates.

Each step is a tool call that depends on the previous step. A final operation, which the document does not contain,
judges every tree that a step names. It represents the document's `done`, and fails if done depends on gates that fail.

A result reports the outcome of each step, the verdict of the gates, and whether done is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from blendwright.dialects.dialect import Dialect, ParsedDocument, Tone, checker, proven
from blendwright.nodes.node_kinds import FOR_THE_EYE, INPUT, OUTPUT, WORK_UNLINKED
from blendwright.util.json_shapes import fields_of, items_of
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import SOUND, Field, Operation, Places

if TYPE_CHECKING:
    from blendwright.values.report import OperationReport, RunReport

PROTOCOL = "1.0"
# Id of the final operation that judges the trees; no step may use it.
GATES = "__gates__"

UNJUDGED = (
    "The gates were not judged: no step names a tree. Name each tree of this work again in a NODE_TREE step, which may have"
    " no operations, or set meta.requires_gate_verification to false."
)

# Remarks for the result of a document that is too broken to provide them.
UNREADABLE: dict[str, Any] = {"done": False, "final_message": "", "gates_required": True, "types": ()}

Document = dict[str, Any]


def render(report: RunReport) -> Document:
    """Return the result with the steps in the order of the document.

    A document that is too broken to list its steps gives a result without steps; its error has the findings.
    """
    remarks = report.remarks or UNREADABLE
    operations: list[OperationReport] = []
    if report.remarks:
        operations = sorted(report.operations, key=lambda operation: operation.position)

    count = len(remarks["types"])
    steps = operations[:count]
    closing = None
    if len(operations) > count:
        closing = operations[count]

    unjudged = closing is None and remarks["done"] and remarks["gates_required"]
    done = remarks["done"] and not unjudged
    result: Document = {
        "version": PROTOCOL,
        "request_id": report.request_id,
        "status": _status(report, done),
        "done": done and report.ok,
        "steps": list(map(_step, steps, remarks["types"])),
        "gates_required": remarks["gates_required"],
        "gates": _envelope(report, steps, closing, unjudged=unjudged),
        "error": _error(report, steps, closing),
        "final_message": remarks["final_message"],
    }
    proven("geonodes_result.v1", result)
    proven("geonodes_gates.v1", result["gates"])
    return result


def conclusion(result: Document) -> Iterator[tuple[Tone, str, str]]:
    """Yield lines about the gates, about whether done was accepted, and with the plan's final message."""
    gates = result["gates"]
    failure_tone: Tone = "warning"
    if result["gates_required"]:
        failure_tone = "bad"
    if gates["success"]:
        yield "good", "gates passed", ""
    elif gates["failed_gates"]:
        for gate, message in zip(gates["failed_gates"], gates["messages"], strict=True):
            yield failure_tone, gate, message
    else:
        yield "warning", "", " ".join(gates["messages"])

    if result["status"] == "done":
        yield "good", "done:", result["final_message"]
    elif result["status"] == "continue":
        yield "warning", "asks for another round:", result["final_message"]
    else:
        yield "bad", "done is not accepted", ""


def _status(report: RunReport, done: bool) -> Literal["done", "continue", "failed", "rolled_back", "refused"]:
    if report.ok:
        if done:
            return "done"
        return "continue"
    if report.status in ("rolled_back", "refused"):
        return report.status
    return "failed"


def _step(step: OperationReport, kind: str) -> Document:
    if step.done:
        status = "ok"
    elif step.fault is not None:
        status = "failed"
    elif step.status == "rolled_back":
        status = "rolled_back"
    else:
        status = "skipped"
    output = None
    if step.result is not None:
        output = dict(step.result)
    return {
        "id": step.operation_id,
        "type": kind,
        "status": status,
        "message": step.message,
        "output": output,
    }


def _envelope(
    report: RunReport, steps: list[OperationReport], closing: OperationReport | None, *, unjudged: bool
) -> Document:
    """Return the gate envelope. With `unjudged`, done depends on gates, and no step names a tree to judge."""
    if report.ok:
        if unjudged:
            return _verdict(False, messages=[UNJUDGED])
        if closing is None:
            return _verdict(True)
    if closing is not None and closing.done and closing.result is not None:
        return {field: closing.result[field] for field in ("success", "failed_gates", "messages")}

    failed = _failed_gates(closing)
    if failed:
        return _verdict(False, [finding.rule for finding in failed], [finding.message for finding in failed])
    return _verdict(False, messages=[f"The gates were not judged: {_why_not_judged(report, steps, closing)}."])


def _verdict(success: bool, failed_gates: Sequence[str | None] = (), messages: Sequence[str] = ()) -> Document:
    return {"success": success, "failed_gates": list(failed_gates), "messages": list(messages)}


def _why_not_judged(report: RunReport, steps: list[OperationReport], closing: OperationReport | None) -> str:
    if report.status == "refused":
        return "nothing ran"
    failed_step = _failed_step(steps)
    if failed_step is not None:
        return f"step '{failed_step.operation_id}' failed"
    if closing is not None and closing.fault is not None:
        return closing.message
    return "the run did not finish"


def _failed_step(steps: list[OperationReport]) -> OperationReport | None:
    return next((step for step in steps if step.fault is not None), None)


def _failed_gates(closing: OperationReport | None) -> list[Finding]:
    if closing is None:
        return []
    return [f for f in closing.findings if f.fault is Fault.VERIFICATION_FAILED and f.rule is not None]


def _error(report: RunReport, steps: list[OperationReport], closing: OperationReport | None) -> Document | None:
    """Return the error of the first failed step, or else of the plan or its final operation.

    None if the run succeeded, or if only gates failed.
    """
    failed_step = _failed_step(steps)
    if report.ok or (_failed_gates(closing) and failed_step is None):
        return None
    if failed_step is not None and failed_step.fault is not None:
        return _summary(failed_step.operation_id, failed_step.fault, failed_step.message, failed_step.findings)
    findings = tuple(report.all_findings())
    if findings:
        return _summary(None, findings[0].fault, findings[0].message, findings)
    undone = ", ".join(step.operation_id for step in steps if not step.done)
    return _summary(None, Fault.EXECUTION_FAILED, f"the run is {report.status}; not done: {undone[:500]}", ())


def _summary(step: str | None, fault: Fault, message: str, findings: tuple[Finding, ...]) -> Document:
    problems = [{"pointer": finding.pointer, "message": finding.message, "cure": finding.cure} for finding in findings]
    return {"step_id": step, "code": fault.value, "message": message or fault.value, "problems": problems}


TOOLS = {"NODE_TREE": "geonodes.node_tree", "GN_OPS": "geonodes.patch", "PYTHON": "python.run"}
JUDGE = "geonodes.verify"
PLACES = Places(id="/id", tool="/type", args="/payload", depends_on="", safety_level="")
# Findings about the closing operation point to `done`.
AT_DONE = "/done"
DONE_PLACES = Places(id="", tool="", args="", depends_on="", safety_level="")
PARTS: dict[str, Field] = {"id": "id", "type": "tool", "payload": "args"}

# Nodes that need not lead to the output.
NOT_JUDGED = FOR_THE_EYE | WORK_UNLINKED | {INPUT, OUTPUT}

Step = dict[str, Any]


def parse_document(document: Any) -> ParsedDocument:
    """Return the steps and the closing operation, with findings if the document breaks the protocol."""
    findings = tuple(checker("geonodes_plan.v1").findings(document))
    fields = fields_of(document)
    steps = [fields_of(item) for item in items_of(fields.get("steps"))]
    operations = _chained(steps, _unsound(findings, len(steps)))
    findings += tuple(_reserved(operations))
    if not findings:
        operations += _closing(fields, steps)
    return ParsedDocument(operations, findings, remarks=_remarks(fields, steps))


def _unsound(findings: Sequence[Finding], steps: int) -> list[set[Field]]:
    """Return the invalid fields of each step, according to the pointers of the schema's findings."""
    unsound: list[set[Field]] = [set() for _ in range(steps)]
    for finding in findings:
        parts = finding.pointer.split("/")
        if len(parts) <= 2 or parts[1] != "steps":
            continue
        field: Field = "other"
        if len(parts) > 3:
            field = PARTS.get(parts[3], "other")
        unsound[int(parts[2])].add(field)
    return unsound


def _chained(steps: Sequence[Step], unsound_fields: Sequence[set[Field]]) -> tuple[Operation, ...]:
    """Return the steps as far as they are readable; each depends on the previous one."""
    operations: list[Operation] = []
    for position, (step, unsound) in enumerate(zip(steps, unsound_fields, strict=True)):
        pointer = f"/steps/{position}"
        id, tool, args = step.get("id"), TOOLS.get(str(step.get("type"))), step.get("payload")
        if not isinstance(id, str) or "id" in unsound:
            id = pointer
            unsound.add("id")
        if tool is None:
            unsound.add("tool")
        if not isinstance(args, dict):
            unsound.add("args")
            args = {}
        waits_for: tuple[str, ...] = ()
        if operations:
            waits_for = (operations[-1].id,)
        fields = SOUND
        if unsound:
            fields = frozenset(unsound)
        args = cast("dict[str, Any]", args)
        operations.append(Operation(id, tool or "", args, waits_for, None, position, pointer, PLACES, fields))
    return tuple(operations)


def _closing(fields: dict[str, Any], steps: Sequence[Step]) -> tuple[Operation, ...]:
    """Return the operation that judges the gates of every tree that a step names; empty without a tree."""
    trees: dict[tuple[str, str], dict[str, Any]] = {}
    for (tree, group), nodes in _added_nodes(steps).items():
        named = {"object_name": tree[0], "modifier_name": tree[1]}
        judged = trees.setdefault(tree, named)
        if nodes:
            judged.setdefault("added", []).append({"node_group": group, "nodes": nodes})
    if not trees:
        return ()
    args = {
        "trees": list(trees.values()),
        "required": fields["done"] and _gates_required(fields),
    }
    waits_for = (str(steps[-1]["id"]),)
    return (Operation(GATES, JUDGE, args, waits_for, None, len(steps), AT_DONE, DONE_PLACES),)


def _added_nodes(steps: Sequence[Step]) -> dict[tuple[tuple[str, str], str | None], list[str]]:
    """Return the nodes that the steps add and do not delete, by tree and node group.

    A group of None means the group that the modifier has at the end.
    """
    added: dict[tuple[tuple[str, str], str | None], dict[str, None]] = {}
    groups: dict[tuple[str, str], str | None] = {}
    for step in steps:
        if step["type"] == "PYTHON":
            continue
        payload = step["payload"]
        target = payload["target"]
        tree = target["object_name"], target["modifier_name"]
        group = groups[tree] = target.get("node_group_name") or groups.get(tree)
        nodes = added.setdefault((tree, group), {})
        if step["type"] == "NODE_TREE":
            operations = payload["operations"]
        else:
            operations = payload["ops"]
        for operation in operations:
            match operation:
                case {"op": "create_node", "node_id": node, "bl_idname": kind} if kind not in NOT_JUDGED:
                    nodes[node] = None
                case {"op": "add_node", "id": node, "bl_idname": kind} if kind not in NOT_JUDGED:
                    nodes[node] = None
                case {"op": "delete_node" | "remove_node", "node_id": node}:
                    # Several modifiers may share a group, and a group may be named only later.
                    for (added_tree, added_group), added_nodes in added.items():
                        if added_group == group or added_tree == tree:
                            added_nodes.pop(node, None)
                case _:
                    pass
    return {key: list(nodes) for key, nodes in added.items()}


def _gates_required(fields: dict[str, Any]) -> bool:
    # Any value other than False requires the gates, including values that break the schema.
    return fields.get("meta", {}).get("requires_gate_verification") is not False


def _reserved(operations: Sequence[Operation]) -> Iterator[Finding]:
    for operation in operations:
        if operation.id == GATES:
            message, pointer = f"the id '{GATES}' is reserved", operation.pointer + PLACES.id
            yield Finding(Fault.SCHEMA_INVALID, message, pointer, "Choose another id.")


def _remarks(fields: dict[str, Any], steps: Sequence[Step]) -> dict[str, Any] | None:
    """Return the data that the result needs in addition to the report; None if the document is too broken."""
    if not isinstance(fields.get("done"), bool) or not isinstance(fields.get("final_message"), str):
        return None
    for step in steps:
        if not isinstance(step.get("id"), str) or str(step.get("type")) not in TOOLS:
            return None
    if not isinstance(fields.get("meta", {}), dict):
        return None
    return {
        "done": fields["done"],
        "final_message": fields["final_message"],
        "gates_required": _gates_required(fields),
        "types": [step["type"] for step in steps],
    }


DIALECT = Dialect(
    name="geonodes",
    form="'version', 'steps', 'done' and 'final_message'",
    # A steps payload has none of these next to its steps; a geonodes plan that lacks one of them still counts as one.
    recognises=lambda keys: "steps" in keys and not keys.isdisjoint({"version", "done", "final_message", "meta"}),
    parse_document=parse_document,
    render=render,
    tie_break="position",
    on_failure="stop",
    on_nondeterministic="accept",  # the protocol has Python steps, whose effect is unpredictable
    conclusion=conclusion,
)
