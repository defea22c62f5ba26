"""Plans that fail on a real worker: what stops, what goes on, what is recorded, and what a boundary takes back."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any, NoReturn

import pytest

from blendwright.dialects import operations, steps
from blendwright.util import crash_points
from blendwright.values.errors import EnvironmentUnfit
from blendwright.values.faults import Fault
from blendwright.values.report import OperationReport
from journal import ledger
from support.engine.engine import Engine
from support.plans.documents import box, step
from support.plans.named_plans import plan_of, statuses, steps_of, trial, trial_step

pytestmark = pytest.mark.usefixtures("checked")


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


@pytest.mark.proves("STEPS-STATUS-01", "STEPS-STATUS-02")
def test_a_caller_reads_the_state_of_the_whole_and_of_each_step_from_the_result(engine: Engine) -> None:
    report = engine.run(steps_of("read", step("a"), trial_step("b", "fail", "a"), step("c", "b")))
    result = steps.render(report)
    assert result is not None
    done, failed, skipped, meta = result
    assert (meta["task_status"], meta["ok"]) == ("FAILED", False)
    assert (done["ok"], done["skipped"], done["error"]) == (True, False, None)
    assert (failed["ok"], failed["skipped"]) == (False, False) and "failed on purpose" in failed["error"]
    assert (skipped["ok"], skipped["skipped"], skipped["reason"]) == (False, True, "waits for 'b', which failed")


def test_a_steps_plan_of_which_thousands_of_steps_fail_is_over_in_seconds(engine: Engine) -> None:
    nowhere: dict[str, Any] = {"name": "no.such_tool", "args": {}}
    many = [step(f"s{number}", *["first"] * 100, tool=nowhere) for number in range(2000)]
    plan = steps_of("many-fail", step("first", tool={"name": "scene.find", "args": {}}), *many)
    began = process_time()
    assert engine.run(plan).status == "failed"
    assert process_time() - began < 10


def test_what_waits_for_a_step_with_a_long_id_does_not_repeat_it(engine: Engine) -> None:
    plan = steps_of("long", trial_step("l" * 10_000, "fail"), *(step(f"s{n}", "l" * 10_000) for n in range(3)))
    report = engine.run(plan)
    assert all(operation.blocked and len(operation.message) < 200 for operation in report.operations[1:])


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


@pytest.mark.proves("OPS-AUDIT-01", "OPS-AUDIT-02", "OPS-AUDIT-03", "OPS-CORR-08")
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
        engine.session.ledger.write([_smuggled(engine, strayed)])
        told: list[str] = []
        strays = plan_of("strays", box("a"), trial("b", "irreversible", "a"), box("c"))

        def note(one: OperationReport) -> None:
            told.append(one.operation_id)

        report = engine.run(strays, progress=note)
    assert statuses(report) == {"a": "succeeded", "b": "failed", "c": "skipped"}
    assert report.operations[1].fault is Fault.ROLLBACK_FAILED
    assert told == ["a", "b", "c"], "each once, also where a failure turned out to be worse"
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


@pytest.mark.proves("OPS-ROLL-01", "OPS-ROLL-03", "OPS-ROLL-06")
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
    assert engine.journal.recovery.info().boundary is None


def test_a_plan_that_is_kept_whole_acknowledges_nothing_before_it_is_kept(engine: Engine) -> None:
    open_ones: list[bool] = []
    plan = plan_of("kept", *(box(f"op{number:03d}") for number in range(150)), boundary="plan")

    def progress(found: OperationReport) -> None:
        open_ones.append(engine.journal.recovery.info().boundary is not None)

    report = engine.run(plan, progress=progress)
    assert report.ok and open_ones == [False] * 150


def test_a_plan_that_is_kept_whole_leaves_nothing_behind_when_no_blender_can_be_had_any_more(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = engine.head()

    def no_blender(*, bare: bool = False, seconds: float | None = None) -> NoReturn:
        raise EnvironmentUnfit("no Blender, on purpose")

    def lose() -> None:
        monkeypatch.setattr(engine.pool, "take", no_blender)
        engine.kill_worker()

    # More than two bulks, which are on their way when the first operations are committed.
    plan = plan_of("gone", *(box(f"op{number:03d}") for number in range(400)), boundary="plan")
    crash_points.arm("plan.committed:1", lose)
    with pytest.raises(EnvironmentUnfit):
        engine.run(plan)
    monkeypatch.undo()
    assert engine.head() == before and engine.journal.recovery.open_boundary() is None
    # What is done next is nobody's to take back.
    assert engine.run(plan_of("next", box("a"))).ok
    assert engine.journal.recovery.info().boundary is None
