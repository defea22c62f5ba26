"""Checkpoints: which one leads to a scene, and which ones nobody needs."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from blendwright.journal import Journal, JournalView
from blendwright.records.commits import Commit
from blendwright.values.errors import EnvironmentUnfit, JournalError
from journal.ledger import assert_sound, baseline, begun, chain, operation, raw, saved


def names(commits: tuple[Commit, ...]) -> list[str]:
    return [commit.operation_id for commit in commits]


def checkpoint(journal: Journal, number: int, workspace: Path) -> str:
    scene = journal.show(number).hash_after
    return journal.checkpoints.add(journal.checkpoints.stage(saved(workspace, scene), scene), number).path.name


def test_the_way_starts_at_the_newest_checkpoint_of_the_line(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a", "b", "c"])
    route = journal.checkpoints.route(4)
    assert (route.checkpoint, route.start_hash, names(route.redo)) == (None, "scene-0", ["a", "b", "c"])
    checkpoint(journal, 2, tmp_path)
    checkpoint(journal, 4, tmp_path)
    route = journal.checkpoints.route(4)
    assert route.checkpoint is not None and route.checkpoint.commit == 4 and route.redo == ()
    journal.move_head("checkout", 3)
    journal.commit(chain(["d", "e"], "scene-b"))
    info = journal.recovery.info()
    assert info.route is not None and info.route.checkpoint is not None
    assert (info.route.checkpoint.commit, names(info.route.redo)) == (2, ["b", "d", "e"]), "commit 4 is on another line"
    journal.close()


def test_a_damaged_checkpoint_is_passed_over_and_named(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a", "b"])
    checkpoint(journal, 2, tmp_path)
    damaged = tmp_path / "checkpoints" / checkpoint(journal, 3, tmp_path)
    content = bytearray(damaged.read_bytes())
    content[5] ^= 1
    damaged.write_bytes(content)
    route = journal.checkpoints.route(3)
    assert route.checkpoint is not None and route.checkpoint.commit == 2 and names(route.redo) == ["b"]
    assert [row.path for row in route.damaged] == [damaged]
    damaged.unlink()
    assert journal.checkpoints.route(3).damaged == route.damaged
    journal.close()


def test_nothing_is_redone_over_a_commit_that_cannot_be_replayed(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a"])
    checkpoint(journal, 2, tmp_path)
    staged = journal.checkpoints.stage(saved(tmp_path, "b"), "scene-b")
    journal.commit(
        [operation("b", "scene-a", "scene-b", replayable=False, checkpoint=staged), *chain(["c"], "scene-b")]
    )
    route = journal.checkpoints.route(4)
    assert route.checkpoint is not None and route.checkpoint.commit == 3 and names(route.redo) == ["c"]
    (tmp_path / "checkpoints" / staged.file).unlink()
    with pytest.raises(JournalError, match="no checkpoint leads to commit 4") as caught:
        journal.checkpoints.route(4)
    assert caught.value.details["damaged"]
    route = journal.checkpoints.route(2)
    assert route.checkpoint is not None and route.checkpoint.commit == 2
    journal.close()


def test_a_row_needs_its_file_and_its_scene(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a"])
    staged = journal.checkpoints.stage(saved(tmp_path, "other"), "scene-other")
    with pytest.raises(JournalError, match="another scene"):
        journal.checkpoints.add(staged, 2)
    with pytest.raises(JournalError, match="another scene"):
        journal.commit([operation("b", "scene-a", "scene-b", replayable=False, checkpoint=staged)])
    staged = journal.checkpoints.stage(saved(tmp_path, "b"), "scene-b")
    (tmp_path / "checkpoints" / staged.file).unlink()
    with pytest.raises(JournalError, match="stage it first"):
        journal.commit([operation("b", "scene-a", "scene-b", replayable=False, checkpoint=staged)])
    staged = journal.checkpoints.stage(saved(tmp_path, "a"), "scene-a")
    (tmp_path / "checkpoints" / staged.file).unlink()
    with pytest.raises(JournalError, match="stage it first"):
        journal.checkpoints.add(staged, 2)
    journal.close()
    assert_sound(tmp_path)


def test_a_link_is_not_taken_for_a_saved_scene(tmp_path: Path) -> None:
    journal = begun(tmp_path)
    link = tmp_path / "link.blend"
    link.symlink_to(saved(tmp_path, "secret"))
    with pytest.raises(Exception, match="the disk refuses"):
        journal.checkpoints.stage(link, "s")
    assert list((tmp_path / "checkpoints").iterdir()) == []
    journal.close()


def test_what_its_writer_does_to_the_saved_file_later_does_not_matter(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a"])
    file = saved(tmp_path, "a")
    with file.open("r+b") as held:
        journal.checkpoints.add(journal.checkpoints.stage(file, "scene-a"), 2)
        held.write(b"changed")
    assert journal.checkpoints.route(2).checkpoint is not None
    journal.close()
    assert_sound(tmp_path)


# ---------------------------------------------------------------------- gc


def test_gc_keeps_what_head_tags_and_redo_need(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a", "b"])
    side = checkpoint(journal, 3, tmp_path)
    journal.move_head("checkout", 2)
    journal.commit(chain(["c", "d"], "scene-a"))
    journal.branches.set_tag("side", 3)
    main = checkpoint(journal, 5, tmp_path)
    journal.move_head("undo", 4)
    orphan = f"{'0' * 64}.blend"
    (tmp_path / "checkpoints" / orphan).write_bytes(b"12345")
    assert journal.checkpoints.collect_garbage(redo_budget=100, dry_run=True).files == (orphan,)
    freed = journal.checkpoints.collect_garbage(redo_budget=100)
    assert (freed.files, freed.bytes, freed.kept) == ((orphan,), 5, 2)
    journal.branches.delete_tag("side")
    assert journal.checkpoints.collect_garbage(redo_budget=100).files == (), "it is the end of a line"
    assert journal.checkpoints.collect_garbage(redo_budget=100, drop_other_lines=True).files == (side,)
    assert journal.redo_target() == 5
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == [main], "redo leads to it"
    journal.close()
    assert_sound(tmp_path)


def test_gc_thins_a_line_within_the_redo_budget(tmp_path: Path) -> None:
    journal = begun(tmp_path, [f"n{n}" for n in range(20)])
    for number in range(2, 22):
        checkpoint(journal, number, tmp_path)
    journal.checkpoints.collect_garbage(redo_budget=5)
    longest = max(len(journal.checkpoints.route(number).redo) for number in range(1, 22))
    assert longest == 5
    assert len(list((tmp_path / "checkpoints").iterdir())) == 4
    assert journal.checkpoints.route(21).redo == ()
    journal.close()
    assert_sound(tmp_path)


def test_gc_drops_what_other_lines_need_only_when_told_to_and_names_what_is_lost(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.commit([baseline(journal.checkpoints.stage(saved(tmp_path, "scene-0"), "scene-0")), *chain(["a"])])
    staged = journal.checkpoints.stage(saved(tmp_path, "b"), "scene-b")
    journal.commit(
        [operation("b", "scene-a", "scene-b", replayable=False, checkpoint=staged), *chain(["c"], "scene-b")]
    )
    checkpoint(journal, 4, tmp_path)
    journal.move_head("checkout", 2)
    assert journal.checkpoints.collect_garbage(redo_budget=100).lost == ()
    for number in range(1, 5):
        assert journal.checkpoints.route(number).to == number
    would = journal.checkpoints.collect_garbage(redo_budget=100, drop_other_lines=True, dry_run=True)
    assert journal.checkpoints.route(3).to == 3
    freed = journal.checkpoints.collect_garbage(redo_budget=100, drop_other_lines=True)
    assert freed == would and (freed.lost, freed.kept) == ((3, 4), 1)
    with pytest.raises(JournalError, match="removed by gc"):
        journal.checkpoints.route(3)
    journal.close()


# ---------------------------------------------------------------------- workspaces of somebody else


def test_a_link_in_place_of_the_directory_is_refused_and_nothing_behind_it_is_touched(tmp_path: Path) -> None:
    workspace, mine = tmp_path / "w", tmp_path / "documents"
    begun(workspace, ["a"]).close()
    (workspace / "checkpoints").rmdir()
    mine.mkdir()
    files = {"thesis.txt", "1-2-0123abcd.part", f"{'0' * 64}.blend"}
    for name in files:
        (mine / name).write_text("mine")
    (workspace / "checkpoints").symlink_to(mine)
    with pytest.raises(EnvironmentUnfit, match="is a link"):
        Journal(workspace)
    assert {path.name for path in mine.iterdir()} == files


def test_a_directory_that_becomes_a_link_while_it_is_used_loses_nothing(tmp_path: Path) -> None:
    workspace, mine = tmp_path / "w", tmp_path / "documents"
    journal = begun(workspace, ["a"])
    (workspace / "checkpoints").rename(mine)
    (workspace / "checkpoints").symlink_to(mine)
    (mine / f"{'0' * 64}.blend").write_text("mine")
    with pytest.raises(EnvironmentUnfit, match="link"):
        journal.checkpoints.collect_garbage(redo_budget=100)
    assert [path.name for path in mine.iterdir()] == [f"{'0' * 64}.blend"]
    journal.close()


def test_only_files_with_names_of_checkpoints_are_removed(tmp_path: Path) -> None:
    begun(tmp_path, ["a"]).close()
    ours, others = {"1-2-0123abcd.part", f"{'0' * 64}.blend"}, {"thesis.txt", "film.mkv.part", "scene.blend"}
    for name in ours | others:
        (tmp_path / "checkpoints" / name).write_text("x")
    journal = Journal(tmp_path)
    assert journal.recovery.info().cleaned == ("1-2-0123abcd.part",)
    assert journal.checkpoints.collect_garbage(redo_budget=100).files == (f"{'0' * 64}.blend",)
    assert {path.name for path in (tmp_path / "checkpoints").iterdir()} == others
    journal.close()


def test_a_link_or_a_pipe_in_place_of_a_checkpoint_leads_nowhere(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a"])
    place = tmp_path / "checkpoints" / checkpoint(journal, 2, tmp_path)
    assert journal.checkpoints.route(2).checkpoint is not None
    elsewhere = place.rename(tmp_path / "elsewhere.blend")
    place.symlink_to(elsewhere)
    assert journal.checkpoints.route(2).checkpoint is None
    place.unlink()
    os.mkfifo(place)
    assert journal.checkpoints.route(2).checkpoint is None
    journal.close()


def test_a_row_that_names_a_file_elsewhere_is_refused(tmp_path: Path) -> None:
    journal = begun(tmp_path / "w", ["a"])
    checkpoint(journal, 2, tmp_path)
    journal.close()
    raw(tmp_path / "w").execute("UPDATE checkpoints SET sha256 = '../../private'")
    (tmp_path / "private.blend").write_text("secret")
    with contextlib.closing(JournalView(tmp_path / "w")) as view, pytest.raises(JournalError, match="private"):
        view.checkpoints.route(2)
