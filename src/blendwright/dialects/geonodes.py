"""The geonodes dialect: plans of NODE_TREE, GN_OPS and PYTHON steps that end with the verification gates.

Each step is a tool call that waits for the one before. After the last, one more operation judges every tree that a step names; it
is not in the document, stands for its `done`, and fails when done depends on gates that are not passed.
A result says what became of each step, what the gates say, and whether done is accepted.
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
# The operation that judges the trees at the end; no step may be called so.
GATES = "__gates__"

UNJUDGED = (
    "The gates were not judged: no step names a tree. Name each tree of this work once more in a NODE_TREE step, which may be"
    " without operations, or set meta.requires_gate_verification to false."
)

# What a result has to say of a document that does not say it.
UNREADABLE: dict[str, Any] = {"done": False, "final_message": "", "gates_required": True, "types": ()}

Document = dict[str, Any]


def render(report: RunReport) -> Document:
    """The result in the order of the steps; without any for a document that is too broken to tell them: its error has the findings."""
    remarks = report.remarks or UNREADABLE
    if report.remarks:
        listed = sorted(report.operations, key=lambda operation: operation.position)
    else:
        listed = []
    count = len(remarks["types"])
    steps, closing = listed[:count], (listed[count] if len(listed) > count else None)
    unjudged = closing is None and remarks["done"] and remarks["gates_required"]
    done = remarks["done"] and not unjudged
    result: Document = {
        "version": PROTOCOL,
        "request_id": report.request_id,
        "status": _status(report, done),
        "done": done and report.ok,
        "steps": [_step(step, kind) for step, kind in zip(steps, remarks["types"], strict=True)],
        "gates_required": remarks["gates_required"],
        "gates": _envelope(report, steps, closing, unjudged=unjudged),
        "error": _error(report, steps, closing),
        "final_message": remarks["final_message"],
    }
    proven("geonodes_result.v1", result)
    proven("geonodes_gates.v1", result["gates"])
    return result


def conclusion(result: Document) -> Iterator[tuple[Tone, str, str]]:
    """The gates, whether done was accepted, and the plan's own last words."""
    gates = result["gates"]
    if gates["success"]:
        yield "good", "gates passed", ""
    elif gates["failed_gates"]:
        for gate, message in zip(gates["failed_gates"], gates["messages"], strict=True):
            yield "bad" if result["gates_required"] else "warning", gate, message
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
    status = "failed"
    if step.done:
        status = "ok"
    elif step.fault is None:
        if step.status == "rolled_back":
            status = "rolled_back"
        else:
            status = "skipped"
    return {
        "id": step.operation_id,
        "type": kind,
        "status": status,
        "message": step.message,
        "output": None if step.result is None else dict(step.result),
    }


def _envelope(
    report: RunReport, steps: list[OperationReport], closing: OperationReport | None, *, unjudged: bool
) -> Document:
    """`unjudged`: done depends on gates, and no step names a tree that could be judged."""
    if unjudged and report.ok:
        return {"success": False, "failed_gates": [], "messages": [UNJUDGED]}
    if closing is None and report.ok:
        return {"success": True, "failed_gates": [], "messages": []}
    if closing is not None and closing.done and closing.result is not None:
        return {field: closing.result[field] for field in ("success", "failed_gates", "messages")}
    failed = _failed_gates(closing)
    if failed:
        return {
            "success": False,
            "failed_gates": [finding.rule for finding in failed],
            "messages": [finding.message for finding in failed],
        }
    culprit = next((step for step in steps if step.fault is not None), closing)
    if report.status == "refused":
        why = "nothing ran"
    else:
        why = "the run did not come to its end"
    if culprit is not None and culprit.fault is not None and report.status != "refused":
        if culprit is closing:
            why = culprit.message
        else:
            why = f"step '{culprit.operation_id}' failed"
    return {"success": False, "failed_gates": [], "messages": [f"The gates were not judged: {why}."]}


def _failed_gates(closing: OperationReport | None) -> list[Finding]:
    if closing is None:
        findings = ()
    else:
        findings = closing.findings
    return [finding for finding in findings if finding.fault is Fault.VERIFICATION_FAILED and finding.rule is not None]


def _error(report: RunReport, steps: list[OperationReport], closing: OperationReport | None) -> Document | None:
    """The first step that failed; else what is wrong with the plan, or with the judging."""
    if report.ok or (_failed_gates(closing) and all(step.fault is None for step in steps)):
        return None
    culprit = next((step for step in steps if step.fault is not None), None)
    if culprit is not None and culprit.fault is not None:
        return _summary(culprit.operation_id, culprit.fault, culprit.message, culprit.findings)
    findings = tuple(report.all_findings())
    if findings:
        return _summary(None, findings[0].fault, findings[0].message, findings)
    undone = ", ".join(step.operation_id for step in steps if not step.done)
    return _summary(None, Fault.EXECUTION_FAILED, f"the run is {report.status}; not done: {undone[:500]}", ())


def _summary(step: str | None, fault: Fault, message: str, findings: tuple[Finding, ...]) -> Document:
    problems = [{"pointer": one.pointer, "message": one.message, "cure": one.cure} for one in findings]
    return {"step_id": step, "code": fault.value, "message": message or fault.value, "problems": problems}


TOOLS = {"NODE_TREE": "geonodes.node_tree", "GN_OPS": "geonodes.patch", "PYTHON": "python.run"}
JUDGE = "geonodes.verify"
PLACES = Places(id="/id", tool="/type", args="/payload", depends_on="", safety_level="")
# What is wrong with the closing operation is wrong with done.
AT_DONE = "/done"
DONE_PLACES = Places(id="", tool="", args="", depends_on="", safety_level="")
PARTS: dict[str, Field] = {"id": "id", "type": "tool", "payload": "args"}

# Nodes that need not lead to the output.
NOT_JUDGED = FOR_THE_EYE | WORK_UNLINKED | {INPUT, OUTPUT}

Step = dict[str, Any]


def parse_document(document: Any) -> ParsedDocument:
    """The steps and the closing operation, with findings where the document breaks the protocol."""
    findings = tuple(checker("geonodes_plan.v1").findings(document))
    fields = fields_of(document)
    steps = [fields_of(item) for item in items_of(fields.get("steps"))]
    operations = _chained(steps, _unsound(findings, len(steps)))
    findings += tuple(_reserved(operations))
    if not findings:
        operations += _closing(fields, steps)
    return ParsedDocument(operations, findings, remarks=_remarks(fields, steps))


def _unsound(findings: Sequence[Finding], steps: int) -> list[set[Field]]:
    """The fields of each step that break the schema, read from where the findings point."""
    unsound: list[set[Field]] = [set() for _ in range(steps)]
    for finding in findings:
        parts = finding.pointer.split("/")
        if len(parts) > 2 and parts[1] == "steps":
            unsound[int(parts[2])].add(PARTS.get(parts[3], "other") if len(parts) > 3 else "other")
    return unsound


def _chained(steps: Sequence[Step], unsound_fields: Sequence[set[Field]]) -> tuple[Operation, ...]:
    """The steps as far as they can be read, each waiting for the one before."""
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
        if operations:
            waits_for = (operations[-1].id,)
        else:
            waits_for = ()
        if unsound:
            fields = frozenset(unsound)
        else:
            fields = SOUND
        args = cast("dict[str, Any]", args)
        operations.append(Operation(id, tool or "", args, waits_for, None, position, pointer, PLACES, fields))
    return tuple(operations)


def _closing(fields: dict[str, Any], steps: Sequence[Step]) -> tuple[Operation, ...]:
    """The gates of every tree that a step names. Without a tree there is nothing to judge."""
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
    """The nodes that the steps add and do not delete, by tree and node group: None is the group that the modifier has at the end."""
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
        for operation in payload["operations"] if step["type"] == "NODE_TREE" else payload["ops"]:
            match operation:
                case {"op": "create_node", "node_id": node, "bl_idname": kind}:
                    nodes.update({} if kind in NOT_JUDGED else {node: None})
                case {"op": "add_node", "id": node, "bl_idname": kind}:
                    nodes.update({} if kind in NOT_JUDGED else {node: None})
                case {"op": "delete_node" | "remove_node", "node_id": node}:
                    # Several modifiers may share a group, and a group may be named only later.
                    for (other, name), there in added.items():
                        if name == group or other == tree:
                            there.pop(node, None)
                case _:
                    pass
    return {place: list(nodes) for place, nodes in added.items()}


def _gates_required(fields: dict[str, Any]) -> bool:
    # Whatever else stands there breaks the schema, and requires them.
    return fields.get("meta", {}).get("requires_gate_verification") is not False


def _reserved(operations: Sequence[Operation]) -> Iterator[Finding]:
    for operation in operations:
        if operation.id == GATES:
            message, pointer = f"the id '{GATES}' is reserved", operation.pointer + PLACES.id
            yield Finding(Fault.SCHEMA_INVALID, message, pointer, "Choose another id.")


def _remarks(fields: dict[str, Any], steps: Sequence[Step]) -> dict[str, Any] | None:
    """What a result needs besides the report; None where the document is too broken for one."""
    if not isinstance(fields.get("done"), bool) or not isinstance(fields.get("final_message"), str):
        return None
    if not all(isinstance(step.get("id"), str) and str(step.get("type")) in TOOLS for step in steps):
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
    # A steps payload has none of these beside its steps; a geonodes plan that lacks one of them is still meant as one.
    recognises=lambda keys: "steps" in keys and not keys.isdisjoint({"version", "done", "final_message", "meta"}),
    parse_document=parse_document,
    render=render,
    tie_break="position",
    on_failure="stop",
    on_nondeterministic="accept",  # the protocol has Python steps, and nobody knows what code does
    conclusion=conclusion,
)
