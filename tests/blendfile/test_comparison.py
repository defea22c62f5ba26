"""What no hash covers is not lost: code and files that leave the hash as it was are taken as a change unless nothing changed."""

from __future__ import annotations

import shutil

import pytest

from blendwright.blendfile.comparison import same_content
from blendwright.engine.files.scratch import SCENE_FILE
from blendwright.engine.moves.navigation import History
from blendwright.engine.scene.rebuild import rebuild_commit, replay
from blendwright.policy.policy import Policy, Rules
from blendwright.util.cancel import CancelToken
from blendwright.values.approval import ApprovalAnswer, ApprovalRequest, Approver
from support.engine.engine import Engine

TRUSTING = Policy(policy=Rules(trusted_python="ask"))

# Left out of the fingerprint on purpose, and yet something that Blender keeps in a file.
UNSEEN = "import bpy\nmesh = bpy.data.meshes['Crate']\nmesh.use_paint_mask = not mesh.use_paint_mask"
SEEN = "import bpy\nprint(bpy.data.meshes['Crate'].use_paint_mask)"
COMBED = "import bpy\nbpy.data.objects['Crate'].modifiers.new('Hair', 'PARTICLE_SYSTEM')"
READ = "import bpy\nprint(sorted(o.name for o in bpy.data.objects), bpy.context.evaluated_depsgraph_get() is None)"


ENGINE_CALLS = (
    ("mesh.create_primitive", {"kind": "cube", "name": "Crate"}),
    ("material.ensure_principled", {"name": "Wood"}),
)


@pytest.fixture
def history(engine: Engine) -> History:
    return engine.scene.history()


class Yes:
    name = "test"

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        return ApprovalAnswer.APPROVED


def told(engine: Engine, code: str) -> str:
    return (engine.do("python.run", {"code": code}).result or {})["output"].strip()


@pytest.mark.parametrize("mode", ["safe", pytest.param("trusted", marks=pytest.mark.slow)])
def test_what_code_changed_without_changing_the_hash_is_there_after_a_rebuild(engine: Engine, mode: str) -> None:
    before, was = engine.head(), told(engine, SEEN)
    with engine.under(TRUSTING):
        engine.do("python.run", {"code": UNSEEN, "mode": mode}, approver=Approver(Yes()))
    commit = engine.head()
    assert commit.hash_before == commit.hash_after == before.hash_after and not commit.replayable
    assert commit.receipt["blender_mutation_id"] and engine.journal.checkpoints.route(commit.number).redo == ()
    engine.do("object.create_empty", {"name": f"Later than {mode}"})
    engine.kill_worker()
    assert told(engine, SEEN) != was
    engine.journal.checkpoints.collect_garbage(redo_budget=0, drop_other_lines=True, dry_run=False)
    worker = engine.pool.take()
    assert replay(worker, engine.journal).ok
    worker.abandon()
    assert engine.journal.audit.verify().ok


def test_undo_takes_back_what_no_hash_shows_and_redo_brings_it_again(engine: Engine, history: History) -> None:
    was = told(engine, SEEN)
    engine.do("python.run", {"code": UNSEEN})
    undone, commit = history.undo().commit, history.redo().commit
    assert (undone.hash_after, undone.number) == (commit.hash_after, commit.parent)
    assert told(engine, SEEN) != was
    history.checkout(undone.number)
    assert told(engine, SEEN) == was


def test_code_that_only_reads_leaves_no_checkpoint(engine: Engine) -> None:
    files = engine.place / "workspace" / "checkpoints"
    engine.do("python.run", {"code": COMBED})  # evaluation leaves marks of it in the file
    engine.do("python.run", {"code": UNSEEN})
    was, before, pid = told(engine, SEEN), sorted(files.iterdir()), engine.scene.worker().profile.pid
    assert told(engine, READ).endswith("False")
    commit = engine.head()
    assert commit.replayable and commit.receipt["blender_mutation_id"] is None
    assert sorted(files.iterdir()) == before and engine.scene.worker().profile.pid == pid
    assert told(engine, SEEN) == was


def test_a_file_with_the_hash_of_head_is_adopted_unless_it_holds_the_same(engine: Engine, history: History) -> None:
    was, head, file = told(engine, SEEN), engine.head(), engine.place / "edited.blend"
    engine.scene.checkpoint()
    worker = engine.pool.take()
    rebuild_commit(worker, engine.journal, head.number)
    worker.save(SCENE_FILE)
    shutil.copyfile(worker.require_process().scratch / SCENE_FILE, file)
    head = engine.head()
    assert history.adopt(file) is None and engine.head() == head and engine.full_hash() == head.hash_after
    worker.step({"tool": "python.run", "version": 2, "args": {"code": UNSEEN}}, deadline=30)
    worker.save(SCENE_FILE)
    shutil.copyfile(worker.require_process().scratch / SCENE_FILE, file)
    worker.abandon()
    commit = history.adopt(file)
    assert commit is not None and commit.hash_after == head.hash_after and commit.kind == "adopt"
    assert told(engine, SEEN) != was
    engine.kill_worker()
    assert told(engine, SEEN) != was
    assert history.undo(3).commit == head and told(engine, SEEN) == was


# ---------------------------------------------------------------------- the comparison


def test_two_files_of_one_scene_are_the_same_and_any_byte_of_data_tells_them_apart(engine: Engine) -> None:
    worker = engine.scene.worker()
    one, other = worker.require_process().scratch / "one.blend", worker.require_process().scratch / "other.blend"
    for file in (one, other):
        worker.save(file.name)
    assert same_content(one, other)
    data = one.read_bytes()
    name = data.index(b"OBCrate") + 3
    other.write_bytes(data[:name] + b"R" + data[name + 1 :])
    assert not same_content(one, other)


@pytest.mark.parametrize("end", [0, 5, 17, 30, 1000, -1, -40])
def test_files_that_make_no_sense_are_not_the_same(engine: Engine, end: int) -> None:
    worker = engine.scene.worker()
    one, other = worker.require_process().scratch / "one.blend", worker.require_process().scratch / "other.blend"
    worker.save(one.name)
    other.write_bytes(one.read_bytes()[:end])
    assert not same_content(one, other) and not same_content(other, one)
    other.unlink()
    assert not same_content(one, other)
