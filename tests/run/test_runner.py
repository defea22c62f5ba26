"""Plans on a real worker: idempotency, failure policies, boundaries, deadlines, cancellation, lost workers."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from blendwright.contracts.journal_entries import NewIntent
from blendwright.contracts.policy import Constraints, Policy
from blendwright.contracts.worker_port import CancelToken
from blendwright.dialects import operations, steps
from blendwright.plan.arguments import canonical_arguments
from blendwright.run.keys import operation_key
from blendwright.values import crash_points
from blendwright.values.errors import EnvironmentUnfit
from blendwright.values.faults import Fault
from blendwright.values.plan import Plan
from blendwright.values.report import OperationReport, RunReport
from engine import Engine
from journal import ledger
from plans import box, step


@pytest.fixture(autouse=True)
def checked(engine: Engine) -> Iterator[None]:
    """After every test the scene that HEAD names is the one in the worker, and the audit chain holds."""
    yield
    assert engine.full_hash() == engine.scene.hash == engine.head().hash_after
    assert engine.journal.verify_audit().ok


def plan_of(request: str, *listed: dict[str, Any], boundary: Any = "operation") -> Plan:
    named = [item | {"args": item["args"] | {"name": f"{request} {item['operation_id']}"}} if "kind" in item["args"] else item
             for item in listed]  # fmt: skip
    return operations.parse({"request_id": request, "operations": named}, boundary=boundary)


def steps_of(request: str, *listed: dict[str, Any]) -> Plan:
    for item in listed:
        if "kind" in item["tool"]["args"]:
            item["tool"]["args"]["name"] = f"{request} {item['step_id']}"
    return steps.parse({"steps": list(listed)}, request_id=request)


def trial(id: str, how: str, *waits_for: str) -> dict[str, Any]:
    return box(id, *waits_for, tool_name="trial.misbehave", args={"how": how, "name": f"trial {id}"})


def trial_step(id: str, how: str, *waits_for: str) -> dict[str, Any]:
    return step(id, *waits_for, tool={"name": "trial.misbehave", "args": {"how": how, "name": f"trial {id}"}})


def statuses(report: RunReport) -> dict[str, str]:
    return {operation.operation_id: operation.status for operation in report.operations}


def hashes(report: RunReport) -> list[str | None]:
    return [operation.scene_hash_after for operation in report.operations]


# ---------------------------------------------------------------------- success and idempotency


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


@pytest.mark.proves("OPS-IDEM-02", "OPS-IDEM-04", "OPS-AUDIT-02")
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
    assert conflict.fault is Fault.IDEMPOTENCY_CONFLICT and "new request id" in (conflict.findings[0].cure or "")
    assert engine.head() == head
    payload = operations.render(report)
    assert payload["error_code"] == "IDEMPOTENCY_CONFLICT"
    assert payload["minimal_repair_plan"] == [{"operation_id": "b", "action": "retry"}]


@pytest.mark.proves("OPS-IDEM-03")
def test_after_a_checkout_to_before_them_operations_conflict(engine: Engine) -> None:
    engine.run(plan_of("elsewhere-base", box("x")))
    base = engine.head().number
    plan = plan_of("elsewhere", box("a"))
    engine.run(plan)
    engine.journal.move_head("checkout", base)
    engine.scene.head_moved()
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


# ---------------------------------------------------------------------- failures


@pytest.mark.proves("OPS-DEP-01", "OPS-ROLL-01", "OPS-ROLL-05")
def test_an_operations_plan_stops_at_its_first_failure_and_what_was_done_stands(engine: Engine) -> None:
    many = [box(f"z{number:02d}") for number in range(70)]
    report = engine.run(plan_of("stops", box("a"), trial("b", "raise", "a"), box("c", "b"), *many))
    found = statuses(report)
    assert (found["a"], found["b"], found["c"], found["z00"]) == ("succeeded", "failed", "skipped", "skipped")
    assert report.status == "failed" and report.operations[2].blocked and not report.operations[3].blocked
    failed = report.operations[1]
    assert failed.fault is Fault.EXECUTION_FAILED
    assert engine.records()[-1]["status"] == "rolled_back"
    payload = operations.render(report)
    assert payload["error_code"] == "EXECUTION_FAILED"
    assert payload["minimal_repair_plan"] == [{"operation_id": "b", "action": "replace_args"}]
    assert engine.head().operation_id == "a", "what was sent behind the failure left nothing"


@pytest.mark.proves("STEPS-SEM-02", "STEPS-SEM-03", "STEPS-SEM-04", "STEPS-SEM-05")
def test_a_steps_plan_goes_on_without_the_dependents_of_a_failure(engine: Engine) -> None:
    plan = steps_of(
        "goes-on", step("a"), trial_step("bad", "fail"), step("c", "bad"), step("d", "c"), step("e", "a"),
        step("odd", tool={"name": "no.such_tool", "args": {}}), step("f"), trial_step("worse", "raise", "f"), step("g"),
    )  # fmt: skip
    report = engine.run(plan)
    assert statuses(report) == {
        "a": "succeeded", "bad": "failed", "c": "skipped", "d": "skipped", "e": "succeeded", "odd": "failed",
        "f": "succeeded", "worse": "failed", "g": "succeeded",
    }  # fmt: skip
    meta = steps.render(report)
    assert meta is not None
    assert meta[-1]["task_status"] == "FAILED"
    assert meta[-1]["blocked_steps"] == ["c", "d"]
    assert meta[-1]["failed_steps"] == ["bad", "odd", "worse"]
    bad = report.operations[1]
    assert bad.findings[0].pointer == "/steps/1/tool/args/how"


@pytest.mark.proves("OPS-ROLL-02", "OPS-AUDIT-04")
def test_a_failed_reading_needs_no_rollback(engine: Engine) -> None:
    worker, before = engine.scene.worker(), engine.head()
    look = box("a", tool_name="object.inspect", args={"name": "Nobody"}, safety_level="read_only")
    report = engine.run(plan_of("looks", look))
    assert statuses(report) == {"a": "failed"} and report.status == "failed"
    record = engine.records()[-1]
    assert (record["status"], record["blender_mutation_id"]) == ("failed", None)
    assert record["scene_hash_after"] in (None, before.hash_after)
    assert engine.scene.worker() is worker and engine.head() == before


@pytest.mark.proves("OPS-AUDIT-01", "OPS-AUDIT-02", "OPS-AUDIT-03")
def test_every_executed_operation_has_its_record(engine: Engine) -> None:
    look = box("b", "a", tool_name="scene.find", args={"name": "*"}, safety_level="read_only")
    plan = plan_of("audited", box("a"), look, trial("c", "raise", "b"))
    start = len(engine.records())
    report = engine.run(plan)
    engine.run(plan)
    records = engine.records()[start:]
    again = ("skipped_idempotent", "skipped_idempotent", "rolled_back")
    assert [(record["operation_id"], record["status"]) for record in records] == [
        *zip("abc", ("succeeded", "succeeded", "rolled_back"), strict=True),
        *zip("abc", again, strict=True),
    ]
    for record, operation in zip(records, report.operations, strict=False):
        assert record["request_id"] == "audited" and record["timestamp"].endswith("Z")
        assert (record["tool_name"], record["safety_level"]) == (operation.tool, operation.safety_level)
        assert record["mcp_call_id"] == operation.mcp_call_id
        assert record["blender_mutation_id"] == operation.blender_mutation_id
        assert record["scene_hash_before"] == operation.scene_hash_before
    assert records[0]["blender_mutation_id"] and not records[1]["blender_mutation_id"]
    assert len({record["mcp_call_id"] for record in records}) == 6


@pytest.mark.proves("OPS-AUDIT-02")
def test_a_check_that_fails_is_recorded_as_failed_and_one_that_wrote_as_rolled_back(engine: Engine) -> None:
    missing = step("a", tool={"name": "object.delete", "args": {"name": "Nobody"}})
    engine.run(steps_of("recorded", missing, trial_step("b", "unverified")))
    assert [record["status"] for record in engine.records()[-2:]] == ["failed", "rolled_back"]


@pytest.mark.proves("OPS-ROLL-03")
def test_a_step_that_cannot_be_taken_back_is_rebuilt_and_the_plan_goes_on(engine: Engine) -> None:
    report = engine.run(steps_of("rebuilt", step("a"), trial_step("b", "irreversible"), step("c")))
    assert statuses(report) == {"a": "succeeded", "b": "failed", "c": "succeeded"}


@pytest.mark.proves("OPS-ROLL-04", "OPS-ROLL-05")
def test_a_rebuild_that_leads_elsewhere_is_a_failed_rollback_with_the_latest_checkpoint(tmp_path: Path) -> None:
    with Engine(tmp_path, spare=False) as engine:
        engine.do("object.create_empty", {"name": "Pivot"})
        engine.scene.checkpoint()
        checkpointed = engine.head()
        engine.do("object.create_empty", {"name": "Later"})
        # A worker whose memory is not what the journal says: the next commits join, and cannot be redone.
        worker = engine.scene.worker()
        hidden = {"tool": "object.create_empty", "version": 1, "args": {"name": "Hidden"}}
        strayed = worker.call("scene.step", hidden, deadline=30)["after"]
        engine.ledger.write([_smuggled(engine, strayed)])
        report = engine.run(plan_of("strays", box("a"), trial("b", "irreversible", "a"), box("c")))
    assert statuses(report) == {"a": "succeeded", "b": "failed", "c": "skipped"}
    assert report.operations[1].fault is Fault.ROLLBACK_FAILED
    assert report.checkpoint is not None and report.checkpoint["commit"] == checkpointed.number
    payload = operations.render(report)
    assert (payload["error_code"], payload["recoverable"], payload["minimal_repair_plan"]) == (
        "ROLLBACK_FAILED",
        False,
        [],
    )


def _smuggled(engine: Engine, after: str) -> Any:
    """A commit that claims to have led to `after` by something else than what did."""
    return ledger.operation("smuggled", engine.scene.hash, after, args={"name": "Another"})


# ---------------------------------------------------------------------- boundary


@pytest.mark.proves("OPS-ROLL-01", "OPS-ROLL-03")
def test_a_plan_that_is_kept_whole_is_taken_back_by_a_failure(engine: Engine) -> None:
    before, seen = engine.head(), list[str]()
    listed = [box("a"), box("b", "a"), trial("c", "raise", "b"), box("d")]
    plan = plan_of("whole", *listed, boundary="plan")

    def progress(found: OperationReport) -> None:
        seen.append(f"{found.operation_id} {found.status}")

    report = engine.run(plan, progress=progress)
    assert statuses(report) == {"a": "rolled_back", "b": "rolled_back", "c": "failed", "d": "skipped"}
    assert report.status == "rolled_back" and seen == ["a rolled_back", "b rolled_back", "c failed", "d skipped"]
    assert engine.head() == before and engine.full_hash() == before.hash_after
    told = [(record["operation_id"], record["status"]) for record in engine.records()[-3:]]
    assert told == [("c", "rolled_back"), ("b", "rolled_back"), ("a", "rolled_back")]
    again = engine.run(plan_of("whole", box("a"), box("b", "a"), boundary="plan"))
    assert again.ok and set(statuses(again).values()) == {"succeeded"}
    assert engine.journal.recovery().boundary is None


def test_a_plan_that_is_kept_whole_acknowledges_nothing_before_it_is_kept(engine: Engine) -> None:
    open_ones: list[bool] = []
    plan = plan_of("kept", *(box(f"op{number:03d}") for number in range(150)), boundary="plan")

    def progress(found: OperationReport) -> None:
        open_ones.append(engine.journal.recovery().boundary is not None)

    report = engine.run(plan, progress=progress)
    assert report.ok and open_ones == [False] * 150


def test_a_plan_that_is_kept_whole_leaves_nothing_behind_when_no_blender_can_be_had_any_more(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = engine.head()

    def no_blender() -> NoReturn:
        raise EnvironmentUnfit("no Blender, on purpose")

    def lose() -> None:
        monkeypatch.setattr(engine.pool, "take", no_blender)
        engine.kill_worker()

    plan = plan_of("gone", *(box(f"op{number:03d}") for number in range(150)), boundary="plan")
    crash_points.arm("plan.committed:1", lose)
    with pytest.raises(EnvironmentUnfit):
        engine.run(plan)
    monkeypatch.undo()
    assert engine.head() == before and engine.journal.open_boundary() is None
    # What is done next is nobody's to take back.
    assert engine.run(plan_of("next", box("a"))).ok
    assert engine.journal.recovery().boundary is None


# ---------------------------------------------------------------------- deadlines, cancellation, lost workers


def test_an_operation_past_its_deadline_fails_and_independent_ones_go_on(engine: Engine) -> None:
    plan = steps_of("late", step("a"), trial_step("b", "run_away"), step("c", "b"), step("d"))
    with engine.under(Policy(constraints=Constraints(call_seconds=0.5))):
        report = engine.run(plan)
    assert statuses(report) == {"a": "succeeded", "b": "failed", "c": "skipped", "d": "succeeded"}
    assert report.operations[1].fault is Fault.TOOL_TIMEOUT


def test_a_run_past_its_deadline_ends_and_what_was_done_stands(engine: Engine) -> None:
    report = engine.run(steps_of("over", step("a"), trial_step("b", "run_away"), step("c")), seconds=1.0)
    assert statuses(report) == {"a": "succeeded", "b": "failed", "c": "skipped"}
    assert report.operations[1].fault is Fault.TOOL_TIMEOUT
    assert engine.head().operation_id == "a"


def test_a_cancelled_run_keeps_what_was_answered_and_says_what_stands(engine: Engine) -> None:
    token = CancelToken()

    def progress(report: OperationReport) -> None:
        if report.operation_id == "a":
            token.cancel()

    plan = steps_of("cancelled", step("a"), trial_step("b", "run_away"), step("c"))
    report = engine.run(plan, cancel=token, progress=progress)
    assert statuses(report) == {"a": "succeeded", "b": "skipped", "c": "skipped"}
    assert report.status == "partial" and report.operations[1].fault is Fault.CANCELLED
    result = steps.render(report)
    assert result is not None and result[-1]["task_status"] == "PARTIAL"
    assert engine.head().operation_id == "a"
    done = engine.run(steps_of("cancelled", step("a"), step("c")))
    assert statuses(done) == {"a": "skipped_idempotent", "c": "succeeded"}


def test_a_run_that_is_cancelled_before_it_begins_does_nothing(engine: Engine) -> None:
    head, token = engine.head(), CancelToken()
    token.cancel()
    report = engine.run(plan_of("never", box("a"), box("b")), cancel=token)
    assert statuses(report) == {"a": "skipped", "b": "skipped"}
    assert operations.render(report)["error_code"] == "CANCELLED"
    assert engine.head() == head


@pytest.mark.parametrize("at", [0, 1, 40, 100, 199])
def test_a_worker_killed_in_the_middle_loses_nothing_that_was_answered(engine: Engine, at: int) -> None:
    listed = [step(f"s{number:03d}") for number in range(200)]
    seen: list[OperationReport] = []

    def progress(report: OperationReport) -> None:
        seen.append(report)
        if len(seen) == at + 1:
            os.kill(engine.scene.worker().pid, signal.SIGKILL)

    report = engine.run(steps_of(f"killed-{at}", *listed), progress=progress)
    acknowledged = [operation.operation_id for operation in seen if operation.status == "succeeded"]
    assert [operation.operation_id for operation in report.operations if operation.done] == acknowledged
    lost = [operation for operation in report.operations if not operation.done]
    assert len(lost) <= 1 and all(operation.fault is Fault.WORKER_LOST for operation in lost)
    again = engine.run(steps_of(f"killed-{at}", *listed))
    assert again.ok
    assert [operation.operation_id for operation in again.operations if operation.status == "succeeded"] == [
        operation.operation_id for operation in lost
    ]
    engine.kill_worker()  # after the last operation nobody had a reason to notice the death of the one before


@pytest.mark.parametrize(("how", "fault"), [("crash", Fault.WORKER_LOST), ("run_away", Fault.TOOL_TIMEOUT)])
def test_the_one_that_ends_its_worker_is_found_among_many(engine: Engine, how: str, fault: Fault) -> None:
    listed = [step(f"s{number:03d}") for number in range(200)]
    listed[120] = trial_step("s120", how)
    with engine.under(Policy(constraints=Constraints(call_seconds=0.7))):
        report = engine.run(steps_of(f"found-{how}", *listed))
    failed = {operation.operation_id: operation.fault for operation in report.operations if not operation.done}
    assert failed == {"s120": fault}


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
    assert target.exists() and engine.journal.recovery().indeterminate == ()
    last = {operation.operation_id: operation for operation in report.operations}
    assert last["b"].scene_hash_before == last["b"].scene_hash_after and last["b"].commit is not None
    route = engine.journal.route(engine.head().number)
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
        args, _ = canonical_arguments(engine.tools["file.export"], plan.operations[0].args)
        key = operation_key("unknown", "a", args)
        engine.journal.begin_intent(NewIntent(key, "unknown", "a", "file.export", "writes x.stl"))
    with Engine(tmp_path, spare=False) as engine:
        report = engine.run(plan)
        assert not engine.scene.ready
    assert report.operations[0].fault is Fault.IDEMPOTENCY_CONFLICT
    assert "recover" in (report.operations[0].findings[0].cure or "")
    assert not target.exists()
