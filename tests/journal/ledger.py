"""What the journal's tests share: entries in the shape an executor makes them, and the invariants of a journal on disk."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import apsw

from blendwright.journal import Journal, JournalView
from blendwright.records.audit import AuditDetails, Status
from blendwright.records.checkpoints import StagedCheckpoint
from blendwright.records.commits import CommitKind, NewAudit, NewCommit, NewReading, OperationQuery

EMPTY = "scene-0"


def key_of(request: str, operation: str, args: dict[str, Any] | None = None) -> str:
    return hashlib.sha256(json.dumps([request, operation, args or {}], sort_keys=True).encode()).hexdigest()


def ids(n: object = 0) -> AuditDetails:
    return AuditDetails(f"call-{n}", "safe_write", f"mutation-{n}")


def baseline(checkpoint: StagedCheckpoint | None = None, scene: str = EMPTY) -> NewCommit:
    return NewCommit(
        None,
        "workspace",
        "baseline",
        "workspace.new",
        1,
        {},
        scene,
        scene,
        checkpoint is None,
        {},
        ids(),
        "baseline",
        checkpoint,
    )


def operation(
    name: str,
    before: str,
    after: str,
    *,
    request: str = "r",
    args: dict[str, Any] | None = None,
    tool: str = "object.create_empty",
    version: int = 1,
    replayable: bool = True,
    checkpoint: StagedCheckpoint | None = None,
    settles: int | None = None,
) -> NewCommit:
    key = key_of(request, name, args)
    receipt = {"operation_id": name, "status": "succeeded"}
    return NewCommit(
        key,
        request,
        name,
        tool,
        version,
        args or {},
        before,
        after,
        replayable,
        receipt,
        ids(name),
        "operation",
        checkpoint,
        settles,
    )


def special(kind: CommitKind, before: str, after: str, checkpoint: StagedCheckpoint) -> NewCommit:
    return NewCommit(
        None, "workspace", kind, f"workspace.{kind}", 1, {}, before, after, False, {}, ids(kind), kind, checkpoint
    )


def chain(names: list[str], before: str = EMPTY, request: str = "r") -> list[NewCommit]:
    """Operations that follow each other; the scene after each is named after it."""
    entries: list[NewCommit] = []
    for name in names:
        after = f"scene-{name}"
        entries.append(operation(name, before, after, request=request))
        before = after
    return entries


def reading(name: str, scene: str, *, args: dict[str, Any] | None = None) -> NewReading:
    key = key_of("r", name, args)
    return NewReading(
        key, "r", name, "scene.find", 1, args or {}, scene, {"found": [name, scene]}, AuditDetails("call", "read_only")
    )


def audit(name: str, status: Status, before: str, after: str | None, settles: int | None = None) -> NewAudit:
    return NewAudit("r", name, "object.create_empty", status, before, after, ids(name), settles)


def wanted(
    name: str,
    *,
    request: str = "r",
    args: dict[str, Any] | None = None,
    tool: str = "object.create_empty",
    version: int = 1,
) -> OperationQuery:
    return OperationQuery(key_of(request, name, args), request, name, tool, version)


def begun(directory: Path, names: list[str] | None = None) -> Journal:
    """A workspace with an empty baseline and these operations."""
    journal = Journal(directory)
    journal.commit([baseline(), *chain(names or [])])
    return journal


def saved(directory: Path, content: str) -> Path:
    """A file as a worker would have saved it."""
    path = directory / f"{content}.saved"
    path.write_bytes(content.encode() * 100)
    return path


def raw(workspace: Path) -> Any:
    """journal.db without any of our guards, as someone who tampers with it has it."""
    connection: Any = apsw.Connection(str(workspace / "journal.db"))
    for (name,) in list(connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")):
        connection.execute(f"DROP TRIGGER {name}")
    return connection


def assert_sound(workspace: Path, *, collected: bool = False) -> None:
    """The invariants of the design, read from the disk alone. Where `collected`, gc may have removed what no line needs."""
    db: Any = apsw.Connection(str(workspace / "journal.db"), apsw.SQLITE_OPEN_READONLY)
    commits = {
        row[0]: row[1:]
        for row in db.execute("SELECT number, parent, operation_key, hash_before, hash_after, replayable FROM commits")
    }
    for number, (parent, _, before, after, replayable) in commits.items():
        if parent is None:
            assert before == after
        else:
            assert parent in commits and parent < number
            assert before == commits[parent][3], "hashes join"
        if not replayable and not collected:
            assert db.execute("SELECT 1 FROM checkpoints WHERE number = ?", (number,)).fetchone(), (
                "a checkpoint of its own"
            )
    parents = {parent for parent, *_ in commits.values()}
    for leaf in commits.keys() - parents:
        keys: list[str] = []
        at = leaf
        while at is not None:
            parent, key, *_ = commits[at]
            keys += [key] if key else []
            at = parent
        assert len(keys) == len(set(keys)), "at most one commit per key on any line"
    for sha256, size in db.execute("SELECT sha256, size FROM checkpoints"):
        content = (workspace / "checkpoints" / f"{sha256}.blend").read_bytes()
        assert (hashlib.sha256(content).hexdigest(), len(content)) == (sha256, size), "a row only for a matching file"
    moves = list(db.execute("SELECT from_commit, to_commit FROM head_moves ORDER BY id"))
    at = None
    for origin, target in moves:
        assert origin == at and target in commits, "HEAD moves without jumps, and only to commits"
        at = target
    assert (at is None) == (not commits)
    assert db.execute("PRAGMA integrity_check").get == "ok"
    assert not list(db.execute("PRAGMA foreign_key_check"))
    db.close()
    view = JournalView(workspace)
    assert view.audit.verify().problems == ()
    view.close()
