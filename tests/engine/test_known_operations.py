"""What a plan is told of operations that were done before: under either name of their tool, and after their effect was taken back."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.policy.session_contract import Proposal
from blendwright.schemas.check import Checker
from blendwright.schemas.published import schema
from blendwright.values.faults import Fault
from blendwright.values.report import RunReport
from support.plans.documents import box, step

GRANTED = blendwright.Approver(grants=frozenset({"destructive"}))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("known") / "workspace"


@pytest.fixture(scope="module")
def scene(place: Path) -> Generator[blendwright.OpenScene]:
    with blendwright.open(place, spare=False, approver=GRANTED) as opened:
        yield opened


def plan(request: str, *operations: dict[str, Any]) -> dict[str, Any]:
    return {"request_id": request, "operations": list(operations)}


def delete(id: str, name: str, *waits_for: str) -> dict[str, Any]:
    return box(id, *waits_for, tool_name="object.delete", args={"name": name}, safety_level="destructive")


def move(id: str, name: str, x: float, *waits_for: str) -> dict[str, Any]:
    return box(id, *waits_for, tool_name="object.transform", args={"name": name, "location": [x, 0, 0]})


def run(scene: blendwright.OpenScene, document: dict[str, Any]) -> RunReport:
    report = scene.run(document)
    assert report.ok, report.all_findings()
    return report


def statuses(report: RunReport) -> list[str]:
    return [operation.status for operation in report.operations]


def test_plans_take_the_name_that_hosts_see(scene: blendwright.OpenScene) -> None:
    under_mcp_name = scene.run(plan("named", box("a", tool_name="mesh_create_primitive")))
    assert under_mcp_name.ok
    (operation,) = under_mcp_name.operations
    assert operation.tool == "mesh.create_primitive"
    assert operation.receipt is not None and operation.receipt["tool_name"] == "mesh.create_primitive"
    own = scene.run(plan("named", box("a")))
    assert statuses(own) == ["skipped_idempotent"]
    assert own.operations[0].receipt == operation.receipt, "one operation, one key"
    steps = scene.run({"steps": [step("s", tool={"name": "object_create_empty", "args": {"name": "S"}})]})
    assert steps.ok and steps.operations[0].tool == "object.create_empty"
    assert scene.outcome("object_create_empty", {"name": "Called"}).tool == "object.create_empty"


def test_a_name_that_nothing_has_is_refused_as_before(scene: blendwright.OpenScene) -> None:
    report = scene.run(plan("unknown", box("a", tool_name="mesh_create_primitiv")))
    (finding,) = report.all_findings()
    assert (finding.fault, finding.pointer) == (Fault.TOOL_NOT_ALLOWED, "/operations/0/tool_name")


def test_a_receipt_names_the_commit_that_took_its_effect_back(scene: blendwright.OpenScene) -> None:
    makes = plan("makes", box("x"), box("y"), move("z", "Box y", 4, "y"))
    made = run(scene, makes)
    commit = run(scene, plan("deletes", delete("d", "Box x"))).operations[0].commit
    again = scene.run(makes)
    assert statuses(again) == ["skipped_idempotent"] * 3
    x, y, z = again.operations
    assert x.receipt is not None and x.receipt["superseded_by"] == commit
    assert [one.receipt for one in (y, z)] == [one.receipt for one in made.operations[1:]], "these stand"
    assert not list(Checker(schema("receipt.v1"), Fault.SCHEMA_INVALID, str).findings(dict(x.receipt)))
    scene.history.undo()
    stands = scene.run(makes).operations[0].receipt
    assert stands is not None and "superseded_by" not in stands, "the deletion is not part of this scene"


def test_a_change_that_was_taken_back_exactly_is_superseded(scene: blendwright.OpenScene) -> None:
    run(scene, plan("there", box("c")))
    run(scene, plan("moves", move("m", "Box c", 7)))
    commit = run(scene, plan("back", move("m", "Box c", 0))).operations[0].commit
    receipt = scene.run(plan("moves", move("m", "Box c", 7))).operations[0].receipt
    assert receipt is not None and receipt["superseded_by"] == commit


def test_what_a_plan_takes_back_itself_is_part_of_it(scene: blendwright.OpenScene) -> None:
    both = plan("both", box("e"), delete("gone", "Box e", "e"))
    run(scene, both)
    assert scene.call("object.create_empty", name="Later").ok
    again = scene.run(both)
    assert statuses(again) == ["skipped_idempotent"] * 2
    assert all(one.receipt is not None and "superseded_by" not in one.receipt for one in again.operations)


@pytest.mark.proves("OPS-IDEM-03")
def test_with_a_strict_contract_it_is_a_conflict_that_names_both_commits(
    scene: blendwright.OpenScene, place: Path
) -> None:
    """Comes last: the workspace is opened again, under the word of a host and under that of the policy."""
    run(scene, plan("strictly", box("s")))
    run(scene, plan("strictly-gone", delete("d", "Box s")))
    scene.close()
    for proposal in (Proposal(idempotency="strict"), None):
        if proposal is None:
            (place / "blendwright.toml").write_text('[constraints]\nidempotency = "strict"\n')
        with blendwright.open(place, spare=False, proposal=proposal) as strict:
            before = strict.hash
            report = strict.run(plan("strictly", box("s")))
            assert not report.ok and strict.hash == before
            (finding,) = report.all_findings()
            assert finding.fault is Fault.IDEMPOTENCY_CONFLICT
            assert "reverted its effect" in finding.message and "checkout" in (finding.cure or "")
            assert strict.contract.constraints.idempotency == "strict"
            assert statuses(strict.run(plan("there", box("c")))) == ["skipped_idempotent"], "this one stands"
