"""Rows of journal.db as the frozen values of the port."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from blendwright.records.checkpoints import Checkpoint
from blendwright.records.commits import Commit, HeadMove, Reading
from blendwright.records.operation_lookup import MatchedCommit
from blendwright.records.recovery import Intent

COMMIT = (
    "number, parent, kind, operation_key, request_id, operation_id, tool, tool_version, args, hash_before, hash_after,"
    " replayable, receipt, audit_sequence, fence, timestamp, line, generation"
)
DONE = "number, operation_key, operation_id, tool, tool_version, receipt, line, generation"
READING = "operation_key, request_id, operation_id, tool, tool_version, scene_hash, receipt, audit_sequence"
CHECKPOINT = "c.id, c.number, k.generation, c.scene_hash, c.sha256, c.size, c.timestamp"
INTENT = "id, operation_key, request_id, operation_id, tool, effect, state, timestamp, note"
MOVE = "id, kind, from_commit, to_commit, timestamp"


_ARGS, _REPLAYABLE, _RECEIPT = map(Commit._fields.index, ("args", "replayable", "receipt"))


def commit_of(row: tuple[Any, ...]) -> Commit:
    """The columns of COMMIT are the fields of a commit, in their order."""
    values = [*row]
    values[_ARGS] = orjson.loads(values[_ARGS])
    values[_REPLAYABLE] = bool(values[_REPLAYABLE])
    values[_RECEIPT] = orjson.loads(values[_RECEIPT])
    return Commit._make(values)


def done_of(row: tuple[Any, ...]) -> MatchedCommit:
    number, key, operation, tool, version, receipt, line, generation = row
    return MatchedCommit(number, key, operation, tool, version, orjson.loads(receipt), line, generation)


def reading_of(row: tuple[Any, ...]) -> Reading:
    key, request, operation, tool, version, scene_hash, receipt, sequence = row
    return Reading(key, request, operation, tool, version, scene_hash, orjson.loads(receipt), sequence)


def checkpoint_of(row: tuple[Any, ...], directory: Path) -> Checkpoint:
    id, number, generation, scene_hash, sha256, size, timestamp = row
    return Checkpoint(id, number, generation, scene_hash, sha256, size, directory / file_name(sha256), timestamp)


def intent_of(row: tuple[Any, ...]) -> Intent:
    return Intent(*row)


def move_of(row: tuple[Any, ...]) -> HeadMove:
    return HeadMove(*row)


def file_name(sha256: str) -> str:
    """Content-addressed: the name says what must be in the file."""
    return f"{sha256}.blend"
