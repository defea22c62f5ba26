"""The scene that outlives its worker: rebuilt from the journal, every hash compared."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from blendwright.bridge.sources import worker_source
from blendwright.bridge.spawn import WorkerSettings
from blendwright.dialects import operations
from blendwright.engine.scene.live_scene import LiveScene
from blendwright.engine.scene.rebuild import WINDOW
from blendwright.journal import Journal
from blendwright.util import crash_points
from blendwright.values.errors import EnvironmentUnfit
from journal.ledger import operation
from support.engine.engine import TRIALS, Engine
from support.plans.documents import box

TRIANGLE = "o Triangle\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Engine]:
    with Engine(tmp_path) as engine:
        yield engine


def rebuilt_hash(engine: Engine) -> str:
    """Lose the worker; the full hash of the scene in the next one."""
    engine.kill_worker()
    return engine.full_hash()


def test_more_steps_than_fit_the_window_are_redone_in_order(engine: Engine) -> None:
    for number in range(WINDOW + 10):
        engine.do("object.create_empty", {"name": f"Empty {number}", "location": [number, 0, 0]})
    engine.do("object.delete", {"name": "Empty 3"})
    engine.do("object.create_empty", {"name": "Empty 3"})
    assert rebuilt_hash(engine) == engine.scene.hash


def test_what_changed_nothing_leaves_records_and_no_commit(engine: Engine) -> None:
    head, records = engine.head(), engine.records()
    engine.do("trial.peek", {"how": "nothing"})
    engine.do("mesh.create_primitive", {"kind": "cube", "name": "Rehearsed"}, rehearse="inverse")
    assert not engine.call("trial.misbehave", {"how": "raise"}).ok
    assert not engine.call("object.delete", {"name": "Nobody"}).ok
    assert engine.head() == head
    told = engine.records()[len(records) :]
    assert [record["status"] for record in told] == ["succeeded", "rolled_back", "rolled_back", "failed"]
    assert {record["scene_hash_before"] for record in told} == {engine.scene.hash}


def test_a_step_that_cannot_be_redone_is_committed_together_with_its_checkpoint(engine: Engine) -> None:
    source = engine.place / "triangle.obj"
    source.write_text(TRIANGLE)
    imported = engine.do("file.import", {"path": str(source)})
    assert imported.fingerprint_before != imported.fingerprint_after == engine.full_hash()
    route = engine.journal.checkpoints.route(engine.head().number)
    assert route.redo == () and route.checkpoint is not None
    assert (route.checkpoint.commit, route.start_hash) == (engine.head().number, imported.fingerprint_after)
    engine.do("object.create_empty", {"name": "After the import"})
    assert len(engine.journal.checkpoints.route(engine.head().number).redo) == 1
    source.unlink()
    assert rebuilt_hash(engine) == engine.scene.hash
    found = engine.do("object.delete", {"name": "Triangle"})
    assert {"kind": "objects", "name": "Triangle", "change": "removed"} in found.changes


def test_an_export_is_not_done_again_by_a_rebuild(engine: Engine) -> None:
    engine.do("mesh.create_primitive", {"kind": "cube", "name": "Exported"})
    target = engine.place / "once.stl"
    engine.do("file.export", {"path": str(target)})
    target.unlink()
    assert rebuilt_hash(engine) == engine.scene.hash
    assert not target.exists()


def test_a_checkpoint_saves_the_redo(engine: Engine) -> None:
    engine.do("object.create_empty", {"name": "Before the checkpoint"})
    engine.scene.checkpoint()
    route = engine.journal.checkpoints.route(engine.head().number)
    assert route.redo == () and route.checkpoint is not None
    assert rebuilt_hash(engine) == engine.scene.hash


def test_a_journal_that_leads_elsewhere_is_quarantined_with_both_hashes(fresh: Engine) -> None:
    fresh.do("object.create_empty", {"name": "Pivot"})
    known = fresh.scene.hash
    wrong = known[:-4] + "0000"
    fresh.session.ledger.write([operation("op", known, wrong, args={"name": "Other"})])
    fresh.kill_worker()
    with pytest.raises(EnvironmentUnfit, match="quarantined") as caught:
        fresh.call("object.create_empty", {"name": "Next"})
    assert "blendwright recover" in (caught.value.cure or "")
    assert caught.value.details["expected"] == wrong
    quarantine = fresh.journal.recovery.info().quarantine
    assert quarantine is not None
    assert (quarantine.expected, quarantine.found) == (wrong, caught.value.details["found"])
    with pytest.raises(EnvironmentUnfit):
        fresh.call("object.create_empty", {"name": "Next"})


def test_a_checkpoint_that_changed_behind_our_back_is_never_used(fresh: Engine) -> None:
    (fresh.place / "triangle.obj").write_text(TRIANGLE)
    fresh.do("object.create_empty", {"name": "Pivot"})
    other = fresh.place / "other.blend"
    fresh.do("file.export", {"path": str(other)})
    fresh.do("file.import", {"path": str(fresh.place / "triangle.obj")})
    checkpoint = fresh.journal.checkpoints.route(fresh.head().number).checkpoint
    assert checkpoint is not None
    checkpoint.path.write_bytes(other.read_bytes())
    fresh.kill_worker()
    with pytest.raises(EnvironmentUnfit, match="no checkpoint leads"):
        fresh.call("object.create_empty", {"name": "Next"})


def test_a_write_that_nobody_recorded_is_found_when_the_scene_is_saved(fresh: Engine) -> None:
    fresh.do("object.create_empty", {"name": "Anchor"})
    fresh.do("trial.misbehave", {"how": "unrecorded"})
    before = fresh.head()
    fresh.scene.checkpoint()
    assert fresh.journal.checkpoints.route(before.number).checkpoint is None and not fresh.scene.ready
    with pytest.raises(EnvironmentUnfit) as caught:
        fresh.scene.save()
    assert caught.value.details["quarantined"] and fresh.journal.recovery.quarantine() is not None


@pytest.mark.parametrize("how", ["checkpoint", "save"])
def test_a_process_that_has_lost_its_way_is_replaced_and_nothing_is_quarantined(fresh: Engine, how: str) -> None:
    """The journal is right and the process is wrong: its scene is not kept."""
    fresh.do("object.create_empty", {"name": "Anchor"})
    before, worker = fresh.head(), fresh.scene.worker()
    worker.call("test.unused", {}, deadline=30)
    assert fresh.full_hash() != before.hash_after
    getattr(fresh.scene, how)()
    assert not worker.alive and fresh.scene.worker() is not worker
    assert fresh.full_hash() == before.hash_after
    assert fresh.journal.recovery.quarantine() is None
    assert fresh.journal.checkpoints.route(before.number).checkpoint is None


def test_the_scene_of_a_refused_commit_is_not_kept(fresh: Engine) -> None:
    fresh.do("object.create_empty", {"name": "Anchor"})

    def full() -> NoReturn:
        raise OSError(errno.ENOSPC, "no space left, on purpose")

    before = fresh.head()
    crash_points.arm("commit.before_commit:1", full)
    with pytest.raises(EnvironmentUnfit):
        fresh.call("object.create_empty", {"name": "Never"})
    assert not fresh.scene.ready
    assert fresh.full_hash() == fresh.scene.hash == before.hash_after


def test_a_worker_with_another_catalogue_is_refused(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "workspace")
    with worker_source().open_pool(WorkerSettings(tmp_path / "scratch", environment=TRIALS)) as pool:
        scene = LiveScene(pool, journal, "another", spare=False)
        with pytest.raises(EnvironmentUnfit, match="catalogue"):
            scene.worker()
    journal.close()


def rolled_back(engine: Engine, request: str) -> None:
    """A plan that is kept whole, and fails at its second operation."""
    first = box("a", args={"kind": "cube", "name": request})
    second = box("b", "a", tool_name="trial.misbehave", args={"how": "raise", "name": request})
    plan = operations.DIALECT.parse({"request_id": request, "operations": [first, second]}, boundary="plan")
    assert engine.run(plan).status == "rolled_back"


def test_after_a_rollback_the_same_worker_is_brought_back(engine: Engine) -> None:
    before, worker = engine.scene.hash, engine.scene.worker()
    rolled_back(engine, "back")
    assert engine.scene.worker() is worker
    assert engine.scene.hash == before == engine.full_hash()
    engine.do("object.create_empty", {"name": "Afterwards"})


def test_a_worker_that_cannot_be_brought_back_is_replaced_and_nothing_is_quarantined(
    fresh: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh.do("object.create_empty", {"name": "Stays"})
    before, worker = fresh.scene.hash, fresh.scene.worker()
    call = worker.call

    def lies(method: str, *args: Any, **options: Any) -> Any:
        return {"hash": "another"} if method == "scene.reset" else call(method, *args, **options)

    monkeypatch.setattr(worker, "call", lies)
    rolled_back(fresh, "elsewhere")
    assert fresh.scene.worker() is not worker and not worker.alive
    assert fresh.scene.hash == before == fresh.full_hash()
    assert fresh.journal.recovery.quarantine() is None
