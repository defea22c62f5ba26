"""Whatever ends a run or a call in the middle: the scene is HEAD's, nothing told is taken back, no Blender is left behind."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import apsw
import pytest

import blendwright
from blendwright.engine.files import scratch as scratch_files
from blendwright.journal import store as journal_store
from blendwright.policy.policy import Policy, Rules
from blendwright.util import crash_points
from blendwright.util.cancel import CancelToken
from blendwright.values.approval import ApprovalAnswer, ApprovalRequest, Approver
from blendwright.values.errors import EnvironmentUnfit, JournalError
from blendwright.values.faults import Fault
from blendwright.values.report import OperationReport
from blendwright.wire.remote_scene import RemoteScene
from support.engine.engine import Engine
from support.plans.documents import box
from support.plans.named_plans import plan_of

TRUSTED = "import bpy\nbpy.data.meshes.new('Made')\n"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setattr(journal_store, "BUSY_MS", 50)
    with Engine(tmp_path, spare=False) as engine:
        engine.do("object.create_empty", {"name": "First"})
        yield engine
        crash_points.arm("")


class Person:
    """Says yes."""

    name = "test"

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        return ApprovalAnswer.APPROVED


def interrupt() -> NoReturn:
    raise KeyboardInterrupt


def stands(engine: Engine) -> str:
    """The hash that HEAD, the engine and Blender agree on, now and when it is saved."""
    assert engine.scene.hash == engine.head().hash_after == engine.full_hash()
    engine.scene.checkpoint()
    assert engine.journal.recovery.quarantine() is None
    return engine.scene.hash


def test_nothing_is_told_behind_a_plan_that_could_not_be_closed(engine: Engine) -> None:
    """Another program holds the journal just when a whole plan is to be kept, and lets it go again."""
    before = engine.head()
    other: Any = apsw.Connection(str(engine.place / "workspace" / journal_store.FILE))

    def hold() -> None:
        other.execute("BEGIN IMMEDIATE")

    crash_points.arm("whole.before_keep:1", hold)
    with pytest.raises(EnvironmentUnfit, match="another program"):
        engine.run(plan_of("whole", box("a"), box("b", "a"), boundary="plan"))
    other.execute("ROLLBACK")
    other.close()
    # It would be taken back with the plan by whoever opens the workspace next.
    with pytest.raises(JournalError, match="neither be kept nor rolled back") as refused:
        engine.call("object.create_empty", {"name": "Behind it"})
    assert "again" in (refused.value.cure or "")
    engine.journal.close()
    with blendwright.open(engine.place / "workspace", spare=False) as again:
        assert again.journal.head == before and again.journal.recovery.open_boundary() is None


def test_a_plan_that_can_be_taken_back_after_an_interruption_is(engine: Engine) -> None:
    before = engine.head()
    crash_points.arm("whole.before_keep:1", interrupt)
    with pytest.raises(KeyboardInterrupt):
        engine.run(plan_of("whole", box("a"), box("b", "a"), boundary="plan"))
    assert engine.head() == before
    engine.do("object.create_empty", {"name": "Afterwards"})
    stands(engine)


def test_a_plan_that_is_interrupted_once_it_is_kept_stays(engine: Engine) -> None:
    crash_points.arm("whole.kept:1", interrupt)
    with pytest.raises(KeyboardInterrupt):
        engine.run(plan_of("whole", box("a"), box("b", "a"), boundary="plan"))
    assert engine.head().operation_id == "b"
    engine.do("object.create_empty", {"name": "Afterwards"})
    stands(engine)


def test_whoever_watches_and_fails_leaves_the_scene_at_head(engine: Engine) -> None:
    def progress(report: OperationReport) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        engine.run(plan_of("many", *(box(f"op{number:03}") for number in range(200))), progress=progress)
    found = engine.do("scene.find", {"name": "many *", "limit": 1}).result
    assert found is not None and found["total"] == engine.head().number - 2
    stands(engine)


@pytest.mark.parametrize(
    "point",
    [
        *(pytest.param(point, marks=pytest.mark.slow) for point in ("call.answered", "plan.before_commit")),
        "plan.committed",
    ],
)
def test_a_call_that_is_interrupted_leaves_the_scene_at_head(engine: Engine, point: str) -> None:
    crash_points.arm(f"{point}:1", interrupt)
    with pytest.raises(KeyboardInterrupt):
        engine.call("object.create_empty", {"name": "Second"})
    assert engine.head().number == (3 if point == "plan.committed" else 2)
    stands(engine)
    engine.do("object.create_empty", {"name": "Third"})


def test_trusted_code_whose_worker_is_lost_before_its_scene_is_saved_is_not_done(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, step = engine.head(), engine.scene.step

    def then_lost(*args: Any, **options: Any) -> Any:
        answer = step(*args, **options)
        worker = engine.scene.worker()
        os.kill(worker.profile.pid, signal.SIGKILL)
        while worker.alive:
            pass
        return answer

    monkeypatch.setattr(engine.scene, "step", then_lost)
    with engine.under(Policy(policy=Rules(trusted_python="ask"))):
        outcome = engine.call("python.run", {"code": TRUSTED, "mode": "trusted"}, approver=Approver(Person()))
    assert outcome.fault is Fault.WORKER_LOST
    assert engine.head() == before
    assert stands(engine) == before.hash_after


def test_a_disk_that_is_full_leaves_no_blender_behind(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.scene.checkpoint()
    engine.kill_worker()
    taken: list[RemoteScene] = []
    take = engine.pool.take

    def counted(*, bare: bool = False, seconds: float | None = None) -> Any:
        taken.append(take(bare=bare, seconds=seconds))
        return taken[-1]

    def full(source: Any, target: Any) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(engine.pool, "take", counted)
    with monkeypatch.context() as disk:
        disk.setattr(scratch_files, "copy", full)
        with pytest.raises(EnvironmentUnfit, match="No space left") as refused:
            engine.call("object.create_empty", {"name": "Second"})
    assert refused.value.cure
    assert taken and not any(worker.alive for worker in taken)
    engine.do("object.create_empty", {"name": "Second"})
    stands(engine)
