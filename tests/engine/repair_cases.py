"""Plans that are not carried through, one for each reason, with the repair that must come of it; for `test_repair_plans.py`."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from blendwright.dialects import operations
from blendwright.engine.options import RunOptions
from blendwright.engine.runner import Runner
from blendwright.journal import approvals as kept
from blendwright.plan.repair import refused
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.policy import LimitsAsked, Policy, Rules, Verdict
from blendwright.policy.session_contract import Proposal
from blendwright.tool_api.promises import Determinism
from blendwright.util.cancel import CancelToken
from blendwright.values.approval import ApprovalAnswer, ApprovalRequest, Approver
from blendwright.values.plan import Plan
from blendwright.values.report import OperationReport, RunReport
from support.engine.engine import Engine
from support.plans.documents import box

Document = dict[str, Any]


def cube(id: str, name: str, *waits_for: str, **fields: Any) -> Document:
    return box(id, *waits_for, args={"kind": "cube", "name": name}, **fields)


def move(id: str, name: str, *waits_for: str, **fields: Any) -> Document:
    args = {"name": name, "location": [1, 2, 3]}
    return box(id, *waits_for, tool_name="object.transform", args=args, **fields)


def delete(id: str, name: str, *waits_for: str) -> Document:
    return box(id, *waits_for, tool_name="object.delete", args={"name": name}, safety_level="destructive")


def trial(id: str, how: str, name: str, *waits_for: str) -> Document:
    return box(id, *waits_for, tool_name="trial.misbehave", args={"how": how, "name": name})


def nothing(engine: Engine) -> None:
    pass


def runs(request: str, *listed: Document) -> Callable[[Engine], None]:
    def prepare(engine: Engine) -> None:
        assert engine.run(operations.DIALECT.parse({"request_id": request, "operations": list(listed)})).ok

    return prepare


@dataclass
class Case:
    """A plan that is not carried through: why, and what its author puts in the place of what is to be replaced or to be added.

    `outcome` is the repair that must come, or None where the payload says that there is none."""

    code: str
    listed: list[Document]
    outcome: list[tuple[str, str]] | None
    replacement: Document = field(default_factory=dict[str, Any])
    precondition: Document = field(default_factory=dict[str, Any])
    prepare: Callable[[Engine], None] = nothing
    policy: Policy | None = None
    proposal: Proposal | None = None
    options: Callable[[Engine], dict[str, Any]] = lambda engine: {}
    person: Callable[[Engine], None] = nothing
    document: Document = field(default_factory=dict[str, Any])


class Person:
    name = "person"

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        return ApprovalAnswer.DECLINED


def says_yes(engine: Engine) -> None:
    """To everything that waits for an answer."""
    for one in engine.journal.approvals.listed():
        if one.state == "pending":
            kept.answer(engine.place / "workspace", one.request.id, ApprovalAnswer.APPROVED, "blendwright approve")


def goes_elsewhere(engine: Engine) -> None:
    runs("elsewhere", cube("x", "elsewhere base"))(engine)
    base = engine.head().number
    runs("elsewhere", cube("b", "elsewhere b"), move("c", "elsewhere b", "b"))(engine)
    engine.journal.move_head("checkout", base)
    engine.scene.follow_head()


def approves_another_scene(engine: Engine) -> None:
    """An approval that has become stale: the scene is another one since."""
    with engine.under(Policy()):
        runs("stale-things", cube("a", "stale"))(engine)
        attempt(engine, plan_of("stale", [delete("b", "stale")]))
        says_yes(engine)
        runs("stale-since", cube("a", "stale since"))(engine)


def cancels_after_one(engine: Engine) -> dict[str, Any]:
    token = CancelToken()

    def cancel(report: OperationReport) -> None:
        token.cancel()

    return {"cancel": token, "progress": cancel, "one_at_a_time": True}


def kills_after_one(engine: Engine) -> dict[str, Any]:
    """The worker is killed from outside while the plan runs."""

    def kill(report: OperationReport) -> None:
        if report.done:
            os.kill(engine.scene.worker().profile.pid, signal.SIGKILL)

    return {"progress": kill, "one_at_a_time": True}


CRATE = [{"kind": "objects", "name": "Crate"}]
LONG = [cube(f"op{number}", f"long {number}") for number in range(5)]
FEW = Proposal(limits=LimitsAsked(operations_per_plan=4))
TINY = Proposal(limits=LimitsAsked(payload_bytes=1024))

CASES: dict[str, Case] = {
    # ---- what is wrong with the plan itself
    "misspelt": Case(
        "TOOL_NOT_ALLOWED",
        [cube("a", "misspelt", tool_name="mesh.create_primitve"), cube("b", "misspelt b")],
        [("a", "replace_args")],
        {"tool_name": "mesh.create_primitive"},
    ),
    "unknown": Case(
        "TOOL_NOT_ALLOWED",
        [cube("a", "unknown"), cube("b", "x", tool_name="zzz.qqq")],
        [("b", "drop")],
    ),
    "unknown-needed": Case(
        "TOOL_NOT_ALLOWED",
        [cube("a", "needed", tool_name="zzz.qqq"), move("b", "needed", "a")],
        [("a", "replace_args")],
        {"tool_name": "mesh.create_primitive"},
    ),
    "arguments": Case(
        "ARGS_INVALID",
        [cube("a", "arguments"), box("b", "a", args={"kind": "cube", "size": "big"})],
        [("b", "replace_args")],
        {"args": {"kind": "cube", "name": "arguments b"}},
    ),
    "no-object": Case("SCHEMA_INVALID", [cube("a", "no object"), 5], [("/operations/1", "drop")]),  # type: ignore[list-item]
    "cycle": Case(
        "GRAPH_CYCLE",
        [cube("a", "cycle a", "c"), cube("b", "cycle b", "a"), cube("c", "cycle c", "b")],
        [("c", "drop")],
    ),
    "dependency": Case(
        "DEPENDENCY_MISSING",
        [move("b", "dependency", "a")],
        [("b", "insert_precondition")],
        precondition=cube("", "dependency"),
    ),
    "twice": Case("SCHEMA_INVALID", [cube("a", "twice"), cube("a", "twice too")], [("a", "drop")]),
    "too-long": Case("LIMIT_EXCEEDED", LONG, None, proposal=FEW),
    "no-request": Case("SCHEMA_INVALID", [cube("a", "no request")], None, document={"request_id": 5}),
    "other-field": Case("SCHEMA_INVALID", [cube("a", "other field")], None, document={"colour": "red"}),
    "empty": Case("SCHEMA_INVALID", [], None),
    "level": Case(
        "POLICY_BLOCKED",
        [cube("a", "level", safety_level="read_only")],
        [("a", "replace_args")],
        {"safety_level": "safe_write"},
    ),
    "payload": Case(
        "LIMIT_EXCEEDED",
        [box("a", tool_name="python.run", args={"code": f"# {'x' * 2000}"})],
        [("a", "replace_args")],
        {"args": {"code": "pass"}},
        proposal=TINY,
    ),
    # ---- what policy and contract have against it
    "denied": Case(
        "POLICY_BLOCKED",
        [cube("a", "denied"), box("b", "a", tool_name="object.rename", args={"name": "denied", "new_name": "other"})],
        [("b", "drop")],
        policy=Policy(policy=Rules(tools={"object.rename": Verdict.DENY})),
    ),
    "denied-needed": Case(
        "POLICY_BLOCKED",
        [box("a", tool_name="object.create_empty", args={"name": "denied needed"}), move("b", "denied needed", "a")],
        [("a", "replace_args")],
        {"tool_name": "mesh.create_primitive", "args": {"kind": "cube", "name": "denied needed"}},
        policy=Policy(policy=Rules(tools={"object.create_empty": Verdict.DENY})),
    ),
    "path": Case(
        "POLICY_BLOCKED",
        [cube("a", "path"), box("b", "a", tool_name="file.export", args={"path": "/etc/x.stl"})],
        [("b", "replace_args")],
        {"args": {"path": "PLACE/path.stl"}},
    ),
    "no-file": Case(
        "TARGET_NOT_FOUND",
        [
            cube("a", "no file"),
            box("b", "a", tool_name="file.import", args={"path": "PLACE/no-such.blend", "append": CRATE}),
        ],
        [("b", "replace_args")],
        {"tool_name": "object.create_empty", "args": {"name": "instead of a file"}},
    ),
    "nondeterministic": Case(
        "NONDETERMINISTIC_REFUSED",
        [cube("a", "seeded"), box("b", "a", tool_name="file.import", args={"path": "PLACE/no-such.stl"})],
        [("b", "replace_args")],
        {"tool_name": "object.create_empty", "args": {"name": "seeded instead"}},
        proposal=Proposal(determinism=Determinism.SEEDED),
    ),
    "trusted": Case(
        "POLICY_BLOCKED",
        [cube("a", "trusted"), box("b", "a", tool_name="python.run", args={"mode": "trusted", "code": "pass"})],
        [("b", "replace_args")],
        {"args": {"code": "pass"}},
    ),
    "unapproved": Case(
        "POLICY_BLOCKED",
        [cube("a", "unapproved"), delete("b", "unapproved", "a"), cube("c", "unapproved", "b")],
        [("b", "retry")],
        policy=Policy(),
        person=says_yes,
    ),
    "stale": Case(
        "POLICY_BLOCKED",
        [delete("b", "stale")],
        [("b", "retry")],
        policy=Policy(),
        prepare=approves_another_scene,
        person=says_yes,
    ),
    "declined": Case(
        "POLICY_BLOCKED",
        [cube("a", "declined"), delete("b", "declined", "a")],
        [("b", "drop")],
        policy=Policy(),
        options=lambda engine: {"approver": Approver(Person())},
    ),
    # ---- what was done before
    "changed": Case(
        "IDEMPOTENCY_CONFLICT",
        [cube("a", "changed a"), cube("b", "changed other"), move("c", "changed b", "b")],
        [("b", "replace_args")],
        {"args": {"kind": "cube", "name": "changed b"}},
        prepare=runs("changed", cube("b", "changed b")),
    ),
    "changed-id": Case(
        "IDEMPOTENCY_CONFLICT",
        [cube("b", "changed id other"), move("c", "changed id other", "b")],
        [("b", "replace_args")],
        {"operation_id": "b.2"},
        prepare=runs("changed-id", cube("b", "changed id b")),
    ),
    "elsewhere": Case(
        "IDEMPOTENCY_CONFLICT",
        [cube("b", "elsewhere b"), move("c", "elsewhere b", "b")],
        [("b", "replace_args"), ("c", "replace_args")],
        {"operation_id": "ID.2"},
        prepare=goes_elsewhere,
    ),
    # ---- what goes wrong in Blender
    "name": Case(
        "SCENE_CONFLICT",
        [cube("a", "Anchor"), move("b", "Anchor", "a")],
        [("a", "replace_args")],
        {"args": {"kind": "cube", "name": "Another"}},
    ),
    "missing": Case(
        "TARGET_NOT_FOUND",
        [cube("a", "missing a"), move("b", "missing thing", "a")],
        [("b", "insert_precondition")],
        precondition=cube("", "missing thing"),
    ),
    "raises": Case(
        "EXECUTION_FAILED",
        [cube("a", "raises a"), trial("b", "raise", "raises", "a")],
        [("b", "replace_args")],
        {"args": {"how": "nothing", "name": "raises"}},
    ),
    "unverified": Case(
        "VERIFICATION_FAILED",
        [trial("b", "unverified", "unverified")],
        [("b", "replace_args")],
        {"args": {"how": "nothing", "name": "unverified"}},
    ),
    "crashes": Case(
        "WORKER_LOST",
        [cube("a", "crashes a"), trial("b", "crash", "crashes", "a")],
        [("b", "replace_args")],
        {"args": {"how": "nothing", "name": "crashes"}},
    ),
    "killed": Case(
        "WORKER_LOST",
        [cube("a", "killed a"), cube("b", "killed b", "a"), cube("c", "killed c", "b")],
        [("b", "retry")],
        options=kills_after_one,
    ),
    "runs-away": Case(
        "TOOL_TIMEOUT",
        [cube("a", "runs away a"), trial("b", "run_away", "runs away", "a")],
        [("b", "replace_args")],
        {"args": {"how": "nothing", "name": "runs away"}},
        options=lambda engine: {"call_seconds": 1.0},
    ),
    "code-runs-away": Case(
        "TOOL_TIMEOUT",
        [box("b", tool_name="python.run", args={"code": "while True: pass", "timeout_ms": 500})],
        [("b", "replace_args")],
        {"args": {"code": "pass"}},
    ),
    "late": Case(
        "TOOL_TIMEOUT",
        [cube("a", "late a"), cube("b", "late b", "a")],
        [("a", "retry")],
        options=lambda engine: {"timeout": 0.0, "one_at_a_time": True},
    ),
    "cancelled": Case(
        "CANCELLED",
        [cube("a", "cancelled a"), cube("b", "cancelled b", "a")],
        [("b", "retry")],
        options=cancels_after_one,
    ),
}


def plan_of(request: str, listed: list[Document], **fields: Any) -> Plan:
    return operations.DIALECT.parse({"request_id": request, "operations": listed} | fields)


def attempt(engine: Engine, plan: Plan, **options: Any) -> RunReport:
    """The way of every plan: refused with all findings, or run."""
    valid = validate(plan, engine.tools, engine.draft.terms)
    if not isinstance(valid, ValidPlan):
        return refused(plan, valid)
    return Runner(engine.session).run(valid.schedule(engine.catalogue, engine.scene.hash), RunOptions(**options))
