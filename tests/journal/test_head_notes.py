"""The head of the audit chain in a second place: a journal that was lost, emptied or replaced by an older copy is noticed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from blendwright.journal import Journal, JournalView
from blendwright.journal.audit.head_notes import FILE as NOTE
from blendwright.util import crash_points
from blendwright.values.errors import EnvironmentUnfit
from journal.ledger import audit, begun, raw, saved
from support.processes.shell import Shell

JOURNAL = "journal.db"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "w"


@pytest.fixture
def older(workspace: Path, tmp_path: Path) -> Path:
    """A copy of the workspace from before its last record."""
    journal = begun(workspace, ["a"])
    journal.close()
    copy = tmp_path / "older"
    shutil.copytree(workspace, copy)
    go_on(workspace)
    return copy


def go_on(workspace: Path, *, outside: Path | None = None) -> None:
    journal = Journal(workspace, heads_outside=outside)
    journal.commit([audit("x", "failed", "scene-a", None)])
    journal.close()


def restore(copy: Path, workspace: Path) -> None:
    shutil.rmtree(workspace)
    shutil.copytree(copy, workspace)


def remove(workspace: Path) -> None:
    (workspace / JOURNAL).unlink()


def empty(workspace: Path) -> None:
    (workspace / JOURNAL).write_bytes(b"")


def make_anew(workspace: Path) -> None:
    remove(workspace)
    raw(workspace).execute("PRAGMA journal_mode = WAL")


@pytest.mark.parametrize("lose", [remove, empty, make_anew])
@pytest.mark.parametrize("evidence", [NOTE, "checkpoints"])
def test_a_used_workspace_without_its_journal_is_refused_with_the_way_out(
    workspace: Path, lose: Callable[[Path], None], evidence: str
) -> None:
    journal = begun(workspace, ["a"])
    if evidence == "checkpoints":
        journal.checkpoints.stage(saved(workspace, "scene"), "scene-a")
    journal.close()
    if evidence == "checkpoints":
        (workspace / NOTE).unlink()
    lose(workspace)
    for opened in (Journal, JournalView):
        with pytest.raises(
            EnvironmentUnfit, match=r"has been used, and its journal\.db is missing or empty"
        ) as refused:
            opened(workspace)
        assert "from a backup" in (refused.value.cure or "")
        assert ("--scene" in (refused.value.cure or "")) == (evidence == "checkpoints")


def test_commands_refuse_a_used_workspace_without_its_journal(tmp_path: Path, workspace: Path) -> None:
    begun(workspace, ["a"]).close()
    empty(workspace)
    run = Shell(tmp_path)
    for command in (["audit", "verify"], ["log"], ["recover"], ["gc"], ["call", "scene.snapshot"]):
        ran = run(*command, "--workspace", str(workspace), code=3)
        assert "has been used" in ran.err and "from a backup" in ran.err


def test_what_never_had_a_record_may_be_begun_again(workspace: Path) -> None:
    Journal(workspace).close()
    remove(workspace)
    Journal(workspace).close()


def test_an_older_journal_in_the_place_of_the_newest_is_noticed_and_can_be_accepted(
    tmp_path: Path, workspace: Path, older: Path
) -> None:
    shutil.copy(older / JOURNAL, workspace / JOURNAL)
    before = (workspace / NOTE).read_bytes()
    with pytest.raises(
        EnvironmentUnfit, match=r"record 3 .* is missing in journal\.db, which ends with record 2"
    ) as told:
        Journal(workspace)
    assert "recover --accept-restored" in (told.value.cure or "")
    run = Shell(tmp_path)
    place = ("--workspace", str(workspace), "--json")
    problems = run("audit", "verify", *place, code=1).document["problems"]
    assert any("an older copy replaced the journal" in problem for problem in problems)
    shown = run("recover", *place, code=0).document
    assert shown["contradictions"] and not shown["fit"]
    assert any("--accept-restored" in way for way in shown["ways_out"])
    assert (workspace / NOTE).read_bytes() == before, "looking at it accepts nothing"
    accepted = run("recover", "--accept-restored", *place, code=0).document
    assert accepted["fit"] and accepted["done"] and not accepted["contradictions"]
    assert run("audit", "verify", *place, code=0).document["ok"]
    journal = Journal(workspace)
    (record,) = journal.audit.records(tool_name="workspace.accept_restored")
    assert record.record["status"] == "rolled_back"
    journal.close()
    run("recover", "--accept-restored", *place, code=2)


def test_a_chain_that_went_on_elsewhere_is_noticed(workspace: Path, older: Path) -> None:
    shutil.copy(workspace / NOTE, older.parent / NOTE)
    go_on(older)
    shutil.copy(older.parent / NOTE, older / NOTE)
    with pytest.raises(EnvironmentUnfit, match=r"record 3 .* is a different record in journal\.db"):
        Journal(older)


def test_a_workspace_that_was_restored_as_a_whole_is_noticed_by_the_note_outside(
    tmp_path: Path, workspace: Path
) -> None:
    heads = tmp_path / "heads"
    heads.mkdir()
    begun(workspace, ["a"]).close()
    (workspace / "blendwright.toml").write_text(f'[journal]\naudit_heads = "{heads}"\n')
    copy = tmp_path / "older"
    shutil.copytree(workspace, copy)
    go_on(workspace, outside=heads)
    restore(copy, workspace)
    with pytest.raises(EnvironmentUnfit, match=str(heads)):
        Journal(workspace, heads_outside=heads)
    run = Shell(tmp_path)
    place = ("--workspace", str(workspace))
    assert str(heads) in run("audit", "verify", *place, code=1).out
    assert str(heads) in run("call", "scene.snapshot", *place, code=3).err
    run("recover", "--accept-restored", *place, code=0)
    run("audit", "verify", *place, code=0)
    go_on(workspace, outside=heads)


def test_a_place_outside_that_cannot_be_written_refuses_to_open(tmp_path: Path, workspace: Path) -> None:
    with pytest.raises(EnvironmentUnfit, match="noting the head of the audit chain"):
        Journal(workspace, heads_outside=tmp_path / "nowhere")
    Journal(workspace).close()


def test_a_note_never_runs_ahead_of_the_journal(workspace: Path) -> None:
    """Killed right before and right behind the commit, the note is of what the journal has."""

    class Killed(BaseException):
        pass

    def die() -> None:
        raise Killed

    journal = begun(workspace, ["a"])
    for point in ("commit.before_commit:1", "commit.after_commit:1"):
        crash_points.arm(point, die)
        with pytest.raises(Killed):
            journal.commit([audit("x", "failed", "scene-a", None)])
        crash_points.arm()
        assert journal.audit.verify().ok
    journal.commit([audit("x", "failed", "scene-a", None)])
    journal.close()
    go_on(workspace)


@pytest.mark.parametrize("content", [b"{", b"[]", b"\0" * 256, b'{"workspace": "x", "sequence": 1, "hash": "0"}'])
def test_a_note_that_cannot_be_ours_is_noticed(workspace: Path, content: bytes) -> None:
    begun(workspace, ["a"]).close()
    (workspace / NOTE).write_bytes(content)
    with pytest.raises(EnvironmentUnfit, match=NOTE):
        Journal(workspace)
    journal = Journal(workspace, recovering=True)
    journal.accept_restored()
    journal.close()
    go_on(workspace)


def test_an_unwritten_note_is_none(workspace: Path) -> None:
    begun(workspace, ["a"]).close()
    (workspace / NOTE).write_bytes(b"")
    go_on(workspace)
