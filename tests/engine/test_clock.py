"""The clock of the machine is set, back and forward, in the middle of things: nothing is lost, doubled, or lasts longer for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest

from blendwright.engine import ledger
from blendwright.journal import Journal, approvals, store
from blendwright.values.approval import ApprovalAnswer, ApprovalRequest
from blendwright.values.errors import Refusal
from support.engine.engine import Engine
from support.plans.documents import box, of_operations

DAY = 86_400.0


class Clock:
    """The time of day as the program reads it; a test sets it."""

    def __init__(self, real: Callable[[], float]) -> None:
        self._real = real
        self.offset = 0.0

    def time(self) -> float:
        return self._real() + self.offset


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock(time.time)

    class Dated(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime.fromtimestamp(0, UTC) + timedelta(seconds=clock.time())

    monkeypatch.setattr(time, "time", clock.time)
    monkeypatch.setattr(store, "datetime", Dated)
    monkeypatch.setattr(ledger, "datetime", Dated)
    yield clock


@pytest.mark.usefixtures("checked")
@pytest.mark.parametrize("jump", [-400 * DAY, -1.0, 400 * DAY])
def test_a_clock_that_is_set_while_a_plan_runs_changes_nothing_of_it(engine: Engine, clock: Clock, jump: float) -> None:
    def progress(report: object) -> None:
        clock.offset = jump

    names = [f"at {jump} {number}" for number in range(6)]
    listed = [box(f"o{place}", args={"kind": "cube", "name": name}) for place, name in enumerate(names)]
    plan = of_operations(*listed, request_id=f"clock {jump}")
    report = engine.run(plan, progress=progress, timeout=300.0, one_at_a_time=True)
    assert report.ok and [operation.status for operation in report.operations] == ["succeeded"] * 6
    assert report.finished is not None and report.started is not None
    assert 0 <= report.finished - report.started < 300
    assert all(spent >= 0 for spent in report.timings.values()), report.timings
    written = [record["timestamp"] for record in engine.records()[-6:]]
    assert (min(written) < written[0]) == (jump < 0), "the records say what the clock said"
    again = engine.run(plan, timeout=300.0)
    assert [operation.status for operation in again.operations] == ["skipped_idempotent"] * 6


def question(seconds: float = 900.0) -> ApprovalRequest:
    ends = time.time() + seconds
    return ApprovalRequest(
        "one", "hash", "r", "op", "object.delete", "destructive", "object.delete Box", ("a rule",), ends
    )


@pytest.mark.parametrize("jump", [-DAY, DAY])
def test_an_approval_does_not_outlast_its_time_when_the_clock_is_set(tmp_path: Path, clock: Clock, jump: float) -> None:
    journal = Journal(tmp_path)
    journal.approvals.ask([question()])
    clock.offset = jump
    assert journal.approvals.listed() == ()
    with pytest.raises(Refusal, match="has expired"):
        approvals.answer(tmp_path, "one", ApprovalAnswer.APPROVED, "t")
    clock.offset = 0.0
    approvals.answer(tmp_path, "one", ApprovalAnswer.APPROVED, "t")
    clock.offset = jump
    assert journal.approvals.use("hash") is None
    clock.offset = -5.0  # put right by a time server
    assert journal.approvals.use("hash") is not None
    journal.close()


def test_a_workspace_of_tomorrow_is_opened_and_verified_today(tmp_path: Path, clock: Clock) -> None:
    clock.offset = DAY
    with Engine(tmp_path, spare=False) as engine:
        engine.do("object.create_empty", {"name": "Tomorrow"})
        clock.offset = 0.0
        engine.do("object.create_empty", {"name": "Today"})
        assert engine.journal.audit.verify().ok
        known = engine.scene.hash
        engine.kill_worker()
        assert engine.full_hash() == known
