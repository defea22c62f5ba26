"""The scene that outlives its worker: rebuilt from the history, every hash compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from blendwright.bridge.pool import Pool
from blendwright.bridge.spawn import SpawnOptions
from blendwright.contracts.history import RedoStep
from blendwright.run.live_scene import WINDOW, LiveScene
from blendwright.run.scratch_history import ScratchHistory
from blendwright.values.errors import EnvironmentUnfit
from blendwright.values.faults import Fault
from engine import TRIALS, Engine

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


def test_what_changed_nothing_is_not_redone(engine: Engine) -> None:
    steps = len(engine.history.steps())
    engine.do("trial.peek", {"how": "nothing"})
    engine.do("mesh.create_primitive", {"kind": "cube", "name": "Rehearsed"}, rehearse="inverse")
    assert not engine.call("trial.misbehave", {"how": "raise"}).ok
    assert len(engine.history.steps()) == steps


def test_after_a_step_that_cannot_be_redone_the_saved_scene_is_the_baseline(engine: Engine) -> None:
    source = engine.place / "triangle.obj"
    source.write_text(TRIANGLE)
    imported = engine.do("file.import", {"path": str(source)})
    assert imported.fingerprint_before != imported.fingerprint_after == engine.full_hash()
    assert engine.history.steps() == ()
    assert engine.history.baseline.path is not None
    assert engine.history.baseline.hash == imported.fingerprint_after
    engine.do("object.create_empty", {"name": "After the import"})
    assert len(engine.history.steps()) == 1
    source.unlink()
    assert rebuilt_hash(engine) == engine.scene.hash
    found = engine.do("object.delete", {"name": "Triangle"})
    assert {"kind": "objects", "name": "Triangle", "change": "removed"} in found.changes


def test_a_history_that_leads_elsewhere_is_a_failed_rollback_and_not_an_exception(fresh: Engine) -> None:
    fresh.do("object.create_empty", {"name": "Pivot"})
    known = fresh.scene.hash
    fresh.history.append(RedoStep("object.create_empty", 1, {"name": "Other"}, "0" * 64))
    fresh.kill_worker()
    outcome = fresh.call("object.create_empty", {"name": "Next"})
    assert outcome.fault is Fault.ROLLBACK_FAILED
    assert outcome.findings[0].cure
    assert "rebuilding" in outcome.message
    assert fresh.scene.known_hash == known, "a rebuild that failed does not move the hash"


def test_a_baseline_that_changed_behind_our_back_is_noticed(fresh: Engine) -> None:
    (fresh.place / "triangle.obj").write_text(TRIANGLE)
    fresh.do("object.create_empty", {"name": "Pivot"})
    other = fresh.place / "other.blend"
    fresh.do("file.export", {"path": str(other)})
    fresh.do("file.import", {"path": str(fresh.place / "triangle.obj")})
    assert fresh.history.baseline.path is not None
    fresh.history.baseline.path.write_bytes(other.read_bytes())
    fresh.kill_worker()
    assert fresh.call("object.create_empty", {"name": "Next"}).fault is Fault.ROLLBACK_FAILED


def test_a_worker_with_another_catalogue_is_refused(tmp_path: Path) -> None:
    with Pool(SpawnOptions(tmp_path / "scratch", environment=TRIALS)) as pool:
        scene = LiveScene(pool, ScratchHistory(tmp_path), "another", spare=False)
        with pytest.raises(EnvironmentUnfit, match="catalogue"):
            scene.worker()
