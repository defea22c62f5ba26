"""A temporary copy of a workspace's journal. Making it only reads the original and needs no lock.

The copy holds only what one request can need: HEAD, the rows to rebuild its scene, and everything done under the
request's id. Making it therefore takes the same time after a hundred thousand commits as after a hundred.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import apsw

from blendwright.journal import recovery, schema
from blendwright.journal.checkpoints.files import CheckpointFiles
from blendwright.journal.checkpoints.rebuild_routes import find
from blendwright.journal.lines.ancestry import Ancestry, head_row, position_of
from blendwright.journal.store import FILE, Row, Store, translate_errors
from blendwright.values.errors import EnvironmentUnfit

# Tables that the copy takes completely. They stay short in a long journal, because people, rollbacks and quarantines make their rows.
_COMPLETE_TABLES = ("lines", "approvals", "quarantines", "tags", "branch_moves")
_FIRST_OF_REQUEST = "SELECT min(number) FROM commits WHERE request_id = ?"


def has_journal(workspace: Path) -> bool:
    return (workspace / FILE).is_file()


def copy_for_request(
    store: Store,
    ancestry: Ancestry,
    files: CheckpointFiles,
    target: Path,
    request_id: str,
    without: Collection[int] = (),
    at: int | None = None,
) -> None:
    """Make `target` a workspace in which a plan with this request id can run, with the committed state of one moment.

    `at` is a commit whose scene the copy can also rebuild. Raise JournalError when only the checkpoints whose ids are
    in `without` lead to the scene.
    """
    with translate_errors(f"copying the journal of {store.directory}"), contextlib.ExitStack() as closing:
        target.mkdir(parents=True, exist_ok=True)
        # The type stubs of apsw leave parts unknown. Foreign keys stay off, because the copy leaves out most referenced rows.
        connection: Any = apsw.Connection(str(target / FILE))
        closing.callback(connection.close)
        closing.enter_context(store.snapshot())
        connection.execute("BEGIN")
        connection.execute(schema.CREATE)
        copy = _Copy(store, connection)
        for table in _COMPLETE_TABLES:
            copy.rows(table)
        copy.rows("state")
        copy.rows("audit", "sequence = (SELECT max(sequence) FROM audit)")
        copy.rows("head_moves", "id = (SELECT max(id) FROM head_moves)")
        copy.rows("intents", "state IN ('open', 'indeterminate')")
        copy.rows("boundaries", "state = 'open'")
        copy.rows("readings", "request_id = ?", (request_id,))
        checkpoints = _copy_commits(copy, store, ancestry, files, request_id, without, at)
        connection.execute("COMMIT")
        for checkpoint in checkpoints:
            _link(checkpoint, CheckpointFiles(target).directory)


def _copy_commits(
    copy: _Copy,
    store: Store,
    ancestry: Ancestry,
    files: CheckpointFiles,
    request_id: str,
    without: Collection[int],
    at: int | None,
) -> set[Path]:
    """Copy the commits and checkpoint rows that the request needs, and return the files of these checkpoints."""
    head = head_row(store)
    if head is None:
        return set()
    boundary = recovery.open_boundary(store)
    if boundary is None:
        base = head[0]
    else:
        base = boundary.base
    if at is None:
        scenes = [base]
    else:
        scenes = [base, at]
    routes = [find(store, ancestry, files, number, without) for number in scenes]
    copy.commits("kind = 'baseline'")
    copy.commits("kind = 'adopt'")
    copy.commits("number = ?", [(commit.number,) for route in routes for commit in route.redo])
    copy.commits("number = ?", [(head[0],), *((number,) for number in scenes)])
    # The commits that follow HEAD and the scenes after an undo: a new commit in the copy must not be mistaken for one of them.
    for line, generation in (position_of(store, number) for number in (head[0], *scenes)):
        copy.commits("line = ? AND generation = ?", [(line, generation + 1)])
    if boundary is not None:
        # The copy rolls back an interrupted plan, which adds a record for each of its commits.
        copy.commits("number > ?", [(base,)])
        copy.rows("audit", "sequence IN (SELECT audit_sequence FROM commits WHERE number > ?)", (base,))
    checkpoints = [route.checkpoint for route in routes if route.checkpoint is not None]
    for checkpoint in checkpoints:
        copy.commits("number = ?", [(checkpoint.commit,)])
        copy.rows("checkpoints", "id = ?", (checkpoint.id,))
    # Everything done under the id, and everything since, because a later request may have cancelled it.
    oldest = store.one(_FIRST_OF_REQUEST, (request_id,))[0]
    if oldest is not None:
        copy.commits("number >= ?", [(oldest,)])
        copy.rows("rolled_back", "number >= ?", (oldest,))
    return {checkpoint.path for checkpoint in checkpoints}


class _Copy:
    """A copier of rows from one journal to another."""

    def __init__(self, store: Store, connection: Any) -> None:
        self._store = store
        self._connection = connection

    def rows(self, table: str, condition: str = "1", bindings: Row = ()) -> None:
        self._insert(table, self._store.rows(f"SELECT * FROM {table} WHERE {condition}", bindings))

    def commits(self, condition: str, many: Iterable[Row] = ((),)) -> None:
        for bindings in many:
            self.rows("commits", condition, bindings)

    def _insert(self, table: str, rows: Iterable[Row]) -> None:
        values = list(rows)
        if values:
            placeholders = ", ".join("?" * len(values[0]))
            self._connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({placeholders})", values)


def _link(checkpoint: Path, directory: Path) -> None:
    """Give the checkpoint a second name in the directory.

    That equals a copy, because no one writes to a checkpoint again.
    """
    directory.mkdir(exist_ok=True)
    try:
        try:
            os.link(checkpoint, directory / checkpoint.name)
        except FileNotFoundError:
            raise
        except OSError:
            # Some file systems have no hard links.
            shutil.copyfile(checkpoint, directory / checkpoint.name)
    except FileNotFoundError as error:
        message = f"the checkpoint {checkpoint.name} was removed while the journal was copied"
        raise EnvironmentUnfit(message, cure="Try again.") from error
