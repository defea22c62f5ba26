"""A copy of a workspace's journal that can be worked on and thrown away. The original is only read, and needs no lock.

It holds what one request can ask for and no more, so that making it takes as long after a hundred thousand commits as after a hundred:
HEAD and what its scene is rebuilt from, and everything that was done under the request's id.
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

# Few rows however long a journal is: people make them, or rollbacks and quarantines do.
_WHOLE = ("lines", "approvals", "quarantines", "tags", "branch_moves")
_REQUESTED = "SELECT min(number) FROM commits WHERE request_id = ?"


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
    """`target` becomes a workspace that a plan with this request id can be run in, as things are committed at one moment.
    `at` is a commit whose scene can be had in it as well.

    Raises JournalError where only the checkpoints whose ids are in `without` lead to the scene."""
    with translate_errors(f"copying the journal of {store.directory}"), contextlib.ExitStack() as closing:
        target.mkdir(parents=True, exist_ok=True)
        # The stubs of apsw leave parts unknown. It stays without foreign keys: most of what rows refer to is left behind.
        connection: Any = apsw.Connection(str(target / FILE))
        closing.callback(connection.close)
        closing.enter_context(store.snapshot())
        connection.execute("BEGIN")
        connection.execute(schema.CREATE)
        copy = _Copy(store, connection)
        for table in _WHOLE:
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
    """Returns the files of the checkpoints that the copy needs."""
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
    # What follows HEAD where it was moved back: what the copy adds must not be taken for it.
    for line, generation in (position_of(store, number) for number in (head[0], *scenes)):
        copy.commits("line = ? AND generation = ?", [(line, generation + 1)])
    if boundary is not None:
        # A plan that is under way, or was cut off, is taken back in the copy, with a record for each of its commits.
        copy.commits("number > ?", [(base,)])
        copy.rows("audit", "sequence IN (SELECT audit_sequence FROM commits WHERE number > ?)", (base,))
    checkpoints = [route.checkpoint for route in routes if route.checkpoint is not None]
    for checkpoint in checkpoints:
        copy.commits("number = ?", [(checkpoint.commit,)])
        copy.rows("checkpoints", "id = ?", (checkpoint.id,))
    # What was done under the id, and everything since: it may have been taken back by another request.
    oldest = store.one(_REQUESTED, (request_id,))[0]
    if oldest is not None:
        copy.commits("number >= ?", [(oldest,)])
        copy.rows("rolled_back", "number >= ?", (oldest,))
    return {checkpoint.path for checkpoint in checkpoints}


class _Copy:
    """Rows from one journal to another."""

    def __init__(self, store: Store, connection: Any) -> None:
        self._store = store
        self._connection = connection

    def rows(self, table: str, condition: str = "1", bindings: Row = ()) -> None:
        self._insert(table, self._store.rows(f"SELECT * FROM {table} WHERE {condition}", bindings))

    def commits(self, condition: str, many: Iterable[Row] = ((),)) -> None:
        for bindings in many:
            self.rows("commits", condition, bindings)

    def _insert(self, table: str, rows: Iterable[Row]) -> None:
        found = list(rows)
        if found:
            places = ", ".join("?" * len(found[0]))
            self._connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({places})", found)


def _link(checkpoint: Path, directory: Path) -> None:
    """Checkpoints are never written again under their names: a second name for the same file is a copy."""
    directory.mkdir(exist_ok=True)
    try:
        try:
            os.link(checkpoint, directory / checkpoint.name)
        except FileNotFoundError:
            raise
        except OSError:
            # Not every file system has links.
            shutil.copyfile(checkpoint, directory / checkpoint.name)
    except FileNotFoundError as error:
        message = f"the checkpoint {checkpoint.name} was removed while the journal was copied"
        raise EnvironmentUnfit(message, cure="Try again.") from error
