"""Checkpoints that are made beside a long session: redo stays short, nothing waits for them, and nothing depends on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from blendwright.engine.scene import background_checkpoints
from blendwright.engine.scene.background_checkpoints import BackgroundCheckpoints
from blendwright.records.checkpoints import Checkpoint
from support.engine.engine import Engine
from support.plans.documents import box, of_operations


@pytest.fixture(scope="module", autouse=True)
def eager() -> Iterator[None]:
    """A few operations are worth a checkpoint, whatever saving takes here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background_checkpoints, "MIN_REDO_MS", 0.001)
        patch.setattr(background_checkpoints, "MIN_SHARE_OF_SAVING", 0.0)
        yield


@pytest.fixture(scope="module")
def engine(eager: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(tmp_path_factory.mktemp("followed"), background=True) as engine:
        yield engine


def background_of(engine: Engine) -> BackgroundCheckpoints:
    assert engine.background is not None
    return engine.background


_numbers = iter(range(10_000))


def work(engine: Engine, count: int = 3) -> None:
    for _ in range(count):
        engine.do("object.create_empty", {"name": f"Empty {next(_numbers):04d}"})


def followed(engine: Engine) -> None:
    """Work, and give the Blender beside it the time to follow."""
    work(engine)
    background_of(engine).wait()
    engine.scene.head.record_background()
    background_of(engine).wait()
    engine.scene.head.record_background()


def redo_length(engine: Engine) -> int:
    return len(engine.journal.checkpoints.route(engine.head().number).redo)


def checkpoint_files(engine: Engine) -> set[str]:
    return {path.name for path in (engine.place / "workspace" / "checkpoints").iterdir()}


def test_a_session_of_ordinary_steps_gets_checkpoints_and_is_rebuilt_from_them(engine: Engine) -> None:
    for _ in range(3):
        followed(engine)
        assert redo_length(engine) <= 3, engine.remarks
    work(engine, 2)
    before = engine.scene.hash
    engine.kill_worker()
    assert engine.full_hash() == before == engine.head().hash_after
    route = engine.journal.checkpoints.route(engine.head().number)
    assert route.checkpoint is not None and route.checkpoint.commit > 1 and not route.damaged


def test_the_blender_that_follows_goes_on_from_where_it_is(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    followed(engine)
    rebuilt: list[object] = []
    monkeypatch.setattr(background_checkpoints, "rebuild", rebuilt.append)
    followed(engine)
    assert redo_length(engine) <= 3 and not rebuilt


def test_superfluous_checkpoints_go_and_every_commit_can_still_be_checked_out(engine: Engine) -> None:
    made = 0
    for _ in range(background_checkpoints.UNTHINNED_CHECKPOINTS + 4):
        before = checkpoint_files(engine)
        followed(engine)
        made += len(checkpoint_files(engine) - before)
    assert made > background_checkpoints.UNTHINNED_CHECKPOINTS + 2
    # Those that stay, and at most one before them.
    assert len(checkpoint_files(engine)) <= background_checkpoints.UNTHINNED_CHECKPOINTS + 2
    named = {checkpoint.path.name for checkpoint in rows(engine)}
    assert named == checkpoint_files(engine), "a row for every file, and a file for every row"
    for number in range(1, engine.head().number + 1):
        assert not engine.journal.checkpoints.route(number).damaged
    report = engine.journal.checkpoints.collect_garbage(redo_budget=2)
    assert report.lost == ()


def rows(engine: Engine) -> list[Checkpoint]:
    routes = [engine.journal.checkpoints.route(number) for number in range(1, engine.head().number + 1)]
    found = {route.checkpoint.id: route.checkpoint for route in routes if route.checkpoint is not None}
    return list(found.values())


def test_a_plan_that_may_be_taken_back_is_followed_only_when_it_is_kept(engine: Engine) -> None:
    followed(engine)
    saved = {checkpoint.commit for checkpoint in rows(engine)}
    failing = of_operations(
        box("f1"),
        box("f2", tool_name="object.transform", args={"name": "nobody", "location": [0, 0, 0]}),
        request_id="fails",
    )
    assert not engine.run(replace(failing, boundary="plan")).ok
    background_of(engine).wait()
    engine.scene.head.record_background()
    assert {checkpoint.commit for checkpoint in rows(engine)} == saved
    base = engine.head().number
    assert engine.run(replace(of_operations(box("k1"), box("k2"), request_id="keeps"), boundary="plan")).ok
    background_of(engine).wait()
    engine.scene.head.record_background()
    newest = max(checkpoint.commit for checkpoint in rows(engine))
    assert newest > base and newest == engine.head().number


def test_after_an_undo_it_follows_the_other_line(engine: Engine) -> None:
    followed(engine)
    history = engine.journal.log(limit=3)
    engine.journal.move_head("undo", history[-1].number)
    engine.scene.follow_head()
    followed(engine)
    assert redo_length(engine) <= 3
    before = engine.scene.hash
    engine.kill_worker()
    assert engine.full_hash() == before


def test_what_goes_wrong_beside_a_session_is_told_and_does_not_touch_it(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> object:
        raise OSError("refused on purpose")

    with monkeypatch.context() as patch:
        patch.setattr(engine.journal.checkpoints, "stage", refuse)
        told = len(engine.remarks)
        followed(engine)
    assert "refused on purpose" in str(engine.remarks[told])
    assert not background_of(engine).disagreed
    work(engine)
    assert engine.full_hash() == engine.scene.hash


def test_where_redo_leads_elsewhere_only_the_session_itself_saves_its_scene(tmp_path: Path) -> None:
    with Engine(tmp_path, background=True) as engine:
        engine.do("trial.misbehave", {"how": "differ"})
        background = background_of(engine)
        background.wait()
        work(engine, 1)
        background.wait()
        engine.scene.head.record_background()
        assert background.disagreed and engine.scene.worth_saving
        assert "differs from the journal" in str(engine.remarks[-1])
        assert engine.journal.recovery.quarantine() is None and not rows(engine)
        engine.scene.checkpoint()
        known = engine.scene.hash
        engine.kill_worker()
        assert engine.full_hash() == known, "the scene that was seen is the one that is there"
