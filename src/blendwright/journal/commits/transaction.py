"""An atomic transaction for many operations: commits, receipts, audit records, checkpoint rows, intents and HEAD.

This is the only commit point, so it enforces the promises of the journal: one commit per key and line, scene hashes
that join, and a checkpoint with every commit that cannot be replayed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from blendwright.journal import recovery
from blendwright.journal.audit.log import AuditAppender
from blendwright.journal.checkpoints.files import CheckpointFiles
from blendwright.journal.lines.ancestry import Ancestry, head_row
from blendwright.journal.store import Row, Store, as_json, utc_now
from blendwright.records.checkpoints import StagedCheckpoint
from blendwright.records.commits import CommitResult, Entry, NewAudit, NewCommit, NewReading
from blendwright.util import crash_points
from blendwright.values.errors import JournalError

# The number of the next commit, and whether the journal is in one of the two states that forbid commits.
_NEXT = "(SELECT coalesce(max(number), 0) + 1 FROM commits)"
_STATE = f"SELECT {_NEXT}, {recovery.IS_QUARANTINED}, {recovery.IS_INTERRUPTED}"
_COMMIT = f"INSERT INTO commits VALUES ({', '.join('?' * 18)})"
_READING = f"INSERT INTO readings VALUES (NULL, {', '.join('?' * 11)})"
_CHECKPOINT = "INSERT INTO checkpoints VALUES (NULL, ?, ?, ?, ?, ?, ?)"
_MOVE = "INSERT INTO head_moves VALUES (NULL, ?, ?, ?, ?, ?)"


def write(
    store: Store,
    ancestry: Ancestry,
    files: CheckpointFiles,
    entries: Sequence[Entry],
    *,
    keeps_boundary: int | None,
    recovering: bool,
) -> CommitResult:
    with store.transaction("commit"):
        next_number, is_quarantined, is_interrupted = store.one(_STATE, (store.fence,))
        if is_quarantined and not recovering:
            recovery.require_no_quarantine(store)
        if is_interrupted:
            recovery.require_no_interrupted_plan(store)
        transaction = _CommitTransaction(store, ancestry, files, next_number)
        for entry in entries:
            transaction.add(entry)
        if keeps_boundary is not None:
            recovery.end_boundary(store, keeps_boundary, "kept")
        written = transaction.flush()
    transaction.advance()
    return written


def insert_checkpoint(store: Store, number: int, staged: StagedCheckpoint, now: str) -> int:
    return store.insert(_CHECKPOINT, (number, staged.scene_hash, staged.sha256, staged.size, store.fence, now))


def insert_move(store: Store, kind: str, from_commit: int | None, to_commit: int, now: str) -> int:
    return store.insert(_MOVE, (kind, from_commit, to_commit, store.fence, now))


class _CommitTransaction:
    """A collector of rows.

    It checks each entry against the journal and against the earlier entries of the transaction.
    """

    def __init__(self, store: Store, ancestry: Ancestry, files: CheckpointFiles, next_number: int) -> None:
        self._store = store
        self._ancestry = ancestry
        self._files = files
        self._now = utc_now()
        self._audit = AuditAppender(store, self._now)
        self._head = head_row(store)
        self._next = next_number
        # HEAD before the transaction; a baseline has no commit below it.
        self._start = self._head or (None, None, -1, None)
        self._line, self._generation, self._forks = self._continuation()
        self._keys: set[str] = set()
        self._commits: list[Row] = []
        self._readings: list[Row] = []
        self._checkpoints: list[tuple[int, StagedCheckpoint]] = []
        self._adopted_at = -1
        self._results: list[tuple[int | None, Mapping[str, Any] | None]] = []

    def _continuation(self) -> tuple[int, int, bool]:
        """Return the line and generation of the next commit, and whether the line is new."""
        if self._head is None:
            return 1, 0, True
        _, line, generation, _ = self._head
        occupied = "SELECT 1 FROM commits WHERE line = ? AND generation = ?"
        if self._store.row(occupied, (line, generation + 1)) is None:
            return line, generation + 1, False
        return self._store.one("SELECT max(id) + 1 FROM lines")[0], generation + 1, True

    def add(self, entry: Entry) -> None:
        match entry:
            case NewCommit():
                self._add_commit(entry)
            case NewReading():
                scene = entry.scene_hash
                fields = (entry.operation_key, entry.tool_version, self._now)
                self._readings.append(self._record(entry, scene, scene, (scene,), fields))
            case NewAudit():
                self._audit.append(entry, entry.status, entry.hash_before, entry.hash_after)
                self._results.append((None, None))
        if not isinstance(entry, NewReading) and entry.settles is not None:
            recovery.settle_intent(self._store, entry.settles)

    def _add_commit(self, new: NewCommit) -> None:
        self._check(new)
        number = self._next
        if self._head:
            parent = self._head[0]
        else:
            parent = None
        scene = (new.hash_before, new.hash_after, new.replayable)
        fields = (
            number,
            parent,
            new.kind,
            new.operation_key,
            new.tool_version,
            int(new.replayable),
            self._now,
            self._generation,
        )
        columns = self._record(new, new.hash_before, new.hash_after, scene, fields, number)
        self._commits.append((number, parent, new.kind, *columns, self._line, self._generation))
        if new.checkpoint is not None:
            self._checkpoints.append((number, new.checkpoint))
        if new.kind == "adopt":
            self._adopted_at = self._generation
        self._head = (number, self._line, self._generation, new.hash_after)
        self._next += 1
        self._generation += 1

    def _record(
        self, new: NewCommit | NewReading, before: str, after: str, scene: Row, fields: Row, number: int | None = None
    ) -> Row:
        """Append the audit record and the receipt of a commit or reading, and return the columns that both tables
        share.

        `scene` has the columns about the scene, which go between the shared ones. `fields` are the other columns that
        the hash of the row covers.
        """
        journal_fields: dict[str, Any] = {}
        if number is not None:
            journal_fields["commit"] = number
        conflicts = (journal_fields.keys() | {"audit"}) & new.receipt.keys()
        if conflicts:
            raise JournalError(f"a receipt must not contain {', '.join(sorted(conflicts))}: the journal adds it")
        receipt = {**new.receipt, **journal_fields}
        args, text = as_json("the arguments", new.args), as_json("the receipt", receipt)

        # The same computation as `entry_hash` and `without_record`, inlined because every operation runs it.
        hashed = hashlib.sha256(orjson.dumps(fields) + f"\n{args}\n{text}".encode()).hexdigest()
        audit = self._audit.append(new, "succeeded", before, after, hashed)
        ending = f'"audit":{{"hash":"{audit.hash}","sequence":{audit.sequence}}}}}'
        separator = ""
        if receipt:
            separator = ","
        text = f"{text[:-1]}{separator}{ending}"
        receipt["audit"] = {"sequence": audit.sequence, "hash": audit.hash}
        self._results.append((number, receipt))
        operation = (new.operation_key, new.request_id, new.operation_id, new.tool, new.tool_version)
        return (*operation, args, *scene, text, audit.sequence, self._store.fence, self._now)

    # ------------------------------------------------------------------ promises

    def _check(self, new: NewCommit) -> None:
        if (new.kind == "baseline") != (self._head is None):
            raise JournalError("the first commit of a workspace must be its baseline, and only that commit")
        if self._head is None:
            expected = new.hash_after
        else:
            expected = self._head[3]
        if new.hash_before != expected:
            raise JournalError(
                f"operation {new.operation_id} starts from scene {new.hash_before}, but HEAD is {expected}",
                details={"expected": expected, "found": new.hash_before},
            )
        if (new.kind == "operation") != (new.operation_key is not None):
            raise JournalError(f"{new.operation_id}: only an operation must have an operation key")
        if new.operation_key is not None:
            self._check_key(new.operation_key, new.operation_id)
        if new.checkpoint is not None:
            self._check_checkpoint(new, new.checkpoint)
        elif not new.replayable:
            raise JournalError(f"{new.operation_id} cannot be replayed, so it needs a checkpoint of its own")

    def _check_key(self, key: str, operation_id: str) -> None:
        done_before = key in self._keys
        if not done_before and self._start[0] is not None:
            same_key = list(self._store.rows("SELECT line, generation FROM commits WHERE operation_key = ?", (key,)))
            if same_key:
                ancestors = self._ancestry.of(self._start[0])
            else:
                ancestors = None
            done_before = ancestors is not None and any(
                ancestors.holds(line, generation) for line, generation in same_key
            )
        if done_before:
            raise JournalError(
                f"operation {operation_id} is already committed on this line", details={"operation_key": key}
            )
        self._keys.add(key)

    def _check_checkpoint(self, new: NewCommit, staged: StagedCheckpoint) -> None:
        if staged.scene_hash != new.hash_after:
            raise JournalError(
                f"the checkpoint of {new.operation_id} has another scene",
                details={"expected": new.hash_after, "found": staged.scene_hash},
            )
        self._files.require(staged)

    # ------------------------------------------------------------------ rows

    def flush(self) -> CommitResult:
        store = self._store
        self._audit.flush()
        crash_points.reach("commit.audit_written")
        start, line, generation, _ = self._start
        if self._forks and self._commits:
            store.change("INSERT INTO lines VALUES (?, ?, ?)", (self._line, line, generation))
        half = len(self._commits) // 2
        if half:
            store.change_many(_COMMIT, self._commits[:half])
            crash_points.reach("commit.half_of_commits")
        if self._commits:
            store.change_many(_COMMIT, self._commits[half:])
        if self._readings:
            store.change_many(_READING, self._readings)
        crash_points.reach("commit.commits_written")
        for number, staged in self._checkpoints:
            insert_checkpoint(store, number, staged, self._now)
        crash_points.reach("commit.checkpoints_written")
        if self._commits:
            insert_move(store, "commit", start, self._commits[-1][0], self._now)
        crash_points.reach("commit.head_moved")
        if self._head:
            head = self._head[0]
        else:
            head = None
        numbers = tuple(number for number, _ in self._results)
        receipts = tuple(receipt for _, receipt in self._results)
        return CommitResult(numbers, receipts, head, self._audit.head, self._audit.records)

    def advance(self) -> None:
        """Update the cached ancestors of HEAD. Call it after the transaction."""
        if self._commits and self._head is not None:
            number, line, generation, _ = self._head
            first = self._commits[0][-1]
            self._ancestry.advanced(self._start[0], number, line, first, generation, adopted_at=self._adopted_at)
