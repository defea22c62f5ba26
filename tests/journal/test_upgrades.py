"""Journals of other schema versions: an older one is opened and goes on, a newer one is refused with a clear message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

import blendwright
from blendwright.journal import Journal, JournalView, schema
from blendwright.util import crash_points
from blendwright.values.errors import EnvironmentUnfit
from support.plans.documents import box
from support.processes.shell import Shell

GOLDEN = Path(__file__).parents[1] / "golden"
OLDER = sorted(int(path.name.split(".")[1].removeprefix("v")) for path in GOLDEN.glob("journal.v*.sql"))


def connect(workspace: Path) -> Any:
    return apsw.Connection(str(workspace / "journal.db"))


def of_version(place: Path, version: int) -> Path:
    """A workspace as the program of that time left it."""
    workspace = place / "workspace"
    workspace.mkdir()
    connection = connect(workspace)
    connection.execute((GOLDEN / f"journal.v{version}.sql").read_text())
    connection.close()
    return workspace


def tables(workspace: Path) -> set[tuple[str, str]]:
    connection = connect(workspace)
    found = set(connection.execute("SELECT name, type FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"))
    connection.close()
    return found


def version_of(workspace: Path) -> int:
    connection = connect(workspace)
    found = connection.execute("PRAGMA user_version").get
    connection.close()
    return found


def test_there_is_a_journal_of_every_version_that_can_be_opened() -> None:
    assert list(range(schema.OLDEST, schema.VERSION)) == OLDER
    assert schema.UPGRADES.keys() == set(OLDER)


@pytest.mark.parametrize("version", OLDER)
def test_an_older_journal_becomes_one_of_this_version_with_its_history(tmp_path: Path, version: int) -> None:
    workspace = of_version(tmp_path, version)
    journal = Journal(workspace)
    assert version_of(workspace) == schema.VERSION
    assert [commit.operation_id for commit in journal.log()] == ["lift", "box", "baseline"]
    assert journal.redo_target() == 4
    assert journal.audit.verify().ok
    assert journal.recovery.info().route is not None
    journal.close()
    fresh = tmp_path / "fresh"
    Journal(fresh).close()
    assert tables(workspace) == tables(fresh)


@pytest.mark.parametrize("version", OLDER)
def test_who_only_reads_an_older_journal_leaves_it_as_it_is(tmp_path: Path, version: int) -> None:
    workspace = of_version(tmp_path, version)
    view = JournalView(workspace)
    assert [commit.operation_id for commit in view.log()] == ["lift", "box", "baseline"]
    assert view.audit.verify().ok
    view.close()
    assert version_of(workspace) == version


@pytest.mark.parametrize("point", ["upgrade.begun", "upgrade.before_commit"])
def test_an_upgrade_that_is_broken_off_leaves_the_older_journal(
    tmp_path: Path, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = of_version(tmp_path, OLDER[-1])

    def stop(name: str) -> None:
        if name == point:
            raise OSError(5, "on purpose")

    with monkeypatch.context() as patch:
        patch.setattr(crash_points, "reach", stop)
        with pytest.raises(EnvironmentUnfit):
            Journal(workspace)
    assert version_of(workspace) == OLDER[-1]
    Journal(workspace).close()
    assert version_of(workspace) == schema.VERSION


def aged(workspace: Path, version: int) -> None:
    """Make the journal of a workspace one of an earlier version, whose tables are those of the golden one."""
    golden = of_version(workspace.parent, version)
    connection = connect(workspace)
    for name, kind in tables(workspace) - tables(golden):
        if kind == "table":
            connection.execute(f"DROP TABLE {name}")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    assert tables(workspace) == tables(golden)


def test_work_goes_on_in_an_older_workspace(tmp_path: Path) -> None:
    workspace = tmp_path / "mine"
    with blendwright.open(workspace, spare=False) as opened:
        assert opened.call("mesh.create_primitive", kind="cube", name="Box").ok
    aged(workspace, OLDER[-1])
    with blendwright.open(workspace, spare=False) as opened:
        moved = opened.call("object.transform", name="Box", location=[0, 0, 3])
        assert moved.ok, moved.message
        opened.history.undo()
        head = opened.journal.head
        assert head is not None and head.number == 2
    assert version_of(workspace) == schema.VERSION


def test_a_workspace_hashed_by_an_earlier_method_is_told_so_and_stays_whole(tmp_path: Path) -> None:
    workspace = of_version(tmp_path, OLDER[-1])
    shell = Shell(tmp_path)
    move = ("call", "object.transform", "--args", '{"name": "Box", "location": [0, 0, 3]}')
    for command in (move, ("snapshot",), ("undo",), ("checkout", "2"), ("diff", "2", "3")):
        error = shell(*command, "--workspace", "workspace", "--json", code=3).document["error"]
        assert error["code"] == "environment_unfit"
        assert "with fingerprint method 1, but this blendwright has method 3" in error["message"]
        assert "blendwright export" in error["cure"] and "--scene" in error["cure"]
    journal = Journal(workspace)
    assert journal.recovery.quarantine() is None
    assert [commit.operation_id for commit in journal.log()] == ["lift", "box", "baseline"]
    journal.close()
    assert shell("replay", "--workspace", "workspace", "--json", code=0).document["by"] == "results"


def test_a_newer_journal_is_refused_with_a_clear_message(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    Journal(workspace).close()
    connection = connect(workspace)
    connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.close()
    shell = Shell(tmp_path)
    plan = json.dumps({"request_id": "newer", "operations": [box("a")]}).encode()
    for command in (("log",), ("call", "scene.snapshot"), ("run", "-")):
        ran = shell(*command, "--workspace", "workspace", "--json", code=3, stdin=plan)
        error = ran.document["error"]
        assert error["code"] == "environment_unfit"
        assert f"schema version {schema.VERSION + 1}" in error["message"] and "newer" in error["cure"]
    assert version_of(workspace) == schema.VERSION + 1


def test_who_reads_a_journal_that_is_just_being_begun_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "journal.db").touch()
    with pytest.raises(EnvironmentUnfit, match="not a workspace yet"):
        JournalView(tmp_path)
    Journal(tmp_path).close()
    JournalView(tmp_path).close()
