"""Moving through history, taking edited files in, and cleaning up. On real workers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from blendwright.engine.files.scratch import SCENE_FILE
from blendwright.engine.moves.commit_names import find
from blendwright.engine.moves.navigation import History
from blendwright.engine.scene.differences import take_snapshot
from blendwright.engine.scene.rebuild import head_line, rebuild_commit
from blendwright.records.commits import Commit
from blendwright.values.errors import RebuildFailed, Refusal
from blendwright.wire.remote_scene import RemoteScene
from engine.moves.past import PLAN, TRIANGLE, do
from journal.ledger import operation
from support.engine.engine import Engine

# ---------------------------------------------------------------------- moves of HEAD


def test_undo_redo_and_checkout_bring_the_old_scenes_back_and_lose_nothing(engine: Engine, history: History) -> None:
    commits = head_line(engine.journal)
    pictures = {commits[-1].number: take_snapshot(engine.scene.worker())}

    def arrived(at: Commit) -> None:
        assert engine.head() == at and engine.scene.hash == at.hash_after == engine.full_hash()
        picture = take_snapshot(engine.scene.worker())
        assert pictures.setdefault(at.number, picture) == picture

    moved = history.undo()
    assert (moved.origin, moved.commit) == (commits[-1].number, commits[-2])
    arrived(commits[-2])
    history.undo(2)
    arrived(commits[-4])
    assert history.redo().commit == commits[-2]
    arrived(commits[-2])
    history.redo()
    arrived(commits[-1])
    history.checkout(commits[0].number)
    arrived(commits[0])
    history.checkout(str(commits[-1].number))
    arrived(commits[-1])
    assert head_line(engine.journal) == commits
    kinds = [move.kind for move in engine.journal.moves(limit=6)]
    assert kinds == ["checkout", "checkout", "redo", "redo", "undo", "undo"]


def test_what_cannot_be_moved_to_is_refused(engine: Engine, history: History) -> None:
    head = engine.head()
    with pytest.raises(Refusal, match="nothing to redo"):
        history.redo()
    with pytest.raises(Refusal, match="only 6 commits to undo"):
        history.undo(7)
    for name in ("99", "-1", "nobody", "", str(2**70)):
        with pytest.raises(Refusal) as caught:
            history.checkout(name)
        assert "blendwright log" in (caught.value.cure or "")
    assert engine.head() == head
    engine.journal.branches.set_tag("good", 2)
    assert [find(engine.journal, name).number for name in ("good", "head", 3)] == [2, head.number, 3]
    engine.journal.branches.delete_tag("good")


def test_a_commit_that_leads_elsewhere_leaves_head_where_it_is(engine: Engine, history: History) -> None:
    here = engine.head()
    wrong = here.hash_after[:-4] + "0000"
    engine.journal.commit([operation("forged", here.hash_after, wrong, args={"name": "Other"})])
    forged = engine.head()
    engine.journal.move_head("checkout", here.number)
    engine.scene.follow_head()
    with pytest.raises(RebuildFailed) as caught:
        history.checkout(forged.number)
    assert caught.value.details["expected"] == wrong != caught.value.details["found"]
    assert engine.head() == here and engine.journal.recovery.quarantine() is None


def test_a_plan_run_again_after_checkout_to_before_it_is_a_conflict(engine: Engine, history: History) -> None:
    assert {report.status for report in engine.run(PLAN).operations} == {"skipped_idempotent"}
    history.checkout(2)
    report = engine.run(PLAN)
    assert [(each.status, each.fault) for each in report.operations] == [
        ("skipped_idempotent", None),
        ("failed", "IDEMPOTENCY_CONFLICT"),
    ]
    assert engine.head().number == 2


def test_work_after_undo_goes_on_on_a_new_line(engine: Engine, history: History) -> None:
    old = engine.head()
    history.undo()
    engine.do("object.create_empty", {"name": "Aside"})
    assert engine.head().parent == old.parent and engine.journal.redo_target() is None
    history.checkout(old.number)
    assert engine.full_hash() == old.hash_after


# ---------------------------------------------------------------------- adopting and cleaning up


@pytest.mark.proves("OPS-IDEM-03")
def test_an_adopted_file_that_lost_an_object_makes_what_ran_before_a_conflict(
    engine: Engine, history: History, worker: RemoteScene
) -> None:
    head = engine.head()
    engine.scene.checkpoint()  # what is redone has other random numbers in it that no hash covers
    rebuild_commit(worker, engine.journal, head.number)
    edited = engine.place / "edited.blend"
    worker.save(SCENE_FILE)
    shutil.copyfile(worker.require_process().scratch / SCENE_FILE, edited)
    assert history.adopt(edited) is None and engine.head() == head
    do(engine, worker, "object.delete", {"name": "Box a"})
    saved = worker.save(SCENE_FILE)
    shutil.copyfile(worker.require_process().scratch / SCENE_FILE, edited)
    commit = history.adopt(edited)
    assert commit is not None and (commit.kind, commit.parent, commit.hash_after) == ("adopt", head.number, saved)
    edited.unlink()
    assert engine.full_hash() == saved
    assert {report.fault for report in engine.run(PLAN).operations} == {"IDEMPOTENCY_CONFLICT"}
    assert history.undo().commit == head and engine.full_hash() == head.hash_after
    assert engine.journal.audit.verify().ok


def test_what_is_no_blend_file_is_not_adopted(engine: Engine, history: History) -> None:
    head = engine.head()
    garbage = engine.place / "garbage.blend"
    garbage.write_bytes(b"garbage" * 100)
    with pytest.raises(RebuildFailed, match="cannot be opened"):
        history.adopt(garbage)
    with pytest.raises(Refusal, match="no file"):
        history.adopt(engine.place / "missing.blend")
    assert engine.head() == head


def test_gc_says_what_it_would_free_and_head_survives_it(engine: Engine, history: History) -> None:
    for name in ("First", "Second"):
        engine.do("object.create_empty", {"name": name})
        engine.scene.checkpoint()
    would = history.gc(dry_run=True)
    assert would.files and would.bytes > 100_000 and would.kept >= 2
    assert history.gc() == would and history.gc().files == ()
    engine.scene.discard()
    assert engine.full_hash() == engine.head().hash_after


def test_after_gc_every_commit_that_is_listed_can_be_checked_out(tmp_path: Path) -> None:
    """Also one on another line that has its scene from a file alone."""
    with Engine(tmp_path, spare=False) as engine:
        history = engine.scene.history()
        engine.do("object.create_empty", {"name": "First"})
        (tmp_path / "triangle.obj").write_text(TRIANGLE)
        engine.do("file.import", {"path": str(tmp_path / "triangle.obj")})
        history.undo()
        engine.do("object.create_empty", {"name": "On another line"})
        engine.scene.checkpoint()
        assert history.gc(redo_budget=0).files == ()
        listed = engine.journal.log(all_lines=True)
        assert [commit.number for commit in listed] == [4, 3, 2, 1]
        for commit in listed:
            history.checkout(commit.number)
            assert engine.full_hash() == commit.hash_after
