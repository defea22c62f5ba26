"""Plans on a real worker: what is committed, what is known already, and what runs alone."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from blendwright.dialects import operations
from blendwright.engine.invocation import operation_key
from blendwright.plan.validate import validate_arguments
from blendwright.records.recovery import NewIntent
from blendwright.values.faults import Fault
from blendwright.values.report import OperationReport
from support.engine.engine import Engine
from support.plans.documents import box
from support.plans.named_plans import hashes, plan_of, statuses

pytestmark = pytest.mark.usefixtures("checked")


# ---------------------------------------------------------------------- success and idempotency


@pytest.mark.real_starts
@pytest.mark.proves("OPS-JOURNAL-01")
def test_every_operation_is_committed_with_a_receipt_and_all_ids(engine: Engine) -> None:
    before = engine.head().number
    report = engine.run(plan_of("receipts", box("a"), box("b", "a")))
    assert report.ok, report.to_json()
    for operation in report.operations:
        receipt = operation.receipt
        assert receipt is not None and operation.commit is not None
        commit = engine.journal.show(operation.commit)
        assert dict(commit.receipt) == dict(receipt) | {
            "handles": list(receipt["handles"]),
            "changes": list(receipt["changes"]),
        }
        assert receipt["status"] == "succeeded" and receipt["operation_key"] == commit.operation_key
        record = engine.records()[int(receipt["audit"]["sequence"]) - 1]
        for name in ("request_id", "operation_id", "mcp_call_id", "blender_mutation_id", "scene_hash_before"):
            assert record[name] == receipt[name], name
    assert engine.head().number == before + 2
    first, second = report.operations
    assert first.scene_hash_after == second.scene_hash_before != second.scene_hash_after == engine.scene.hash
    assert operations.render(report)["status"] == "succeeded"


@pytest.mark.proves("OPS-EXEC-01")
def test_what_a_plan_did_is_in_the_scene_that_blender_has(engine: Engine) -> None:
    assert engine.run(plan_of("real", box("a"))).ok
    worker = engine.scene.worker()
    worker.save("real.blend")
    file = worker.require_process().scratch / "real.blend"
    code = "import bpy, sys; bpy.ops.wm.open_mainfile(filepath=sys.argv[1]); print(len(bpy.data.meshes['real a'].vertices))"
    seen = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True, check=False)
    assert seen.stdout.split()[-1:] == ["8"], seen


@pytest.mark.proves("OPS-IDEM-02", "OPS-IDEM-04", "OPS-AUDIT-02", "OPS-IDEM-05")
def test_the_same_plan_twice_is_answered_from_the_journal_without_blender(engine: Engine) -> None:
    plan = plan_of("twice", box("a"), box("b", "a"), box("c"))
    first = engine.run(plan)
    head = engine.head()
    engine.scene.discard()
    second = engine.run(plan)
    assert set(statuses(second).values()) == {"skipped_idempotent"} and second.ok
    assert not engine.scene.ready, "nothing had to be rebuilt"
    assert engine.head() == head
    assert hashes(second) == hashes(first)
    assert [dict(operation.receipt or {})["blender_mutation_id"] for operation in second.operations] == [
        operation.blender_mutation_id for operation in first.operations
    ]
    assert [record["status"] for record in engine.records()[-3:]] == ["skipped_idempotent"] * 3
    assert operations.render(second)["receipts"][0]["status"] == "skipped_idempotent"


@pytest.mark.proves("OPS-IDEM-03")
def test_the_same_ids_with_other_arguments_conflict_and_nothing_runs(engine: Engine) -> None:
    engine.run(plan_of("changed", box("b")))
    head = engine.head()
    other = plan_of("changed", box("a"), box("b", args={"kind": "torus", "name": ""}), box("c", "b"))
    report = engine.run(other)
    assert statuses(report) == {"a": "skipped", "b": "failed", "c": "skipped"}
    conflict = report.operations[1]
    assert conflict.fault is Fault.IDEMPOTENCY_CONFLICT and "new operation id" in (conflict.findings[0].cure or "")
    assert engine.head() == head
    payload = operations.render(report)
    assert payload["error_code"] == "IDEMPOTENCY_CONFLICT"
    assert payload["minimal_repair_plan"] == [{"operation_id": "b", "action": "replace_args"}]


@pytest.mark.proves("OPS-IDEM-03")
def test_after_a_checkout_to_before_them_operations_conflict(engine: Engine) -> None:
    engine.run(plan_of("elsewhere-base", box("x")))
    base = engine.head().number
    plan = plan_of("elsewhere", box("a"))
    engine.run(plan)
    engine.journal.move_head("checkout", base)
    engine.scene.follow_head()
    report = engine.run(plan)
    assert report.operations[0].fault is Fault.IDEMPOTENCY_CONFLICT
    assert "checkout" in (report.operations[0].findings[0].cure or "")
    assert engine.head().number == base


@pytest.mark.proves("OPS-IDEM-02", "OPS-IDEM-04")
def test_a_second_run_completes_what_the_first_could_not(engine: Engine) -> None:
    listed = [box("a"), box("b", "a"), box("c", "b")]
    engine.run(plan_of("completed", *listed[:1]))
    report = engine.run(plan_of("completed", *listed))
    assert statuses(report) == {"a": "skipped_idempotent", "b": "succeeded", "c": "succeeded"} and report.ok


def test_readings_are_answers_only_for_the_scene_they_were_made_of(engine: Engine) -> None:
    look = box("b", "a", tool_name="scene.find", args={"name": "readings*"}, safety_level="read_only")
    first = engine.run(plan_of("readings", box("a"), look))
    assert statuses(first) == {"a": "succeeded", "b": "succeeded"}
    assert first.operations[1].commit is None and first.operations[1].receipt is not None
    assert statuses(engine.run(plan_of("readings", box("a"), look))) == {
        "a": "skipped_idempotent",
        "b": "skipped_idempotent",
    }
    more = engine.run(plan_of("readings", box("a"), look, box("a2", "a")))
    assert statuses(more) == {"a": "skipped_idempotent", "a2": "succeeded", "b": "succeeded"}


@pytest.mark.real_starts
@pytest.mark.proves("OPS-ORDER-01", "OPS-ORDER-04")
def test_two_workspaces_and_shuffled_input_give_equal_schedules_and_hashes(engine: Engine, tmp_path: Path) -> None:
    chance = random.Random(3)
    listed = [box(f"op{number:03d}", *([f"op{number - 7:03d}"] if number > 6 else [])) for number in range(150)]
    chance.shuffle(listed)
    with Engine(tmp_path / "one", spare=False) as one, Engine(tmp_path / "two", spare=False) as two:
        two.pool.warm()
        first = one.run(plan_of("shuffled", *listed))
        second = two.run(plan_of("shuffled", *sorted(listed, key=lambda item: item["operation_id"], reverse=True)))
    assert first.ok and second.ok
    assert list(statuses(first)) == list(statuses(second))
    assert first.schedule_hash == second.schedule_hash
    assert hashes(first) == hashes(second) and len(set(hashes(first))) == 150
    numbers = [operation.commit or 0 for operation in first.operations]
    assert numbers == sorted(numbers), "they were committed in the order of the schedule"


def test_nothing_is_acknowledged_before_its_commit(engine: Engine) -> None:
    seen: list[str] = []

    def progress(report: OperationReport) -> None:
        assert report.commit is not None
        assert engine.journal.show(report.commit).operation_id == report.operation_id
        assert engine.head().number >= report.commit
        seen.append(report.operation_id)

    report = engine.run(plan_of("acknowledged", *(box(f"op{number:03d}") for number in range(200))), progress=progress)
    assert report.ok and seen == list(statuses(report))


# ---------------------------------------------------------------------- operations that run alone


def test_what_touches_files_runs_alone_and_in_its_place(engine: Engine) -> None:
    target, library = engine.place / "alone.stl", engine.place / "crate.blend"
    engine.do("mesh.create_primitive", {"kind": "cube", "name": "Crate"})
    engine.do("file.export", {"path": str(library), "objects": ["Crate"]})
    engine.do("object.delete", {"name": "Crate"})
    before = [box(f"a{number:02d}") for number in range(10)]
    write = box("b", "a09", tool_name="file.export", args={"path": str(target)})
    read = box(
        "c", "b", tool_name="file.import", args={"path": str(library), "append": [{"kind": "objects", "name": "Crate"}]}
    )
    report = engine.run(plan_of("files", *before, write, read, box("d", "c")))
    assert report.ok, report.to_json()
    assert target.exists() and engine.journal.recovery.info().indeterminate == ()
    last = {operation.operation_id: operation for operation in report.operations}
    assert last["b"].scene_hash_before == last["b"].scene_hash_after and last["b"].commit is not None
    route = engine.journal.checkpoints.route(engine.head().number)
    assert route.checkpoint is not None and route.checkpoint.commit == last["c"].commit
    target.unlink()
    again = engine.run(plan_of("files", *before, write, read, box("d", "c")))
    assert again.ok and not target.exists(), "what was done before is not done again"


def test_a_path_outside_the_roots_refuses_the_plan_before_anything_runs(engine: Engine) -> None:
    head = engine.head()
    report = engine.run(plan_of("outside", box("a"), box("b", tool_name="file.export", args={"path": "/etc/x.stl"})))
    assert report.status == "refused" and engine.head() == head
    assert report.operations[1].findings[0].pointer == "/operations/1/args/path"


def test_an_effect_that_nobody_knows_of_keeps_its_operation_from_running(tmp_path: Path) -> None:
    target = tmp_path / "x.stl"
    plan = plan_of("unknown", box("a", tool_name="file.export", args={"path": str(target)}))
    with Engine(tmp_path, spare=False) as engine:
        engine.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
        args, _, _ = validate_arguments(engine.tools["file.export"], plan.operations[0].args)
        key = operation_key("unknown", "a", args)
        engine.journal.recovery.begin_intent(NewIntent(key, "unknown", "a", "file.export", "writes x.stl"))
    with Engine(tmp_path, spare=False) as engine:
        report = engine.run(plan)
        assert not engine.scene.ready
    assert report.operations[0].fault is Fault.IDEMPOTENCY_CONFLICT
    assert "recover" in (report.operations[0].findings[0].cure or "")
    payload = operations.render(report)
    assert payload["recoverable"] is False and payload["minimal_repair_plan"] == [], "a person has to look first"
    assert not target.exists()
